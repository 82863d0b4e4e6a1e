"""How one option is written, wherever it can be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Setting:
    """How one option is written.

    ``flags``: its command line spellings; ``help``: one line for ``--help``; ``choices``: the words it accepts;
    ``metavar``: the placeholder of its value; ``parse``: reads its text (raises ValueError with the reason);
    ``in_file``: whether ``gpusafe.toml`` may set it; ``read``: reads its value in a file, given the file's name, where
    it is a table (raises ValueError); ``schema``: what JSON schema says of its value; ``example``: lines of TOML.
    """

    flags: tuple[str, ...]
    help: str
    choices: tuple[str, ...] = ()
    metavar: str | None = None
    parse: Callable[[str], Any] | None = None
    in_file: bool = True
    read: Callable[[Any, str], Any] | None = None
    schema: Mapping[str, Any] | None = None
    example: str = ""


def setting(
    default: Any,
    *flags: str,
    help: str,
    choices: tuple[str, ...] = (),
    metavar: str | None = None,
    parse: Callable[[str], Any] | None = None,
    in_file: bool = True,
    read: Callable[[Any, str], Any] | None = None,
    schema: Mapping[str, Any] | None = None,
    example: str = "",
) -> Any:
    """A dataclass field with its :class:`Setting`."""
    described = Setting(flags, help, choices, metavar, parse, in_file, read, schema, example)
    return field(default=default, metadata={"setting": described})
