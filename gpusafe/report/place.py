"""Paths as services expect them: with forward slashes, from the top of the repository."""

from __future__ import annotations

import os


def from_top(path: str, top: str | None = None) -> str:
    """``path`` from ``top`` (default: the working folder); absolute where it lies elsewhere."""
    at = os.path.relpath(path, top or os.curdir)
    return (os.path.abspath(path) if at.startswith("..") else at).replace(os.sep, "/")
