"""Output formats: ``render(report, options)`` gives the text to write.

A new format is one module with a ``render(report, options, style)`` function and one line in ``_FORMATS`` (and in the
choices of ``Options.format``).
"""

from __future__ import annotations

from importlib import import_module

from gpusafe.config import Options
from gpusafe.report.style import Style
from gpusafe.results import Report

__all__ = ["Style", "render"]

_FORMATS = {
    "text": "gpusafe.report.text",
    "short": "gpusafe.report.short",
    "json": "gpusafe.report.json_report",
    "sarif": "gpusafe.report.sarif",
    "rustc-json": "gpusafe.report.rustc_json",
    "github": "gpusafe.report.github",
    "gitlab": "gpusafe.report.gitlab",
    "junit": "gpusafe.report.junit",
    "markdown": "gpusafe.report.markdown",
}


def render(report: Report, options: Options, *, color: bool = False, width: int = 160) -> str:
    """The report in ``options.format``, with a final newline; ``width`` in columns."""
    module = import_module(_FORMATS[options.format])
    text: str = module.render(report, options, Style(color, width))
    return text
