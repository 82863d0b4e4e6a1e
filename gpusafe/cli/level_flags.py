"""``-A``, ``-W``, ``-D`` and ``-F``: lint levels as rustc spells them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from gpusafe.config import Lint

_LEVELS = {
    "allow": "do not tell findings of RULE (a code, a name, a prefix such as GS1, `all` or `warnings`)",
    "warn": "tell them as warnings",
    "deny": "exit with 1 where there are any",
    "forbid": "as deny, and no directive or later level may accept them",
}


class _Append(argparse.Action):
    """Appends to the levels in the order of the command line, whichever flag they come from."""

    def __call__(
        self, parser: argparse.ArgumentParser, space: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        words: Sequence[str] = str(values).split(",")
        so_far = getattr(space, "lints", ())
        flag = f"-{self.level[0].upper()}"
        space.lints = (*so_far, *(Lint(word, self.level, flag) for word in words if word))

    def __init__(self, *args: Any, level: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.level = level


def add_levels(parser: argparse.ArgumentParser) -> None:
    """The four flags, each of which may be given several times."""
    group = parser.add_argument_group("levels, as in rustc; the last one about a rule counts")
    for level, about in _LEVELS.items():
        flags = (f"-{level[0].upper()}", f"--{level}")
        group.add_argument(
            *flags, action=_Append, level=level, dest="lints", metavar="RULE", default=argparse.SUPPRESS, help=about
        )
