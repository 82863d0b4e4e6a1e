"""The options of a run: one frozen dataclass whose field metadata makes the command line and the configuration file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, field, fields, replace
from typing import Any

from gpusafe.errors import UsageError


@dataclass(frozen=True, slots=True)
class Setting:
    """How one option is written.

    ``flags``: its command line spellings; ``help``: one line for ``--help``; ``choices``: the words it accepts;
    ``metavar``: the placeholder of its value; ``parse``: reads its text (raises ValueError with the reason);
    ``in_file``: whether ``gpusafe.toml`` may set it.
    """

    flags: tuple[str, ...]
    help: str
    choices: tuple[str, ...] = ()
    metavar: str | None = None
    parse: Callable[[str], Any] | None = None
    in_file: bool = True


FORMATS = ("text", "json", "sarif", "rustc-json", "github", "gitlab", "junit", "markdown")
"""How an outcome can be written."""


def parse_outputs(text: str) -> tuple[tuple[str, str], ...]:
    """``FORMAT=FILE,...`` as pairs."""
    pairs = [word.partition("=") for word in text.split(",") if word]
    for name, _, file in pairs:
        if name not in FORMATS:
            raise ValueError(f"`{name}` is no format (known: {', '.join(FORMATS)})")
        if not file:
            raise ValueError(f"`{name}` needs a file, as in {name}=FILE")
    return tuple((name, file) for name, _, file in pairs)


def parse_words(text: str) -> tuple[str, ...]:
    """``a,b c`` as the words that it lists."""
    return tuple(word for word in text.replace(",", " ").split() if word)


def parse_jobs(text: str) -> int:
    """A number of processes, at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise ValueError(f"`{text}` is not a number of processes")
    return int(text)


def parse_extent(text: str) -> tuple[int, int, int]:
    """``X[,Y[,Z]]`` (or with ``x`` between) as three sizes, each at least 1."""
    parts = text.lower().replace("x", ",").split(",")
    if len(parts) > 3 or not all(p.strip().isdecimal() and int(p) > 0 for p in parts):
        raise ValueError(f"`{text}` is not a size such as 256 or 16,16,1")
    x, y, z = [*(int(p) for p in parts), 1, 1][:3]
    return x, y, z


def _setting(
    default: Any,
    *flags: str,
    help: str,
    choices: tuple[str, ...] = (),
    metavar: str | None = None,
    parse: Callable[[str], Any] | None = None,
    in_file: bool = True,
) -> Any:
    return field(default=default, metadata={"setting": Setting(flags, help, choices, metavar, parse, in_file)})


def _size(flag: str, what: str) -> Any:
    about = f"{what}, for the kernels of CUDA C files: X[,Y[,Z]]"
    return _setting(None, flag, help=about, metavar="SIZE", parse=parse_extent, in_file=False)


