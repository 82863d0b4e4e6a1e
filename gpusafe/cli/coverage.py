"""``gpusafe coverage``."""

from __future__ import annotations

import os
from pathlib import Path

from gpusafe.cli.progress import progress
from gpusafe.cli.settings_file import load
from gpusafe.errors import UsageError


def run(paths: tuple[str, ...], format: str, config: str | None) -> int:
    """Print what of ``paths`` is recognised and resolved, and why the rest is not."""
    asked = paths or (".",)
    missing = [path for path in asked if not os.path.lexists(path)]
    if missing:
        raise UsageError(f"no such file or folder: {', '.join(missing)}")
    options = load(Path(asked[0]), {"paths": asked}, config).options

    from gpusafe.app import coverage
    from gpusafe.report.coverage import as_json, as_text

    with progress(options) as step:
        table = coverage(options, step)
    print(as_json(table) if format == "json" else as_text(table), end="")
    return 0
