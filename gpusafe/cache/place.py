"""Where caches lie."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path


def cache_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Where everything is kept: ``$XDG_CACHE_HOME/gpusafe``, else ``~/.cache/gpusafe``."""
    base = environ.get("XDG_CACHE_HOME") or os.path.join(environ.get("HOME") or os.path.expanduser("~"), ".cache")
    return Path(base) / "gpusafe"


def folder_of(asked: str | None, off: bool = False, environ: Mapping[str, str] = os.environ) -> Path | None:
    """Where verdicts are kept: ``asked``, else ``$GPUSAFE_CACHE_DIR`` (empty: nowhere), else the usual place.

    None where no verdict shall be kept. No settings file decides this: a program that is checked must not choose where
    gpusafe writes, nor bring verdicts of its own.
    """
    if off:
        return None
    if asked is not None:
        return Path(asked)
    named = environ.get("GPUSAFE_CACHE_DIR")
    if named is not None:
        return Path(named) if named else None
    return cache_folder(environ)
