"""What other installed packages add, by the entry points of their metadata.

``gpusafe.rules`` names :class:`gpusafe.rules.PackageRule` objects, ``gpusafe.tables`` packages with ``[[api]]`` tables
(docs/extending.md).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any

RULES = "gpusafe.rules"
TABLES = "gpusafe.tables"


@cache
def declared(group: str) -> tuple[tuple[str, str], ...]:
    """The entry points of a group as (name, what it names), in order of the names.

    The files of the metadata are looked through before ``importlib.metadata`` is imported, which takes longer than all
    else that a run without GPU code does.
    """
    header = f"[{group}]".encode()
    if not any(header in text for text in _texts()):
        return ()
    from importlib.metadata import entry_points

    return tuple(sorted({(point.name, point.value) for point in entry_points(group=group)}))


def _texts() -> Iterator[bytes]:
    for folder in dict.fromkeys(sys.path):
        try:
            entries = [e.path for e in os.scandir(folder or ".") if e.name.endswith((".dist-info", ".egg-info"))]
        except OSError:
            continue
        for path in entries:
            try:
                with open(os.path.join(path, "entry_points.txt"), "rb") as file:
                    yield file.read()
            except OSError:
                continue


def load(value: str) -> Any:
    """The object that ``module:attribute`` (or ``module``) names; raises whatever its import raises."""
    module, _, attribute = value.partition(":")
    found: Any = import_module(module.strip())
    for part in filter(None, attribute.strip().split(".")):
        found = getattr(found, part)
    return found
