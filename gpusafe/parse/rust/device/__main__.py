"""``python -m gpusafe.parse.rust.device FILE...``: the IR of the kernels in Rust files, or of all under a folder."""

from __future__ import annotations

import sys
from pathlib import Path

from gpusafe.ir.dump import dump
from gpusafe.parse.rust.device import lower_kernels
from gpusafe.parse.workspace import load


def main(arguments: list[str]) -> int:
    """Print the IR; give a name after ``-k`` to see one kernel only."""
    only = arguments[arguments.index("-k") + 1] if "-k" in arguments else None
    paths = [Path(a) for a in arguments if a != "-k" and a != only]
    made = lower_kernels(load(paths))
    for kernel in made.kernels:
        if only is None or kernel.name == only:
            print(dump(kernel), end="\n\n")
    for problem in made.problems:
        print(f"{problem.span}: {problem.kernel}: {problem.what}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
