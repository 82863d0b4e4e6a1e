"""How text is laid out: colour and width."""

from __future__ import annotations

from dataclasses import dataclass

_CODES = {
    "error": "1;31",
    "warning": "1;33",
    "note": "1;36",
    "help": "1;36",
    "frame": "1;34",
    "secondary": "1;34",
    "bold": "1",
    "proved": "32",
    "refuted": "1;31",
    "unknown": "1;33",
    "dim": "2",
}


@dataclass(frozen=True, slots=True)
class Style:
    """``width`` in columns; ``color``: whether :meth:`paint` writes terminal codes."""

    color: bool = False
    width: int = 160

    def paint(self, role: str, text: str) -> str:
        """``text`` in the colour of its role (``error``, ``frame``, ``proved``...)."""
        return f"\x1b[{_CODES[role]}m{text}\x1b[0m" if self.color and text else text
