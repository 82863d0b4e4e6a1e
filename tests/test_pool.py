"""Units of work in processes: the same results, in order, and a process that dies costs its unit only."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from gpusafe import pool
from gpusafe.app import check
from gpusafe.config import Options
from gpusafe.results import Report

KERNEL = """
#[kernel]
pub fn k{n}(mut out: DisjointSlice<f32>, data: &[f32]) {{
    let i = thread::index_1d();
    if let Some(slot) = out.get_mut(i) {{ *slot = data[i.get()] * {n}.0; }}
}}
"""


def _lost(unit: int, reason: str) -> str:
    return f"lost {unit}: {reason}"


def test_results_come_in_the_order_of_the_work() -> None:
    work = list(range(40))
    assert pool.in_order(work, str, _lost, 3) == [str(n) for n in work]


def test_units_run_in_other_processes() -> None:
    assert str(os.getpid()) not in pool.in_order([1, 2], lambda _: str(os.getpid()), _lost, 2)


def test_one_job_and_little_work_stay_in_this_process() -> None:
    def here(_: int) -> str:
        return str(os.getpid())

    assert set(pool.in_order([1, 2], here, _lost, 1)) == {str(os.getpid())}
    assert set(pool.in_order([1, 2], here, _lost, 4, least=3)) == {str(os.getpid())}


def test_a_process_that_is_killed_costs_its_unit_only() -> None:
    def run(unit: int) -> str:
        if unit in (2, 5):
            os.kill(os.getpid(), signal.SIGKILL)
        return str(unit)

    found = pool.in_order(list(range(8)), run, _lost, 2)
    assert [f for f in found if not f.startswith("lost")] == ["0", "1", "3", "4", "6", "7"]
    assert found[2] == "lost 2: the process that worked on it was ended by SIGKILL"
    assert found[5].startswith("lost 5")


def test_a_result_that_cannot_be_sent_is_made_again_here() -> None:
    found = pool.in_order([1, 2], lambda n: threading.Lock() if n == 1 else n, lambda n, _: n, 2)
    assert isinstance(found[0], type(threading.Lock()))
    assert found[1] == 2


def test_ctrl_c_ends_the_processes_and_is_passed_on(tmp_path) -> None:  # type: ignore[no-untyped-def]
    def run(unit: int) -> str:
        (tmp_path / str(os.getpid())).touch()
        if unit == 0:
            os.kill(os.getppid(), signal.SIGINT)
        signal.pause()
        return "never"

    with pytest.raises(KeyboardInterrupt):
        pool.in_order([0, 1], run, _lost, 2)
    for name in os.listdir(tmp_path):
        with pytest.raises(ProcessLookupError):
            os.kill(int(name), 0)


def _told(report: Report) -> list[tuple[object, ...]]:
    return [
        (u.kind, u.name, u.span, [(o.rule, o.question, o.verdict, o.span, o.reason) for o in u.obligations])
        for u in report.units
    ]


def test_the_verdicts_do_not_depend_on_the_number_of_jobs(tmp_path) -> None:  # type: ignore[no-untyped-def]
    uses = "use cuda_device::{kernel, thread, DisjointSlice};\n"
    for file in range(3):
        text = uses + "".join(KERNEL.format(n=n) for n in range(file * 4, file * 4 + 4))
        (tmp_path / f"k{file}.rs").write_text(text)
    one, two, three = (_told(check(Options((str(tmp_path),), ptx="never", jobs=j))) for j in (1, 2, 3))
    assert len(one) == 12
    assert one == two == three
