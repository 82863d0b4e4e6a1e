"""gpusafe from Python: what `gpusafe.check` and its neighbours do.

These names, their arguments and the fields of what they return are kept from one minor version to the next.
"""

from __future__ import annotations

import os
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from gpusafe.cli.analysis import analysed
from gpusafe.cli.settings_file import load
from gpusafe.cli.status import exit_status as _exit_status
from gpusafe.config import Options, from_table, settings
from gpusafe.errors import UsageError
from gpusafe.results import Report


def options(
    *paths: str | os.PathLike[str], config: str | os.PathLike[str] | None = None, use_config: bool = True, **given: Any
) -> Options:
    """The options of a run on ``paths`` (default: the current folder).

    Settings come from the nearest gpusafe.toml or Cargo.toml as on the command line, or from ``config``; with
    ``use_config=False`` from no file. ``given`` goes before them: a field of :class:`Options`, with values as a
    gpusafe.toml has them (``ignore=["GS106"]``, ``lints={"GS1": "deny"}``, ``ptx="never"``). Raises UsageError.
    """
    from gpusafe.rules import validate, validate_selection

    asked = tuple(os.fspath(path) for path in paths) or (".",)
    for path in asked:
        if not os.path.lexists(path):
            raise UsageError(f"no such file or folder: {path}")
    values = {"quiet": True, **_read(given), "paths": asked}
    if use_config:
        made = load(Path(asked[0]), values, None if config is None else os.fspath(config)).options
    else:
        made = replace(Options(), **values)
    validate_selection((*made.select, *made.ignore))
    validate(made)
    return made


def _read(given: dict[str, Any]) -> dict[str, Any]:
    """The values of the fields, those that a file may set read as a file's."""
    known = {field.name for field in fields(Options)} - {"paths", "api"}
    in_file = {option.name for option, setting in settings() if setting.in_file}
    values: dict[str, Any] = {}
    for name, value in given.items():
        if name not in known:
            raise UsageError(f"there is no option `{name}` (there are {', '.join(sorted(known))})")
        listed = list(value) if isinstance(value, tuple) else value
        values |= from_table({name.replace("_", "-"): listed}, "--") if name in in_file else {name: value}
    return values


def check(
    *paths: str | os.PathLike[str], config: str | os.PathLike[str] | None = None, use_config: bool = True, **given: Any
) -> Report:
    """Check ``paths`` and return the report, without what a baseline accepts; see :func:`options` for the arguments.

    Raises :class:`gpusafe.UsageError` for paths and options that there are not. What cannot be analysed raises nothing:
    it is unknown in the report.
    """
    return analysed(options(*paths, config=config, use_config=use_config, **given))


def render(report: Report, format: str = "text", *, color: bool = False, verbose: bool = False) -> str:
    """The report as the command line writes it with ``--format``; raises UsageError for a format that there is not."""
    from gpusafe.report import render as write

    values = from_table({"format": format}, "render")
    return write(report, replace(Options(), verbose=verbose, **values), color=color)


def exit_status(report: Report, *, fail_on: str = "error", strict: bool = False) -> int:
    """The exit status that the command line would end with: 0 clean, 1 findings, 3 incomplete under ``strict``."""
    values = from_table({"fail-on": fail_on, "strict": strict}, "exit_status")
    return _exit_status(report, replace(Options(), **values))
