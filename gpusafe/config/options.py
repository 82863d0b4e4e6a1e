"""The options of a run: one frozen dataclass whose field metadata makes the command line and the configuration file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, dataclass, fields, replace
from typing import Any

from gpusafe.config.levels import LEVELS, Lint, PathSettings, read_lints, read_paths
from gpusafe.config.setting import Setting, setting
from gpusafe.config.text import (
    FORMATS,
    parse_executor,
    parse_extent,
    parse_jobs,
    parse_outputs,
    parse_targets,
    parse_words,
)

_LINTS_SCHEMA = {"type": "object", "additionalProperties": {"enum": list(LEVELS)}}
_WORDS_SCHEMA = {"oneOf": [{"type": "array", "items": {"type": "string"}}, {"type": "string"}]}
_PATHS_SCHEMA = {
    "type": "object",
    "additionalProperties": {
        "type": "object",
        "additionalProperties": False,
        "properties": {"ignore": _WORDS_SCHEMA, "lints": _LINTS_SCHEMA},
    },
}


def _size(flag: str, help: str) -> Any:
    about = f"{help}, for the kernels of CUDA C and PTX files: X[,Y[,Z]]"
    return setting(None, flag, help=about, metavar="SIZE", parse=parse_extent, in_file=False)


@dataclass(frozen=True, slots=True)
class Options:
    """What the user asked for.

    ``paths``: crates, folders or files, all of which exist. ``select`` and ``ignore`` hold codes, names or prefixes
    (``GS1``); ``lints`` and ``per_path`` come after them. ``api``: files with ``[[api]]`` tables. ``targets`` are PTX
    targets (``sm_80``). ``clippy_arguments``: cargo's flags for ``with_clippy``.
    """

    paths: tuple[str, ...] = (".",)
    api: tuple[str, ...] = ()
    clippy_arguments: tuple[str, ...] = ()
    format: str = setting("text", "--format", help="how to write the outcome", choices=FORMATS)
    output: str | None = setting(
        None, "--output", help="write the outcome to FILE instead of stdout", metavar="FILE", in_file=False
    )
    also: tuple[tuple[str, str], ...] = setting(
        (),
        "--also",
        help="write the outcome to FILE in another format, too: sarif=out.sarif,markdown=summary.md",
        metavar="FORMAT=FILE",
        parse=parse_outputs,
        in_file=False,
    )
    with_clippy: bool = setting(
        False, "--with-clippy", help="let `cargo clippy` print its JSON first (it builds your code)", in_file=False
    )
    select: tuple[str, ...] = setting(
        (),
        "--select",
        help="report only these rules: codes, names or prefixes",
        metavar="RULES",
        parse=parse_words,
        schema=_WORDS_SCHEMA,
        example='select = ["GS1", "shared-race"]',
    )
    ignore: tuple[str, ...] = setting(
        (),
        "--ignore",
        help="leave these rules out of the findings",
        metavar="RULES",
        parse=parse_words,
        schema=_WORDS_SCHEMA,
        example='ignore = ["GS106"]',
    )
    lints: tuple[Lint, ...] = setting(
        (),
        help="levels of rules: allow, warn, deny, forbid (-A, -W, -D, -F)",
        read=read_lints,
        schema=_LINTS_SCHEMA,
        example='[lints]\nGS4 = "warn"\nstream-race = "deny"',
    )
    per_path: tuple[PathSettings, ...] = setting(
        (),
        help="the same for the files under some paths",
        read=read_paths,
        schema=_PATHS_SCHEMA,
        example='[per-path."benches/**"]\nignore = ["GS103"]\nlints = { stream-race = "warn" }',
    )
    fail_on: str = setting(
        "error",
        "--fail-on",
        help="lowest level of a finding that gives exit status 1",
        choices=("error", "warning", "note", "never"),
    )
    strict: bool = setting(False, "--strict", help="exit with 3 when something could not be analysed or settled")
    baseline: str | None = setting(
        None,
        "--baseline",
        help="accept the findings that FILE holds (default: gpusafe-baseline.json, where there is one)",
        metavar="FILE",
        parse=str,
        schema={"type": "string"},
        example='baseline = "ci/gpusafe-baseline.json"',
    )
    no_baseline: bool = setting(False, "--no-baseline", help="report what a baseline accepts, too", in_file=False)
    changed_since: str | None = setting(
        None,
        "--changed-since",
        help="report only what is new since REV (analyses both states)",
        metavar="REV",
        parse=str,
        in_file=False,
    )
    staged: bool = setting(False, "--staged", help="check what is staged for the next commit", in_file=False)
    ptx: str = setting(
        "auto", "--ptx", help="compile verified kernels and check their PTX", choices=("auto", "always", "never")
    )
    targets: tuple[str, ...] = setting(
        (),
        "--targets",
        help="PTX targets such as sm_80,sm_90",
        metavar="TARGETS",
        parse=parse_targets,
        schema=_WORDS_SCHEMA,
        example='targets = ["sm_80", "sm_90"]',
    )
    block: tuple[int, int, int] | None = _size("--block", "threads of a block")
    grid: tuple[int, int, int] | None = _size("--grid", "blocks of the grid")
    jobs: int | None = setting(
        None,
        "-j",
        "--jobs",
        help="prove in N processes at once (default: one for each processor); the verdicts are the same",
        metavar="N",
        parse=parse_jobs,
        in_file=False,
    )
    executor: str | None = setting(
        None,
        "--executor",
        help="prove on a Dask cluster: dask://HOST:PORT (needs gpusafe[dask]); the verdicts are the same",
        metavar="WHERE",
        parse=parse_executor,
        in_file=False,
    )
    cache_dir: str | None = setting(
        None,
        "--cache-dir",
        help="keep verdicts in FOLDER instead of the user's cache folder",
        metavar="FOLDER",
        parse=str,
        in_file=False,
    )
    no_cache: bool = setting(False, "--no-cache", help="prove everything anew and keep nothing", in_file=False)
    color: str = setting("auto", "--color", help="colour the text", choices=("auto", "always", "never"), in_file=False)
    quiet: bool = setting(False, "-q", "--quiet", help="no progress and no table of verdicts", in_file=False)
    verbose: bool = setting(False, "-v", "--verbose", help="show every obligation and assumption", in_file=False)


def settings() -> tuple[tuple[Field[Any], Setting], ...]:
    """Every option with how it is written, in order."""
    return tuple((f, f.metadata["setting"]) for f in fields(Options) if "setting" in f.metadata)


def with_values(options: Options, values: Mapping[str, Any]) -> Options:
    """``options`` with the given fields replaced."""
    return replace(options, **values)
