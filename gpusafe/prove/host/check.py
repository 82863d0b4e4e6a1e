"""From the paths of a host program to the verdicts of its functions."""

from __future__ import annotations

import time
from collections.abc import Mapping

from gpusafe.dataflow.contracts import KernelSummary
from gpusafe.ir.host import Gap, HostFunction, HostPath, HostProgram, key_of
from gpusafe.prove.host.attribution import Owner
from gpusafe.prove.host.launches import Launches, LaunchObligations
from gpusafe.prove.host.ledger import Ledger
from gpusafe.prove.host.paths import PathCheck
from gpusafe.span import Span
from gpusafe.verdict import Obligation, Unit, Verdict


def check_host(
    program: HostProgram,
    summaries: Mapping[str, KernelSummary],
    launch_obligations: LaunchObligations | None = None,
) -> tuple[Unit, ...]:
    """A unit for every host function with GPU work, with the obligations that are attributed to it.

    ``summaries`` are the kernels' contracts by kernel key; ``launch_obligations`` adds what a kernel asks of one launch
    (GS113, GS114).
    """
    began = time.perf_counter()
    ledger = Ledger()
    launches = Launches(summaries, launch_obligations) if launch_obligations is not None else None
    reached: set[tuple[str, Span]] = set()
    for path in program.paths:
        owners = _owners(path)
        try:
            PathCheck(path, summaries, ledger).run()
            if launches is not None:
                launches.check(path, ledger)
        except Exception as error:
            _failed(error, owners, ledger)
        reached |= set(owners)
        _incomplete(path, owners, ledger)
        for words in path.generalised:
            ledger.assume(Owner(path.root, path.root_span, 0), words)
    ledger.close(program.paths)
    seconds = time.perf_counter() - began
    return _units(program, ledger, reached, seconds)


def _failed(error: Exception, owners: Mapping[tuple[str, Span], None], ledger: Ledger) -> None:
    """An internal failure costs the functions on the path their proof, and nothing else."""
    reason = f"gpusafe failed here: {type(error).__name__}: {error}"
    for function, span in owners:
        obligation = Obligation("GS901", "the analysis ends", Verdict.UNKNOWN, span, reason)
        ledger.add(Owner(function, span, 0), ("failed", reason), obligation)


def _owners(path: HostPath) -> dict[tuple[str, Span], None]:
    """The functions that a path goes through."""
    owners: dict[tuple[str, Span], None] = {(path.root, path.root_span): None}
    for op in path.ops:
        for frame in op.frames:
            owners[frame.function, frame.function_span] = None
    return owners


def _incomplete(path: HostPath, owners: Mapping[tuple[str, Span], None], ledger: Ledger) -> None:
    """A path that was cut leaves every function on it without a proof."""
    if path.complete:
        return
    gaps = [op for op in path.ops if isinstance(op, Gap)]
    reason = gaps[-1].reason if gaps else f"a path through `{path.root}` was not walked to its end"
    for function, span in owners:
        question = f"all paths through `{function}` are walked"
        obligation = Obligation("GS901", question, Verdict.UNKNOWN, span, reason)
        ledger.add(Owner(function, span, 0), ("incomplete", reason), obligation)


def _units(program: HostProgram, ledger: Ledger, reached: set[tuple[str, Span]], seconds: float) -> tuple[Unit, ...]:
    units = []
    functions = list(program.functions)
    listed = {(f.name, f.span) for f in functions}
    for name, span in ledger.entries:
        if (name, span) not in listed:
            listed.add((name, span))
            functions.append(HostFunction(name, name, span, False))
    for function in functions:
        key = (function.name, function.span)
        obligations = [*ledger.entries.get(key, {}).values(), *_gaps(program, function)]
        if key not in reached:
            obligations.append(_unreached(function))
        assumptions = tuple(ledger.assumptions.get(key, {}))
        units.append(Unit("host", function.name, function.span, tuple(obligations), assumptions))
    share = seconds / max(1, len(units))
    return tuple(Unit(u.kind, u.name, u.span, u.obligations, u.assumptions, u.ptx, share) for u in units)


def _gaps(program: HostProgram, function: HostFunction) -> list[Obligation]:
    """What the executor could not follow in a function."""
    reasons = program.gaps.get(key_of(function.name, function.span), ())
    question = f"all of `{function.name}` is modelled"
    return [Obligation("GS902", question, Verdict.UNKNOWN, function.span, reason) for reason in reasons]


def _unreached(function: HostFunction) -> Obligation:
    return Obligation(
        "GS901",
        f"some path leads to `{function.name}`",
        Verdict.UNKNOWN,
        function.span,
        "no path that was walked goes through this function, so nothing is known about its callers",
    )
