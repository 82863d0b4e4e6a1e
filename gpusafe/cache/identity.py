"""What decides verdicts besides the unit: gpusafe's own text, the solver, the interpreter."""

from __future__ import annotations

import hashlib
import os
import sys
from functools import cache
from importlib import metadata
from pathlib import Path

_SOLVER = "z3-solver"


@cache
def identity() -> bytes:
    """A hash of every source file of gpusafe, of the solver's version and of Python's."""
    digest = hashlib.sha256()
    for part in (sys.version, sys.platform, _version(_SOLVER)):
        _add(digest, part.encode())
    top = Path(__file__).resolve().parents[1]
    for folder, folders, names in os.walk(top):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in sorted(names):
            if name.endswith((".py", ".toml", ".json")):
                file = Path(folder, name)
                _add(digest, str(file.relative_to(top)).encode())
                _add(digest, file.read_bytes())
    return digest.digest()


def _add(digest: hashlib._Hash, data: bytes) -> None:
    digest.update(len(data).to_bytes(8, "big"))
    digest.update(data)


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "none"
