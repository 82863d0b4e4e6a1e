"""cargo's flags: which packages are meant, and what people are used to typing."""

from __future__ import annotations

import argparse
from typing import Any

from gpusafe.errors import UsageError

_MESSAGE_FORMATS = {"human": "text", "json": "rustc-json", "json-diagnostic-rendered-ansi": "rustc-json"}
"""What cargo calls a format, and what it is called here; other names mean the same in both."""

_WITHOUT_EFFECT = (
    ("--all-features", "code of all features is analysed always"),
    ("--no-default-features", "code of all features is analysed always"),
    ("--all-targets", "all targets are analysed always"),
    ("--offline", "gpusafe uses no network"),
    ("--locked", "gpusafe never writes Cargo.lock"),
    ("--frozen", "as --locked and --offline"),
)


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
    about: dict[str, Any] = {"dest": "_without_effect", "default": argparse.SUPPRESS}
    group.add_argument(
        "--features", metavar="FEATURES", help="accepted: code of all features is analysed always", **about
    )
    group.add_argument("--target", metavar="TRIPLE", help="accepted: host code is read for any target", **about)
    for flag, why in _WITHOUT_EFFECT:
        group.add_argument(flag, action="store_true", help=f"accepted: {why}", **about)


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
