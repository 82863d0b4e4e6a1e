"""Launches are asked once for each way in which they differ."""

from __future__ import annotations

from typing import cast

from gpusafe.dataflow.contracts import KernelSummary
from gpusafe.ir.expr import BOOL, USIZE, Binary, Const, Expr, Op, Sym
from gpusafe.ir.host import Enqueue, Frame, HostPath, LaunchArg, LaunchSite
from gpusafe.prove.host.launches import DIFFERENT_LIMIT, Launches
from gpusafe.prove.host.ledger import Ledger
from gpusafe.span import Span
from gpusafe.verdict import Obligation, Verdict

HERE = Span("main.rs", 5, 9, 5, 40)
BODY = Span("main.rs", 1, 1, 9, 1)


def launch_of(value: Expr, at: Span = HERE) -> Enqueue:
    arg = LaunchArg("scalar", HERE, value=value)
    return Enqueue((Frame("run", BODY, at),), "launch of `k`", "s", "launch", kernel="k", kernel_name="k", args=(arg,))


def path_of(op: Enqueue, *assumes: Expr) -> HostPath:
    return HostPath("run", BODY, (op,), {}, {}, assumes=assumes)


class Asked:
    """Counts the launches that are asked, and proves them."""

    def __init__(self, proves: bool = True) -> None:
        self.proves = proves
        self.sites: list[LaunchSite] = []

    def __call__(self, _: KernelSummary, site: LaunchSite) -> tuple[Obligation, ...]:
        self.sites.append(site)
        if self.proves:
            return (Obligation("GS114", "it stays inside", Verdict.PROVED, site.op.span),)
        return (Obligation("GS114", "it stays inside", Verdict.UNKNOWN, site.op.span, "no reason"),)


def verdicts(*paths: HostPath, proves: bool = True) -> tuple[int, set[Verdict]]:
    asked, ledger = Asked(proves), Ledger()
    launches = Launches({"k": cast(KernelSummary, None)}, asked)
    for path in paths:
        launches.check(path, ledger)
    return len(asked.sites), {o.verdict for o in ledger.entries["run", BODY].values()}


def test_a_launch_that_is_the_same_on_two_paths_is_asked_once() -> None:
    n, other = Sym(USIZE, "n"), Sym(USIZE, "other")
    about_other = Binary(BOOL, Op.LT, other, Const(USIZE, 8))
    assert verdicts(path_of(launch_of(n)), path_of(launch_of(n), about_other)) == (1, {Verdict.PROVED})


def test_conditions_that_bear_on_the_launch_make_it_another_one() -> None:
    n, m = Sym(USIZE, "n"), Sym(USIZE, "m")
    chain = (Binary(BOOL, Op.LT, n, m), Binary(BOOL, Op.LT, m, Const(USIZE, 8)))
    count, _ = verdicts(path_of(launch_of(n)), path_of(launch_of(n), chain[0]), path_of(launch_of(n), *chain))
    assert count == 3


def test_a_place_with_too_many_different_launches_is_not_proved() -> None:
    paths = [path_of(launch_of(Const(USIZE, i))) for i in range(DIFFERENT_LIMIT + 3)]
    count, found = verdicts(*paths)
    assert count == DIFFERENT_LIMIT
    assert found == {Verdict.PROVED, Verdict.UNKNOWN}


def test_what_is_proved_of_a_launch_is_proved_of_the_same_launch_at_another_place() -> None:
    n, there = Sym(USIZE, "n"), Span("main.rs", 6, 9, 6, 40)
    here, elsewhere = path_of(launch_of(n)), path_of(launch_of(n, there))
    assert verdicts(here, elsewhere) == (1, {Verdict.PROVED})
    assert verdicts(here, elsewhere, proves=False) == (2, {Verdict.UNKNOWN})
