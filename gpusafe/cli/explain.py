"""``gpusafe explain``."""

from __future__ import annotations

from gpusafe.cli.check import terminal_width, use_color
from gpusafe.report.explain import markdown
from gpusafe.rules import find


def run(rule: str, color: str) -> int:
    """Print the explanation of a rule; as rendered Markdown on a terminal, as plain Markdown elsewhere."""
    text = markdown(find(rule))
    if not use_color(color):
        print(text)
        return 0
    from rich.console import Console
    from rich.markdown import Markdown

    Console(width=min(terminal_width(), 110), force_terminal=True).print(Markdown(text))
    return 0
