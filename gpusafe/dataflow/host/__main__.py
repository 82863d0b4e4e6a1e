"""Prints the host paths of files or folders readably: ``python -m gpusafe.dataflow.host FILE...``."""

from __future__ import annotations

import sys
from pathlib import Path

from gpusafe.dataflow.host.execute import execute_units
from gpusafe.dataflow.host.printing import text_of
from gpusafe.dataflow.host.program import SourceUnit
from gpusafe.parse.rust.build import parse_file


def main(arguments: list[str]) -> int:
    """Prints to standard output; always 0."""
    strict = "--strict" in arguments
    names = [a for a in arguments if not a.startswith("--")]
    units: list[SourceUnit] = []
    kernels: list[object] = []
    for name in names:
        path = Path(name)
        for file in sorted(path.rglob("*.rs")) if path.is_dir() else [path]:
            units.append(SourceUnit(parse_file(str(file), file.read_text("utf-8", "replace"))))
    del kernels
    program = execute_units(units, _kernels(names), strict)
    print(text_of(program))
    return 0


def _kernels(names: list[str]) -> tuple:  # type: ignore[type-arg]
    return ()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
