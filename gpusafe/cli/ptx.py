"""``gpusafe ptx``: what the PTX of each kernel keeps, for each target; ``--setup`` makes what that needs."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gpusafe.cli.exit_codes import CLEAN, FINDINGS, USAGE
from gpusafe.cli.progress import progress
from gpusafe.cli.settings_file import load
from gpusafe.errors import UsageError


def run(paths: tuple[str, ...], given: Mapping[str, Any], format: str, config: str | None) -> int:
    """Print the table; 1 when the PTX of some kernel does less than its source asks, or is not accepted."""
    asked = paths or (".",)
    missing = [path for path in asked if not os.path.lexists(path)]
    if missing:
        raise UsageError(f"no such file or folder: {', '.join(missing)}")
    options = load(Path(asked[0]), {"paths": asked, **given, "ptx": "always"}, config).options

    from gpusafe.app import check
    from gpusafe.report.ptx_table import as_json, as_text

    with progress(options) as step:
        report = check(options, step)
    print(as_json(report) if format == "json" else as_text(report), end="")
    statuses = {status.status for unit in report.units for status in unit.ptx}
    return FINDINGS if statuses & {"weaker", "rejected"} else CLEAN


def set_up() -> int:
    """Build ``core`` and the stand-in crates, unless they are there; 2 when something is missing after that."""
    from gpusafe.codegen_check import toolchain
    from gpusafe.codegen_check.core_library import SetupError, setup_core
    from gpusafe.codegen_check.shim_library import shim_externs

    tools = toolchain.find()
    if tools.rustc is not None:
        try:
            sysroot = setup_core(tools.rustc, progress=lambda text: print(text, file=sys.stderr, flush=True))
            shim_externs(tools.rustc, sysroot)
        except SetupError as error:
            print(f"error: {error}", file=sys.stderr)
            return USAGE
    rows = toolchain.diagnose()
    for row in rows:
        print(f"{row.name:18} {row.detail if row.found else 'missing: ' + row.detail}")
        if row.help and not row.found:
            print(f"{'':18} help: {row.help}")
    return CLEAN if all(row.found for row in rows if row.name != "ptxas") else USAGE
