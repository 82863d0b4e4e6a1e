"""The main job, in order: read, lower, walk the hosts, prove, confirm in PTX, report.

One function or kernel that cannot be analysed costs its own verdict only: whatever fails inside a stage becomes an
unknown obligation with the reason, never an exception and never silence.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from gpusafe.cache.place import folder_of
from gpusafe.cache.results import Results
from gpusafe.collection import rare_collection
from gpusafe.config import Options
from gpusafe.results import FileStatus, Finding, Report
from gpusafe.span import Span
from gpusafe.verdict import Obligation, Unit, Verdict

if TYPE_CHECKING:  # a run on files without GPU code needs none of it
    from gpusafe.dataflow.contracts import KernelSummary
    from gpusafe.dataflow.coverage import Coverage
    from gpusafe.ir.host import HostProgram, LaunchSite
    from gpusafe.ir.kernel import Kernel
    from gpusafe.parse.dialects.extension_model import ApiTable
    from gpusafe.parse.directives import Problem
    from gpusafe.parse.workspace import Workspace
    from gpusafe.report.graph import Picture

CERTAIN_SECONDS = 15  # a solver's query has a wall-clock limit of 20: below this no limit was met
_FAILED = "gpusafe failed here"
FORK_FROM = 8  # kernels: fewer are proved sooner than processes get going
_CONTRADICTION = "what `{}` requires and assumes contradicts itself: no launch meets it, and it has no effect"


@dataclass(frozen=True, slots=True)
class _Checked:
    """A kernel with its unit, what it promises to the launches, and the launches."""

    kernel: Kernel
    unit: Unit
    summary: KernelSummary
    sites: tuple[LaunchSite, ...] = ()


def check(options: Options, progress: Callable[[str], None] = lambda _: None) -> Report:
    """Analyse ``options.paths`` and return everything that there is to say about them.

    Raises :class:`gpusafe.errors.UsageError` for paths that do not exist.
    """
    from gpusafe.parse.workspace import load

    started = time.perf_counter()
    progress("reading")
    workspace = load([Path(p) for p in options.paths])
    if not options.api and _nothing_to_say(workspace):
        notices, sources = tuple(workspace.notices), workspace.sources
        return Report((), (), workspace.files, notices, sources, time.perf_counter() - started)
    from gpusafe.rules import Facts, conclude, directive_findings, package_findings

    kernels, problems = _lower(workspace)
    kernels = tuple(_sized(k, options) for k in kernels)
    progress("walking host functions")
    apis, api_notices = _apis(workspace, options)
    program = _execute(workspace, kernels, apis)
    progress("proving kernels")
    results = Results(folder_of(options.cache_dir, options.no_cache))
    checked = _check_kernels(_sites(program, kernels), options, results)
    progress("proving host functions")
    summaries = {c.kernel.key: c.summary for c in checked}
    host_units, warnings = _check_hosts(program, summaries, results)
    progress("confirming in PTX")
    kernel_units = _confirm(checked, workspace, options)
    read = (*kernel_units, *host_units)
    units = tuple(sorted((*read, *_unread(workspace, read)), key=lambda u: (u.span, u.kind, u.name)))
    told, rule_notices = package_findings(Facts(kernels, program, units, workspace.sources))
    more = (*warnings, *directive_findings(problems), *told)
    conclusion = conclude(units, workspace.files, workspace.sources, options, more)
    return Report(
        units,
        conclusion.findings,
        workspace.files,
        (*workspace.notices, *api_notices, *rule_notices, *results.notices),
        workspace.sources,
        time.perf_counter() - started,
        conclusion.suppressed,
        conclusion.left_out,
    )


def _nothing_to_say(workspace: Workspace) -> bool:
    """Whether there is no GPU code, no file that does not parse, and no directive that could be wrong."""
    code = workspace.crates or workspace.cuda_files or workspace.ptx_files
    broken = any(record.status is FileStatus.SYNTAX_ERROR for record in workspace.files)
    return not (code or broken or any("gpusafe" in text for text in workspace.sources.values()))


def coverage(options: Options, progress: Callable[[str], None] = lambda _: None) -> Coverage:
    """What of ``options.paths`` is recognised and resolved; nothing is proved.

    Raises :class:`gpusafe.errors.UsageError` for paths that do not exist.
    """
    from gpusafe.dataflow.coverage import measure
    from gpusafe.parse.workspace import load

    progress("reading")
    workspace = load([Path(p) for p in options.paths])
    kernels, _ = _lower(workspace)
    progress("walking host functions")
    apis, notices = _apis(workspace, options)
    return measure(workspace, kernels, _execute(workspace, kernels, apis), notices)


def graph(
    options: Options, function: str | None = None, progress: Callable[[str], None] = lambda _: None
) -> tuple[tuple[Picture, ...], Mapping[str, str]]:
    """The launch graphs of the host functions of ``options.paths`` with their faults, and the text of the files.

    ``function`` names the only function that is wanted. Raises :class:`gpusafe.errors.UsageError` for paths that do not
    exist.
    """
    from gpusafe.parse.workspace import load
    from gpusafe.report.graph import of_program

    progress("reading")
    workspace = load([Path(p) for p in options.paths])
    kernels, _ = _lower(workspace)
    progress("walking host functions")
    apis, _ = _apis(workspace, options)
    program = _execute(workspace, kernels, apis)
    progress("proving")
    results = Results(folder_of(options.cache_dir, options.no_cache))
    checked = _check_kernels(_sites(program, kernels), options, results)
    units, _ = _check_hosts(program, {c.kernel.key: c.summary for c in checked}, results)
    return of_program(program, units, function), workspace.sources


def _lower(workspace: Workspace) -> tuple[tuple[Kernel, ...], tuple[Problem, ...]]:
    """All kernels of all front ends with what their users require, and the directives without effect."""
    from gpusafe.dataflow.cubecl_launches import with_cube_launches
    from gpusafe.parse.cuda import lower_sources
    from gpusafe.parse.directives import Problem, attach
    from gpusafe.parse.rust.device import lower_kernels

    with rare_collection():
        kernels = list(with_cube_launches(workspace, lower_kernels(workspace).kernels))
        for _, module in lower_sources(workspace):
            kernels += module.kernels
        kernels += _ptx_kernels(workspace)
    unique = {k.key: k for k in kernels}
    stated, problems = attach(unique.values(), workspace.sources)
    if not any(k.requires or k.assumes for k in stated):
        return stated, problems
    from gpusafe.prove.contents import without_contradictions

    consistent, contradictory = without_contradictions(stated)
    told = (Problem(k.span, _CONTRADICTION.format(k.name)) for k in contradictory)
    return consistent, (*problems, *told)


def _ptx_kernels(workspace: Workspace) -> Iterable[Kernel]:
    """The kernels of the PTX files that the user names."""
    if not workspace.ptx_files:
        return ()
    from gpusafe.parse.ptx import lower_sources

    return lower_sources(workspace)


def _sized(kernel: Kernel, options: Options) -> Kernel:
    """A kernel of a CUDA C or PTX file under the launch sizes of the command line."""
    if (
        kernel.dialect not in ("cuda-c", "ptx")
        or kernel.span.file.endswith(".rs")
        or not (options.block or options.grid)
    ):
        return kernel
    given = replace(kernel.contract, block=options.block, grid=options.grid, given=True)
    return replace(kernel, contract=given, launched=())


def _unread(workspace: Workspace, units: Iterable[Unit]) -> Iterable[Unit]:
    """What no front end reads: units that are unknown."""
    from gpusafe.parse.rust.unread import unread

    known = {(u.span.file, u.span.line) for u in units}
    for found in unread(workspace):
        if (found.span.file, found.span.line) not in known:
            unknown = Obligation("GS901", "the function is read", Verdict.UNKNOWN, found.span, found.reason)
            yield Unit(found.kind, found.name, found.span, (unknown,))


def _execute(workspace: Workspace, kernels: Sequence[Kernel], apis: tuple[ApiTable, ...] = ()) -> HostProgram:
    from gpusafe.dataflow.host import execute

    with rare_collection():
        return execute(workspace, kernels, apis)


def _apis(workspace: Workspace, options: Options) -> tuple[tuple[ApiTable, ...], tuple[str, ...]]:
    """The API tables in force beside the built-in ones; notices on wrong ones, and on versions that none covers."""
    from gpusafe.parse.dialects.extension import load_tables
    from gpusafe.parse.dialects.versions import uncovered

    named = {name for crate in workspace.crates for name in (*crate.dependencies, crate.name)}
    tables, notices = load_tables(options.api, named)
    return tables, (*notices, *uncovered(workspace, tables))


def _sites(program: HostProgram, kernels: Iterable[Kernel]) -> list[tuple[Kernel, tuple[LaunchSite, ...]]]:
    """Each kernel with its launches; launches that say the same about it appear once."""
    from gpusafe.ir.host import Enqueue, LaunchSite

    seen: dict[str, dict[object, LaunchSite]] = {}
    conditions: dict[object, int] = {}
    for path in program.paths:
        under = conditions.setdefault(path.assumes, len(conditions))
        for op in path.ops:
            if isinstance(op, Enqueue) and op.kernel is not None and op.shape is not None:
                lengths = tuple(
                    path.memory[a.range.memory].length for a in op.args if a.range and a.range.memory in path.memory
                )
                facts = (op.span, op.shape, tuple((a.kind, a.value, a.range, a.length) for a in op.args), lengths)
                seen.setdefault(op.kernel, {}).setdefault((facts, under), LaunchSite(op, path))
    return [(k, tuple(seen.get(k.key, {}).values())) for k in kernels]


def _check_kernels(
    work: Sequence[tuple[Kernel, tuple[LaunchSite, ...]]], options: Options, results: Results
) -> list[_Checked]:
    """Every kernel in order; a process that dies costs its kernel only."""

    def run(units: Sequence[tuple[Kernel, tuple[LaunchSite, ...]]]) -> list[_Checked]:
        if options.executor is not None:
            from gpusafe import cluster

            return cluster.in_order(units, _prove, _lost, options.executor)
        from gpusafe import pool

        return pool.in_order(units, _prove, _lost, options.jobs or pool.processors(), least=FORK_FROM)

    found = results.of("kernel", work, run, lambda checked: _keepable((checked.unit,)))
    return [replace(c, kernel=kernel, sites=sites) for c, (kernel, sites) in zip(found, work, strict=True)]


def _keepable(units: Sequence[Unit]) -> bool:
    """Whether the outcome follows from the input alone: no failure of gpusafe, and no wall-clock limit in reach."""
    failed = any((o.reason or "").startswith(_FAILED) for u in units for o in u.obligations)
    return not failed and sum(u.seconds for u in units) < CERTAIN_SECONDS


def _prove(unit: tuple[Kernel, tuple[LaunchSite, ...]]) -> _Checked:
    return replace(_check_kernel(*unit), sites=())  # the launches need not be sent back


def _lost(unit: tuple[Kernel, tuple[LaunchSite, ...]], reason: str) -> _Checked:
    kernel, _ = unit
    open_ = Obligation("GS901", "the analysis ends", Verdict.UNKNOWN, kernel.span, f"{_FAILED}: {reason}")
    found = Unit("kernel", kernel.name, kernel.span, (open_,))
    return _Checked(kernel, found, _signature_summary(kernel), ())


def _check_kernel(kernel: Kernel, sites: tuple[LaunchSite, ...]) -> _Checked:
    from gpusafe.prove.kernels import check_kernel

    started = time.perf_counter()
    try:
        result = check_kernel(kernel, sites)
    except Exception as error:
        unit = Unit("kernel", kernel.name, kernel.span, (_failed("GS901", kernel.span, error),))
        return _Checked(kernel, unit, _signature_summary(kernel), sites)
    seconds = time.perf_counter() - started
    unit = Unit("kernel", kernel.name, kernel.span, result.obligations, result.assumptions, seconds=seconds)
    return _Checked(kernel, unit, result.summary, sites)


def _signature_summary(kernel: Kernel) -> KernelSummary:
    """What the signature alone says: read-only parameters are read, all others may be written."""
    from gpusafe.dataflow.contracts import Effect, KernelSummary

    regions = {r.name: r for r in kernel.regions}
    effects = []
    for param in kernel.params:
        region = regions.get(param.region or "")
        effects.append(
            Effect() if region is None else Effect(reads=True, writes=not region.read_only, atomics=False, known=False)
        )
    others = tuple(
        (r.name, Effect(reads=True, writes=not r.read_only, known=False)) for r in kernel.regions if r.param is None
    )
    return KernelSummary(kernel, tuple(effects), others, complete=False)


_Hosts: TypeAlias = "tuple[tuple[Unit, ...], tuple[Finding, ...]]"
_HostWork: TypeAlias = "tuple[HostProgram, Mapping[str, KernelSummary]]"


def _check_hosts(program: HostProgram, summaries: Mapping[str, KernelSummary], results: Results) -> _Hosts:
    return results.of("host", [(program, summaries)], _prove_hosts, lambda found: _keepable(found[0]))[0]


def _prove_hosts(work: Sequence[_HostWork]) -> list[_Hosts]:
    return [_prove_host(program, summaries) for program, summaries in work]


def _prove_host(program: HostProgram, summaries: Mapping[str, KernelSummary]) -> _Hosts:
    from gpusafe.prove.host import check_host, shared_borrow_warnings
    from gpusafe.prove.launch import check_launch

    try:
        return check_host(program, summaries, check_launch), shared_borrow_warnings(program, summaries)
    except Exception as error:
        failed = tuple(Unit("host", f.name, f.span, (_failed("GS901", f.span, error),)) for f in program.functions)
        return failed, ()


def _failed(rule: str, span: Span, error: Exception) -> Obligation:
    """An internal failure as what it is to the user: an unknown with its reason."""
    reason = f"{_FAILED}: {type(error).__name__}: {error}"
    return Obligation(rule, "the analysis ends", Verdict.UNKNOWN, span, reason)


def _confirm(checked: Sequence[_Checked], workspace: Workspace, options: Options) -> list[Unit]:
    """The kernels' units, with what their PTX says beside the verdict."""
    from gpusafe.codegen_check import confirm, unconfirmed

    units = {c.kernel.key: c.unit for c in checked}
    if options.ptx != "never":
        wanted = [
            c.kernel
            for c in checked
            if c.unit.verdict is not Verdict.REFUTED and c.kernel.dialect not in ("cuda-c", "ptx")
        ]
        sites = {c.kernel.key: c.sites for c in checked}
        proved = {c.kernel.key for c in checked if c.unit.verdict is Verdict.PROVED}
        found = confirm(wanted, workspace, options.targets, mode=options.ptx, sites=sites, proved=proved)
        for key, confirmation in found.items():
            units[key] = replace(units[key], ptx=confirmation.statuses)
            units[key] = _with(units[key], *confirmation.obligations)
    for c in checked:
        unit = units[c.kernel.key]
        left = unconfirmed(c.kernel, unit.ptx) if unit.verdict is Verdict.PROVED else None
        if left is not None:
            units[c.kernel.key] = _with(unit, left)
    return list(units.values())


def _with(unit: Unit, *more: Obligation) -> Unit:
    return replace(unit, obligations=(*unit.obligations, *more))
