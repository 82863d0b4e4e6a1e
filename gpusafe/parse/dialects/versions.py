"""Version ranges: reading them, and which GPU crates are in a version that nothing here was checked against."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gpusafe.parse.dialects.extension_model import ApiTable
from gpusafe.parse.workspace_model import Workspace

_PART = re.compile(r"^(>=|<=|>|<|=)?\s*(\d+(?:\.\d+){0,2})$")
_NUMBER = re.compile(r"\d+")

CHECKED = {
    "cudarc": ">=0.9, <0.20",
    "cust": ">=0.2, <0.4",
    "rustacuda": ">=0.1, <0.2",
    "cuda_std": ">=0.2, <0.4",
    "cuda_core": ">=0.1, <0.4",
    "cuda_device": ">=0.1, <0.4",
}
"""The versions that the built-in tables were written for (cudarc: driver/safe of 0.9 to 0.19; the others likewise)."""


def parse_range(text: str) -> tuple[tuple[str, tuple[int, ...]], ...] | None:
    """``>=0.14, <0.20`` as comparisons; None when it is not of that form. An empty text is every version."""
    found = []
    for part in filter(None, (p.strip() for p in text.split(","))):
        match = _PART.match(part)
        if match is None:
            return None
        found.append((match[1] or "=", tuple(int(n) for n in match[2].split("."))))
    return tuple(found)


def covers(text: str, version: tuple[int, ...]) -> bool:
    """Whether a range holds a version; ``=0.14`` holds all of 0.14."""
    full = (*version, 0, 0, 0)[:3]
    for sign, wanted in parse_range(text) or ():
        same = full[: len(wanted)]
        holds = {
            "=": same == wanted,
            "<=": same <= wanted,
            ">": same > wanted,
            ">=": full >= wanted,
            "<": full < wanted,
        }
        if not holds[sign]:
            return False
    return True


def uncovered(workspace: Workspace, tables: Sequence[ApiTable] = ()) -> Iterator[str]:
    """A notice for each GPU crate in a version that no table covers, with the manifests that ask for it."""
    ranges: dict[str, list[str]] = {name: [text] for name, text in CHECKED.items()}
    for table in tables:
        ranges.setdefault(table.crate, []).append(table.versions)
    users: dict[tuple[str, str], dict[str, None]] = {}
    for crate in workspace.crates:
        for name, text in crate.dependencies.items():
            version = tuple(int(n) for n in _NUMBER.findall(text)[:3])
            if version and name in ranges and not any(covers(r, version) for r in ranges[name]):
                users.setdefault((name, text), {}).setdefault(crate.manifest or crate.root)
    for (name, text), places in sorted(users.items()):
        first, *others = places
        more = f" and {len(others)} more" if others else ""
        known = "; ".join(dict.fromkeys(ranges[name]))
        yield f"{first}{more}: no table covers {name} {text} (known: {known}); it is read as the nearest known version"
