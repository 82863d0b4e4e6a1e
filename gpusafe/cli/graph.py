"""``gpusafe graph``."""

from __future__ import annotations

from gpusafe.cli.check import prepared, terminal_width, use_color, write
from gpusafe.cli.progress import progress
from gpusafe.errors import UsageError


def run(
    paths: tuple[str, ...], format: str, function: str | None, output: str | None, color: str, config: str | None
) -> int:
    """Draw the launch graphs of the host functions in ``paths``."""
    options, missing = prepared(paths, {}, config)
    if missing:
        raise UsageError(f"no such file or folder: {', '.join(missing)}")

    from gpusafe.app import graph
    from gpusafe.report.graph import draw

    with progress(options) as step:
        pictures, sources = graph(options, function, step)
    if function is not None and not pictures:
        raise UsageError(f"no GPU work leads through a function `{function}`")
    write(draw(pictures, format, sources, color=use_color(color, output), width=terminal_width()), output)
    return 0
