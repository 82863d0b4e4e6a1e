"""cargo's flags: which packages are meant, and what people are used to typing."""

from __future__ import annotations

import argparse
from typing import Any

from gpusafe.errors import UsageError

_MESSAGE_FORMATS = {"human": "text", "json": "rustc-json", "json-diagnostic-rendered-ansi": "rustc-json"}
"""What cargo calls a format, and what it is called here; other names mean the same in both."""

_FOR_CLIPPY = (
    ("--features", "FEATURES", "code of all features is analysed always"),
    ("--all-features", None, "code of all features is analysed always"),
    ("--no-default-features", None, "code of all features is analysed always"),
    ("--target", "TRIPLE", "host code is read for any target"),
    ("--all-targets", None, "all targets are analysed always"),
    ("--offline", None, "gpusafe uses no network"),
    ("--locked", None, "gpusafe never writes Cargo.lock"),
    ("--frozen", None, "as --locked and --offline"),
)


class _Keep(argparse.Action):
    """Keeps a flag and its value as they were given."""

    def __call__(
        self, parser: argparse.ArgumentParser, space: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        words = (option or self.option_strings[0], *([values] if isinstance(values, str) else []))
        space.clippy_arguments = (*getattr(space, "clippy_arguments", ()), *words)


def add_flags(parser: argparse.ArgumentParser) -> None:
    """cargo's flags for ``check``."""
    from gpusafe.config import FORMATS

    group = parser.add_argument_group("as in cargo")
    group.add_argument("--workspace", "--all", action="store_true", help="the whole workspace that this folder is in")
    group.add_argument("-p", "--package", action="append", default=[], metavar="SPEC", help="only this package")
    group.add_argument("--exclude", action="append", default=[], metavar="SPEC", help="not this package")
    group.add_argument("--manifest-path", metavar="FILE", help="the Cargo.toml to start from")
    group.add_argument(
        "--message-format",
        dest="format",
        type=lambda word: _MESSAGE_FORMATS.get(word, word),
        choices=FORMATS,
        default=argparse.SUPPRESS,
        metavar="FORMAT",
        help="human, short or json (rustc's); else as --format",
    )
    for flag, metavar, why in _FOR_CLIPPY:
        about: dict[str, Any] = {"metavar": metavar} if metavar else {"nargs": 0}
        about["help"] = f"for --with-clippy; without effect here: {why}"
        group.add_argument(flag, dest="clippy_arguments", action=_Keep, default=argparse.SUPPRESS, **about)


def for_clippy(space: argparse.Namespace) -> tuple[str, ...]:
    """The flags that `cargo clippy` is to get: which packages, features and targets."""
    words = [f"--package={spec}" for spec in space.package] or ["--workspace"]
    words += [f"--exclude={spec}" for spec in space.exclude]
    given = tuple(getattr(space, "clippy_arguments", ()))
    return (*words, *(() if "--all-targets" in given else ("--all-targets",)), *given)


def paths_of(space: argparse.Namespace) -> tuple[str, ...]:
    """The paths to check: those given, or those of the packages that cargo's flags name.

    Raises UsageError where paths and packages are both given, or a package is not there.
    """
    by_package = space.workspace or space.package or space.exclude or space.manifest_path
    if not by_package:
        return tuple(space.paths)
    if space.paths:
        raise UsageError("give paths, or packages by cargo's flags, but not both")
    from gpusafe.cli.packages import chosen

    whole = space.workspace or bool(space.exclude)
    return chosen(space.manifest_path, tuple(space.package), tuple(space.exclude), whole=whole)
