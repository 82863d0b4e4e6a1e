"""``gpusafe baseline``: record the findings of today, so that only new ones count."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from gpusafe.cli.analysis import baseline_file, fresh
from gpusafe.cli.check import prepared, write
from gpusafe.cli.exit_codes import CLEAN, USAGE
from gpusafe.config import Options
from gpusafe.errors import UsageError
from gpusafe.report import baseline
from gpusafe.report.baseline import Baseline


def run(action: str, paths: tuple[str, ...], given: Mapping[str, Any], config: str | None) -> int:
    """Create, update, prune or show a baseline; returns the exit status."""
    options, missing = prepared(paths, given, config)
    if missing:
        print(f"error: no such file or folder: {', '.join(missing)}", file=sys.stderr)
        return USAGE
    if action == "create":
        file = Path(options.baseline) if options.baseline else _default(options)
        if file.exists():
            raise UsageError(f"{file} is there already; `gpusafe baseline update` brings it up to date")
        return _record(options, file, "recorded")
    if action == "update" and options.baseline and not Path(options.baseline).exists():
        return _record(options, Path(options.baseline), "recorded")
    held = baseline_file(options)
    if held is None:
        raise UsageError("there is no gpusafe-baseline.json at or above this path; `gpusafe baseline create` makes one")
    match action:
        case "update":
            return _record(options, held, "now holds")
        case "prune":
            return _prune(options, held)
        case _:
            return _show(baseline.load(held))


def _default(options: Options) -> Path:
    first = Path(options.paths[0])
    return (first if first.is_dir() else first.parent) / baseline.NAME


def _everything(options: Options) -> Options:
    """The options of a run whose findings are all those that any selection of rules could report."""
    return replace(options, select=("all",), ignore=(), lints=(), per_path=())


def _record(options: Options, file: Path, verb: str) -> int:
    folder = file.resolve().parent
    now = baseline.of_report(fresh(_everything(options)), str(file), folder)
    write(baseline.dumps(now), str(file))
    print(f"{file}: {verb} {_counted(now)}")
    return CLEAN


def _prune(options: Options, file: Path) -> int:
    before = baseline.load(file)
    after = baseline.pruned(before, fresh(_everything(options)))
    write(baseline.dumps(after), str(file))
    print(f"{before.where}: {len(before.entries) - len(after.entries)} gone, {_counted(after)} left")
    return CLEAN


def _show(held: Baseline) -> int:
    for entry in held.entries:
        print(f"{entry.file}: {entry.rule} in `{entry.unit}`: {entry.message}")
    print(f"{held.where}: {_counted(held)}")
    return CLEAN


def _counted(held: Baseline) -> str:
    rules = Counter(entry.rule for entry in held.entries)
    kinds = ", ".join(f"{count} {rule}" for rule, count in sorted(rules.items()))
    number = len(held.entries)
    return f"{number} finding{'' if number == 1 else 's'}" + (f" ({kinds})" if kinds else "")
