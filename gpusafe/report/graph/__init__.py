"""Pictures of launch graphs: ``of_program`` makes them, ``draw`` writes them as text, DOT, Mermaid or one HTML page.

A new way of drawing is one module with a ``render(pictures, sources, style)`` function and one line in ``_FORMATS``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module

from gpusafe.report.graph.choose import of_program
from gpusafe.report.graph.model import Picture
from gpusafe.report.style import Style

__all__ = ["FORMATS", "Picture", "draw", "of_program"]

_FORMATS = {
    "text": "gpusafe.report.graph.terminal",
    "dot": "gpusafe.report.graph.dot",
    "mermaid": "gpusafe.report.graph.mermaid",
    "html": "gpusafe.report.graph.html",
}
FORMATS = tuple(_FORMATS)


def draw(
    pictures: Sequence[Picture], format: str, sources: Mapping[str, str], *, color: bool = False, width: int = 160
) -> str:
    """The pictures in one of ``FORMATS``, with a final newline; ``sources`` has the text of the files they name."""
    text: str = import_module(_FORMATS[format]).render(pictures, sources, Style(color, width))
    return text
