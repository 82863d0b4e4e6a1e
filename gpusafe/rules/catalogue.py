"""The catalogue: found by its file names, each rule imported when it is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path

from gpusafe.errors import UsageError
from gpusafe.rules.package_rule import package_rules
from gpusafe.rules.rule import Rule

OFF = ("GS4",)
"""The families that are off unless selected (the rules say the same of themselves)."""

_FILES = "gs[0-9][0-9][0-9]_*.py"


@cache
def codes() -> dict[str, str]:
    """Code to name, in order of the codes, those of other packages last; imports no rule of gpusafe."""
    return {**_own(), **{code: found.rule.name for code, found in package_rules()[0].items()}}


@cache
def _own() -> dict[str, str]:
    stems = sorted(path.stem for path in Path(__file__).parent.glob(_FILES))
    return {stem[:5].upper(): stem[6:].replace("_", "-") for stem in stems}


class _Catalogue(Mapping[str, Rule]):
    """Code to rule; read only."""

    def __getitem__(self, code: str) -> Rule:
        name = _own().get(code)
        if name is None:
            return package_rules()[0][code].rule
        module = import_module(f"gpusafe.rules.{code.lower()}_{name.replace('-', '_')}")
        rule: Rule = module.RULE
        return rule

    def __iter__(self) -> Iterator[str]:
        return iter(codes())

    def __len__(self) -> int:
        return len(codes())


RULES: Mapping[str, Rule] = _Catalogue()


def code_of(text: str) -> str | None:
    """The code that a code or a name stands for, in any case; None when there is no such rule."""
    upper = text.upper()
    if upper in codes():
        return upper
    wanted = text.lower().replace("_", "-")
    return next((code for code, name in codes().items() if name == wanted), None)


def find(text: str) -> Rule:
    """The rule of a code or a name; raises UsageError with the nearest names."""
    code = code_of(text)
    if code is not None:
        return RULES[code]
    from difflib import get_close_matches

    near = get_close_matches(text.lower(), [*codes().values(), *(c.lower() for c in codes())], 3, 0.5)
    hint = f"; did you mean {' or '.join(_spelled(n) for n in near)}?" if near else "; see `gpusafe rules`"
    raise UsageError(f"there is no rule `{text}`{hint}")


def _spelled(text: str) -> str:
    return f"`{text.upper() if text.upper() in codes() else text}`"


def matching(pattern: str) -> frozenset[str]:
    """The codes that a code, a name, a prefix (``GS1``) or ``all`` stands for."""
    if pattern.lower() == "all":
        return frozenset(codes())
    code = code_of(pattern)
    if code is not None:
        return frozenset({code})
    upper = pattern.upper()
    return frozenset(code for code in codes() if len(upper) > 1 and code.startswith(upper))


def validate_selection(patterns: Iterable[str]) -> None:
    """Raises UsageError for a pattern that stands for no rule."""
    for pattern in patterns:
        if not matching(pattern):
            find(pattern)


def reported(select: Iterable[str], ignore: Iterable[str]) -> frozenset[str]:
    """The codes whose findings are reported: those selected (default: all enabled ones) but those ignored."""
    chosen = frozenset[str]().union(*map(matching, select))
    if not chosen:
        own = {code for code in _own() if not code.startswith(OFF)}
        chosen = frozenset(own.union(code for code, found in package_rules()[0].items() if found.rule.enabled))
    return chosen.difference(*map(matching, ignore))
