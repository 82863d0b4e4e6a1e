"""Prints the host paths of files or folders readably: ``python -m gpusafe.dataflow.host FILE...``."""

from __future__ import annotations

import sys
from pathlib import Path

from gpusafe.dataflow.host.execute import execute_units
from gpusafe.dataflow.host.loading import units_of
from gpusafe.dataflow.host.printing import statistics_of, text_of
from gpusafe.ir.kernel import Kernel
from gpusafe.parse.cuda import lower_sources
from gpusafe.parse.workspace import load
from gpusafe.parse.workspace_model import Workspace


def main(arguments: list[str]) -> int:
    """Prints to standard output; ``--strict`` lets internal errors out, ``--gaps`` prints only the reasons of gaps."""
    names = [Path(a) for a in arguments if not a.startswith("--")]
    workspace = load(names)
    program = execute_units(units_of(workspace), _kernels(workspace), "--strict" in arguments)
    print(statistics_of(program) if "--gaps" in arguments else text_of(program))
    return 0


def _kernels(workspace: Workspace) -> tuple[Kernel, ...]:
    found = [kernel for _, module in lower_sources(workspace) for kernel in module.kernels]
    try:
        from gpusafe.parse.rust.device import lower_kernels
    except ImportError:
        return tuple(found)
    return (*found, *lower_kernels(workspace).kernels)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