@dataclass(frozen=True, slots=True)
class Options:
    """What the user asked for.

    ``paths``: crates, folders or files, all of which exist. ``select`` and ``ignore`` hold codes, names or prefixes
    (``GS1``). ``api``: files with ``[[api]]`` tables. ``targets`` are PTX targets (``sm_80``).
    """

    paths: tuple[str, ...] = (".",)
    api: tuple[str, ...] = ()
    format: str = _setting("text", "--format", "--message-format", help="how to write the outcome", choices=FORMATS)
    output: str | None = _setting(
        None, "--output", help="write the outcome to FILE instead of stdout", metavar="FILE", in_file=False
    )
    also: tuple[tuple[str, str], ...] = _setting(
        (),
        "--also",
        help="write the outcome to FILE in another format, too: sarif=out.sarif,markdown=summary.md",
        metavar="FORMAT=FILE",
        parse=parse_outputs,
        in_file=False,
    )
    with_clippy: bool = _setting(
        False, "--with-clippy", help="let `cargo clippy` print its JSON first (it builds your code)", in_file=False
    )
    select: tuple[str, ...] = _setting(
        (), "--select", help="report only these rules: codes, names or prefixes", metavar="RULES", parse=parse_words
    )
    ignore: tuple[str, ...] = _setting(
        (), "--ignore", help="leave these rules out of the findings", metavar="RULES", parse=parse_words
    )
    fail_on: str = _setting(
        "error",
        "--fail-on",
        help="lowest level of a finding that gives exit status 1",
        choices=("error", "warning", "note", "never"),
    )
    strict: bool = _setting(False, "--strict", help="exit with 3 when something could not be analysed or settled")
    baseline: str | None = _setting(
        None,
        "--baseline",
        help="accept the findings that FILE holds (default: gpusafe-baseline.json, where there is one)",
        metavar="FILE",
        parse=str,
    )
    no_baseline: bool = _setting(False, "--no-baseline", help="report what a baseline accepts, too", in_file=False)
    changed_since: str | None = _setting(
        None,
        "--changed-since",
        help="report only what is new since REV (analyses both states)",
        metavar="REV",
        parse=str,
        in_file=False,
    )
    staged: bool = _setting(False, "--staged", help="check what is staged for the next commit", in_file=False)
    ptx: str = _setting(
        "auto", "--ptx", help="compile verified kernels and check their PTX", choices=("auto", "always", "never")
    )
    targets: tuple[str, ...] = _setting(
        (), "--targets", help="PTX targets such as sm_80,sm_90", metavar="TARGETS", parse=parse_words
    )
    block: tuple[int, int, int] | None = _size("--block", "threads of a block")
    grid: tuple[int, int, int] | None = _size("--grid", "blocks of the grid")
    jobs: int | None = _setting(
        None,
        "-j",
        "--jobs",
        help="prove in N processes at once (default: one for each processor); the verdicts are the same",
        metavar="N",
        parse=parse_jobs,
        in_file=False,
    )
    color: str = _setting("auto", "--color", help="colour the text", choices=("auto", "always", "never"), in_file=False)
    quiet: bool = _setting(False, "-q", "--quiet", help="no progress and no table of verdicts", in_file=False)
    verbose: bool = _setting(False, "-v", "--verbose", help="show every obligation and assumption", in_file=False)


def settings() -> tuple[tuple[Field[Any], Setting], ...]:
    """Every option with how it is written, in order."""
    return tuple((f, f.metadata["setting"]) for f in fields(Options) if "setting" in f.metadata)


def with_values(options: Options, values: Mapping[str, Any]) -> Options:
    """``options`` with the given fields replaced."""
    return replace(options, **values)


def from_table(table: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The fields that a configuration table sets; keys are the field names with dashes.

    ``where`` names the table for messages. Raises UsageError for an unknown key or a value of the wrong kind.
    """
    known = {f.name.replace("_", "-"): (f, s) for f, s in settings() if s.in_file}
    values: dict[str, Any] = {}
    for key, value in table.items():
        if key == "api":  # read where the sources are (gpusafe.parse.dialects.extension)
            if where.endswith("]"):
                raise UsageError(f"{where}: `[[api]]` tables belong into a gpusafe.toml")
            values["api"] = (where,)
            continue
        if key not in known:
            raise UsageError(f"{where}: unknown key `{key}` (known: {', '.join(sorted(known))})")
        option, setting = known[key]
        values[option.name] = _read(value, option, setting, f"{where}: `{key}`")
    return values


def _read(value: Any, option: Field[Any], setting: Setting, where: str) -> Any:
    if setting.choices:
        if value not in setting.choices:
            raise UsageError(f"{where} must be one of {', '.join(setting.choices)}, not {value!r}")
        return value
    if setting.parse is None:
        if not isinstance(value, bool):
            raise UsageError(f"{where} must be true or false, not {value!r}")
        return value
    text = ",".join(str(item) for item in value) if isinstance(value, list) else str(value)
    try:
        return setting.parse(text)
    except ValueError as problem:
        raise UsageError(f"{where}: {problem}") from None
