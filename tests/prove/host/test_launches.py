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


def launch_of(value: Expr) -> Enqueue:
    arg = LaunchArg("scalar", HERE, value=value)
    return Enqueue(
        (Frame("run", BODY, HERE),), "launch of `k`", "s", "launch", kernel="k", kernel_name="k", args=(arg,)
    )


def path_of(op: Enqueue, *assumes: Expr) -> HostPath:
    return HostPath("run", BODY, (op,), {}, {}, assumes=assumes)


class Asked:
    """Counts the launches that are asked, and proves them."""

    def __init__(self) -> None:
        self.sites: list[LaunchSite] = []

    def __call__(self, _: KernelSummary, site: LaunchSite) -> tuple[Obligation, ...]:
        self.sites.append(site)
        return (Obligation("GS114", "it stays inside", Verdict.PROVED, HERE),)


def verdicts(*paths: HostPath) -> tuple[int, set[Verdict]]:
    asked, ledger = Asked(), Ledger()
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
