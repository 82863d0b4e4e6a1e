"""``gpusafe check``."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from gpusafe.cli.analysis import analysed
from gpusafe.cli.exit_codes import USAGE
from gpusafe.cli.settings_file import load
from gpusafe.cli.status import exit_status
from gpusafe.config import Options
from gpusafe.errors import UsageError


def run(paths: tuple[str, ...], given: Mapping[str, Any], config: str | None) -> int:
    """Check ``paths`` (default: the current folder) and write the report; returns the exit status."""
    options, missing = prepared(paths, given, config)
    if options.with_clippy:
        from gpusafe.cli.clippy import stream

        stream(Path(options.paths[0]), options.clippy_arguments)
    report = analysed(options)

    from gpusafe.report import render

    text = render(report, options, color=use_color(options.color, options.output), width=terminal_width())
    write(text, options.output)
    for format, file in options.also:
        write(render(report, replace(options, format=format)), file)
    for path in missing:
        print(f"error: no such file or folder: {path}", file=sys.stderr)
    return USAGE if missing else exit_status(report, options)


def prepared(paths: tuple[str, ...], given: Mapping[str, Any], config: str | None) -> tuple[Options, list[str]]:
    """The options in force, with the paths that exist, and the paths that do not.

    Raises UsageError when none exists or the configuration is wrong.
    """
    asked = paths or (".",)
    present = tuple(path for path in asked if os.path.lexists(path))
    missing = [path for path in asked if path not in present]
    if not present:
        raise UsageError(f"no such file or folder: {', '.join(missing)}")
    options = load(Path(present[0]), {**given, "paths": present}, config).options
    if options.select or options.ignore or options.lints or options.per_path:
        from gpusafe.rules import validate, validate_selection  # the catalogue is imported only where it is needed

        validate_selection((*options.select, *options.ignore))
        validate(options)
    return options, missing


def use_color(asked: str, output: str | None = None) -> bool:
    """``--color`` first, then NO_COLOR, FORCE_COLOR, CARGO_TERM_COLOR, then whether stdout is a terminal."""
    if asked != "auto":
        return asked == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if output is not None:
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    match os.environ.get("CARGO_TERM_COLOR"):
        case "always":
            return True
        case "never":
            return False
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def terminal_width() -> int:
    """Columns to lay the text out for; a wide page where stdout is no terminal."""
    if not sys.stdout.isatty():
        return 160
    import shutil

    return max(60, shutil.get_terminal_size().columns)


def write(text: str, output: str | None) -> None:
    """``text`` to a file, or to stdout for None or ``-``; raises UsageError when the file cannot be written."""
    if output is None or output == "-":
        stream = sys.stdout
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:  # source text holds what it holds; a narrow locale must not end the run
            reconfigure(errors="backslashreplace")
        stream.write(text)
        return
    try:
        Path(output).write_text(text, encoding="utf-8")
    except OSError as problem:
        raise UsageError(f"cannot write {output}: {problem.strerror}") from None
