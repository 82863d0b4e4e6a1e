"""A wrong command line, told as rustc and cargo do: one error, what was probably meant, and where the help is."""

from __future__ import annotations

import argparse
import re
import sys
from typing import NoReturn

_CHOICE = re.compile(r"invalid choice: '(?P<given>[^']*)' \(choose from (?P<known>.*)\)")
_UNKNOWN = re.compile(r"unrecognized arguments: (?P<given>\S+)")


class Parser(argparse.ArgumentParser):
    """The parser of the program and of its commands."""

    def error(self, message: str) -> NoReturn:
        """Tell what is wrong and exit with status 2."""
        near = self._near(message)
        hint = f"; did you mean `{near}`?" if near else ""
        print(f"error: {message}{hint}\nhelp: `{self.prog} --help` lists what there is", file=sys.stderr)
        raise SystemExit(2)

    def _near(self, message: str) -> str | None:
        from difflib import get_close_matches

        if choice := _CHOICE.search(message):
            given, known = choice["given"], re.findall(r"[^\s,']+", choice["known"])
        elif unknown := _UNKNOWN.search(message):
            given, known = unknown["given"].partition("=")[0], list(self._flags())
        else:
            return None
        return next(iter(get_close_matches(given, known, 1, 0.6)), None)

    def _flags(self) -> set[str]:
        """All flags of this parser and of the commands below it."""
        found = set(self._option_string_actions)
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):
                found |= {flag for parser in action.choices.values() for flag in parser._option_string_actions}
        return found
