"""cuda-oxide's machine-readable catalogue of device intrinsics, held against what the lowering knows.

A checkout has ``intrinsics/overlay/*.toml`` (reviewed operations: single ones with their Rust paths, families by
their variants) and ``intrinsics/abi-v1.toml`` (the ledger that gives each ``abi_id`` its name), as of cuda-oxide 0.2.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpusafe.errors import UsageError
from gpusafe.parse.dialects.device_pure import pure_result

OVERLAY = Path("intrinsics") / "overlay"
LEDGER = Path("intrinsics") / "abi-v1.toml"


@dataclass(frozen=True, slots=True)
class Intrinsic:
    """One operation of the catalogue: its name, the paths by which kernels call it, and the file that lists it."""

    name: str
    paths: tuple[str, ...]
    file: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """The catalogue split by whether a call is modelled; ``problems``: files that cannot be read."""

    known: tuple[Intrinsic, ...]
    missing: tuple[Intrinsic, ...]
    problems: tuple[str, ...] = ()


def compare(checkout: Path) -> Comparison:
    """Hold the catalogue of a checkout against the models; raises UsageError where there is no catalogue."""
    folder = checkout / OVERLAY
    if not folder.is_dir():
        raise UsageError(f"{checkout} has no {OVERLAY.as_posix()}: it is no checkout of cuda-oxide")
    problems: list[str] = []
    names = _ledger(checkout / LEDGER, problems)
    every: dict[str, Intrinsic] = {}
    for file in sorted(folder.glob("*.toml")):
        for intrinsic in _listed(_read(file, problems), file.name, names):
            every.setdefault(intrinsic.name, intrinsic)
    modelled = _modelled()
    known = tuple(i for i in every.values() if _is_known(i, modelled))
    missing = tuple(i for i in every.values() if not _is_known(i, modelled))
    return Comparison(known, missing, tuple(problems))


def _is_known(intrinsic: Intrinsic, modelled: frozenset[str]) -> bool:
    """Whether a model of its own or the table of pure functions has the operation."""
    names = {intrinsic.name, *(path.rpartition("::")[2] for path in intrinsic.paths)}
    return bool(names & modelled) or any(pure_result(("cuda_intrinsics", name)) is not None for name in names)


def _read(file: Path, problems: list[str]) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as problem:
        problems.append(f"{file.name}: {problem}")
        return {}


def _ledger(file: Path, problems: list[str]) -> dict[str, str]:
    """The names of the active entries by their ``abi_id``."""
    entries = _read(file, problems).get("entry", ())
    return {
        e["abi_id"]: e["catalog_id"]
        for e in entries
        if isinstance(e, dict) and "abi_id" in e and "catalog_id" in e and e.get("status") == "active"
    }


def _listed(document: dict[str, Any], file: str, names: dict[str, str]) -> Iterator[Intrinsic]:
    """The operations of one file: every table with an ``abi_id`` or a Rust path, at any depth."""
    todo: list[object] = [document]
    while todo:
        here = todo.pop()
        if isinstance(here, list):
            todo.extend(reversed(here))
        elif isinstance(here, dict):
            todo.extend(reversed(list(here.values())))
            paths = tuple(
                p
                for p in (here.get("public_rust_path"), *here.get("compatibility_rust_paths", ()))
                if isinstance(p, str)
            )
            name = here.get("rust_name") or here.get("id") or names.get(str(here.get("abi_id")))
            if isinstance(name, str) and (paths or "abi_id" in here):
                yield Intrinsic(name, paths, file)


def _modelled() -> frozenset[str]:
    """The names of all functions that the models of cuda-oxide's device API have."""
    from gpusafe.parse.rust.device.preludes import prelude

    found: set[str] = set()
    todo = [prelude("oxide")]
    while todo:
        module = todo.pop()
        found.update(module.values)
        todo.extend(module.children.values())
    return frozenset(found)
