"""The argument parser: commands, and the flags that the options' metadata describes."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gpusafe import __version__
from gpusafe.cli.usage import Parser

if TYPE_CHECKING:
    from gpusafe.config import Setting

_EPILOG = """exit status: 0 clean, 1 findings, 2 usage or internal error, 3 incomplete under --strict"""


def parse(arguments: list[str]) -> Callable[[], int] | int:
    """The command that ``arguments`` ask for, or the exit status where argparse has already answered."""
    if arguments[:1] == ["--explain"]:  # as rustc and clippy spell it
        arguments = ["explain", *arguments[1:]]
    if "--" in (behind := arguments[:-1]) and arguments[(at := behind.index("--")) + 1].startswith("-"):
        del arguments[at]  # `cargo clippy -- -D warnings` has taught people to write levels so
    parser = _parser(with_options=arguments[:1] in (["check"], ["baseline"]))
    if not arguments:
        parser.print_help()
        return 2
    try:
        space = parser.parse_args(arguments)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 2
    command: Callable[[argparse.Namespace], int] = space.command
    return lambda: command(space)


def _parser(*, with_options: bool) -> argparse.ArgumentParser:
    parser = Parser(
        prog="gpusafe",
        description="The borrow checker that Rust lacks at the GPU launch boundary.",
        epilog=_EPILOG,
        allow_abbrev=False,
    )
    parser.add_argument("-V", "--version", action="version", version=f"gpusafe {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    check = _command(commands, "check", "prove or refute the GPU code of a workspace, folder or file", _check)
    check.usage = "gpusafe check [FLAGS] [PATH ...]"
    check.add_argument("paths", nargs="*", metavar="PATH", help="crates, folders or files (default: this folder)")
    check.add_argument("--config", metavar="FILE", help="read settings from FILE instead of the nearest gpusafe.toml")
    if with_options:  # the metadata is read only for the command that needs it
        from gpusafe.cli.cargo_flags import add_flags

        _add_options(check)
        add_flags(check)

    baseline = _command(commands, "baseline", "accept the findings of today, so that only new ones count", _baseline)
    baseline.add_argument(
        "action",
        choices=("create", "update", "prune", "show"),
        help="record all findings; bring the record up to date; drop what is gone; list it",
    )
    baseline.usage = "gpusafe baseline {create,update,prune,show} [FLAGS] [PATH ...]"
    baseline.add_argument("paths", nargs="*", metavar="PATH", help="what to check (default: this folder)")
    baseline.add_argument("--config", metavar="FILE", help="read settings from FILE")
    if with_options:
        _add_options(baseline)

    coverage = _command(commands, "coverage", "what is recognised and resolved of the GPU code, and why not", _coverage)
    coverage.add_argument("paths", nargs="*", metavar="PATH", help="crates, folders or files (default: this folder)")
    coverage.add_argument("--format", choices=("text", "json"), default="text", help="how to write the table")
    coverage.add_argument("--config", metavar="FILE", help="read settings from FILE")

    intrinsics = _command(
        commands, "intrinsics", "hold the models against a cuda-oxide checkout's catalogue of intrinsics", _intrinsics
    )
    intrinsics.add_argument("checkout", metavar="CHECKOUT", help="a checkout of NVlabs/cuda-oxide")
    intrinsics.add_argument("--format", choices=("text", "json"), default="text", help="how to write the comparison")

    graph = _command(commands, "graph", "draw the launch graph: lanes of host and streams, edges, races", _graph)
    graph.add_argument("paths", nargs="*", metavar="PATH", help="crates, folders or files (default: this folder)")
    graph.add_argument("--function", metavar="NAME", help="draw only what leads through this function")
    graph.add_argument("--format", choices=("text", "dot", "mermaid", "html"), default="text", help="what to draw with")
    graph.add_argument("--output", metavar="FILE", help="write to FILE")
    graph.add_argument("--config", metavar="FILE", help="read settings from FILE")
    _add_color(graph)

    ptx = _command(commands, "ptx", "what the compiled PTX keeps of each kernel, for each target", _ptx)
    ptx.add_argument("paths", nargs="*", metavar="PATH", help="crates, folders or files (default: this folder)")
    ptx.add_argument("--setup", action="store_true", help="build core and the stand-in crates for nvptx64, once")
    ptx.add_argument("--targets", metavar="TARGETS", type=_targets(), help="PTX targets such as sm_80,sm_90")
    ptx.add_argument("--format", choices=("text", "json"), default="text", help="how to write the table")
    ptx.add_argument("--config", metavar="FILE", help="read settings from FILE")

    explain = _command(commands, "explain", "what a rule finds, why it matters, how to fix it", _explain)
    explain.add_argument("rule", metavar="RULE", help="a code or name, such as GS101 or stream-race")
    _add_color(explain)

    rules = _command(commands, "rules", "list the rules", _rules)
    rules.add_argument("--format", choices=("text", "json"), default="text", help="how to write the list")
    _add_color(rules)

    doctor = _command(commands, "doctor", "what is installed, what that enables, how to get the rest", _doctor)
    doctor.add_argument("--format", choices=("text", "json"), default="text", help="how to write it")

    cache = _command(commands, "cache", "where verdicts are kept, how many and how large; remove them", _cache)
    cache.add_argument(
        "action", nargs="?", choices=("show", "clear"), default="show", help="what to do (default: show)"
    )
    cache.add_argument("--cache-dir", metavar="FOLDER", help="the cache in FOLDER")
    cache.add_argument("--format", choices=("text", "json"), default="text", help="how to write it")

    litmus = _command(commands, "litmus", "decide litmus tests under the PTX memory model", _litmus)
    litmus.add_argument("paths", nargs="+", metavar="PATH", help="a litmus test, or a folder of them")
    litmus.add_argument("--model", choices=("ptx-v6.0", "ptx-v7.5"), default="ptx-v7.5", help="which version")
    litmus.add_argument("--explain", action="store_true", help="show the execution behind each answer")

    config = _command(commands, "config", "the settings in force and where each comes from", _config)
    config.add_argument("--config", metavar="FILE", help="read settings from FILE")
    shown = config.add_mutually_exclusive_group()
    shown.add_argument("--show-source", action="store_true", help="every setting, its value and its source (default)")
    shown.add_argument("--schema", action="store_true", help="print the JSON schema of gpusafe.toml")
    shown.add_argument("--sample", action="store_true", help="print a gpusafe.toml with every setting, commented out")
    config.add_argument("path", nargs="?", default=".", metavar="PATH", help="where to look for settings")
    return parser


def _command(commands: Any, name: str, about: str, run: Callable[[argparse.Namespace], int]) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(
        name, help=about, description=about, epilog=_EPILOG, allow_abbrev=False
    )
    parser.set_defaults(command=run)
    return parser


def _add_color(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="colour the text")


def _add_options(parser: argparse.ArgumentParser) -> None:
    from gpusafe.cli.level_flags import add_levels
    from gpusafe.config import settings

    for option, setting in settings():
        if setting.flags:
            _add_option(parser, option.name, setting)
    add_levels(parser)


def _add_option(parser: argparse.ArgumentParser, name: str, setting: Setting) -> None:
    about: dict[str, Any] = {"dest": name, "help": setting.help, "default": argparse.SUPPRESS}
    if setting.choices:
        about["choices"] = setting.choices
    elif setting.metavar is None:
        about["action"] = "store_true"
    else:
        about["metavar"] = setting.metavar
        if setting.parse is not None:
            about["type"] = _typed(setting.parse)
    parser.add_argument(*setting.flags, **about)


def _typed(parse_text: Callable[[str], Any]) -> Callable[[str], Any]:
    def convert(text: str) -> Any:
        try:
            return parse_text(text)
        except ValueError as problem:
            raise argparse.ArgumentTypeError(str(problem)) from None

    return convert


def _check(space: argparse.Namespace) -> int:
    from gpusafe.cli.cargo_flags import for_clippy, paths_of
    from gpusafe.cli.check import run

    return run(paths_of(space), {**_given(space), "clippy_arguments": for_clippy(space)}, space.config)


def _baseline(space: argparse.Namespace) -> int:
    from gpusafe.cli.baseline import run

    return run(space.action, tuple(space.paths), _given(space), space.config)


def _given(space: argparse.Namespace) -> dict[str, Any]:
    """The options that the command line sets."""
    from gpusafe.config import settings

    names = {option.name for option, _ in settings()}
    return {name: value for name, value in vars(space).items() if name in names}


def _coverage(space: argparse.Namespace) -> int:
    from gpusafe.cli.coverage import run

    return run(tuple(space.paths), space.format, space.config)


def _intrinsics(space: argparse.Namespace) -> int:
    from gpusafe.cli.intrinsics import run

    return run(space.checkout, space.format)


def _graph(space: argparse.Namespace) -> int:
    from gpusafe.cli.graph import run

    return run(tuple(space.paths), space.format, space.function, space.output, space.color, space.config)


def _targets() -> Callable[[str], Any]:
    """Converts the value of ``--targets``; the settings are imported when there is one."""

    def convert(text: str) -> Any:
        from gpusafe.config import parse_targets

        return _typed(parse_targets)(text)

    return convert


def _ptx(space: argparse.Namespace) -> int:
    from gpusafe.cli.ptx import run, set_up

    if space.setup:
        return set_up()
    given = {} if space.targets is None else {"targets": space.targets}
    return run(tuple(space.paths), given, space.format, space.config)


def _explain(space: argparse.Namespace) -> int:
    from gpusafe.cli.explain import run

    return run(space.rule, space.color)


def _rules(space: argparse.Namespace) -> int:
    from gpusafe.cli.catalogue import run

    return run(space.format)


def _doctor(space: argparse.Namespace) -> int:
    from gpusafe.cli.doctor import run

    return run(space.format)


def _cache(space: argparse.Namespace) -> int:
    from gpusafe.cli.cache import run

    return run(space.action, space.cache_dir, space.format)


def _litmus(space: argparse.Namespace) -> int:
    from gpusafe.prove.memory_model.__main__ import run

    return run(tuple(space.paths), space.model, space.explain)


def _config(space: argparse.Namespace) -> int:
    from gpusafe.cli.settings import run

    return run(space.path, space.config, "schema" if space.schema else "sample" if space.sample else "sources")
