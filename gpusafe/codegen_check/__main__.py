"""``python -m gpusafe.codegen_check setup``: build ``core`` for nvptx64; ``status``: what is there."""

from __future__ import annotations

import sys

from gpusafe.codegen_check import toolchain
from gpusafe.codegen_check.core_library import SetupError, setup_core


def main(arguments: list[str]) -> int:
    """0 when the stage can run, 1 when something is missing, 2 for a wrong command."""
    if arguments not in (["setup"], ["status"]):
        print("usage: python -m gpusafe.codegen_check setup|status", file=sys.stderr)
        return 2
    if arguments == ["setup"]:
        tools = toolchain.find()
        if tools.rustc is not None:
            try:
                setup_core(tools.rustc, progress=lambda text: print(text, file=sys.stderr))
            except SetupError as error:
                print(f"error: {error}", file=sys.stderr)
                return 1
    rows = toolchain.diagnose()
    for row in rows:
        print(f"{row.name:18} {row.detail if row.found else 'missing: ' + row.detail}")
        if row.help and not row.found:
            print(f"{'':18} help: {row.help}")
    return 0 if all(row.found for row in rows if row.name != "ptxas") else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
