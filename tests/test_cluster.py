"""Kernels proved on a Dask cluster: the same report as here, whatever becomes of the workers."""

from __future__ import annotations

import dataclasses
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpusafe import cluster
from gpusafe.app import check
from gpusafe.config import Options, parse_executor
from gpusafe.errors import GpusafeError
from gpusafe.verdict import Verdict

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask")
EXAMPLE = Path(__file__).parents[1] / "fixtures" / "crates" / "example"


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    few = {"distributed.scheduler.allowed-failures": 1}
    with (
        dask.config.set(few),
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as made,
    ):
        yield made.scheduler_address


def _double(unit: int) -> int:
    return 2 * unit


def _kill_once(unit: tuple[int, str]) -> int:
    number, marker = unit
    if number == 1 and not os.path.exists(marker):
        Path(marker).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def _kill(unit: int) -> str:
    if unit == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return str(unit)


def _lost(unit: object, reason: str) -> str:
    return f"lost {unit}: {reason}"


@pytest.fixture(autouse=True)
def _by_value() -> Iterator[None]:
    import cloudpickle

    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    yield
    cloudpickle.unregister_pickle_by_value(sys.modules[__name__])


def test_results_come_in_the_order_of_the_work(scheduler: str) -> None:
    assert cluster.in_order(range(20), _double, _lost, scheduler) == [2 * n for n in range(20)]


def test_the_report_is_the_one_of_a_run_here(scheduler: str) -> None:
    here = Options(paths=(str(EXAMPLE),), format="json", ptx="never", jobs=1)
    there = dataclasses.replace(here, executor=scheduler)
    told = [[dataclasses.replace(u, seconds=0.0) for u in check(o).units] for o in (here, there)]
    assert told[0] == told[1]
    assert any(u.verdict is Verdict.REFUTED for u in told[0] if u.kind == "kernel")


def test_a_worker_that_dies_is_survived(scheduler: str, tmp_path: Path) -> None:
    marker = str(tmp_path / "died")
    assert cluster.in_order([(n, marker) for n in range(6)], _kill_once, _lost, scheduler) == list(range(6))
    assert os.path.exists(marker)


def test_a_unit_that_kills_every_worker_is_lost_alone(scheduler: str) -> None:
    assert cluster.in_order([1], _kill, _lost, scheduler) == [
        "lost 1: the workers of the cluster that worked on it died"
    ]
    assert cluster.in_order([0, 2], _kill, _lost, scheduler) == ["0", "2"]


def test_another_version_on_the_workers_is_told(scheduler: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "__version__", "0.0.0")
    with pytest.raises(GpusafeError, match=r"a worker runs gpusafe .*, not 0\.0\.0"):
        cluster.in_order([1], _double, _lost, scheduler)


def test_no_scheduler_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "SECONDS", 1)
    with pytest.raises(GpusafeError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9"):
        cluster.in_order([1], _double, _lost, parse_executor("dask://127.0.0.1:9"))


@pytest.mark.parametrize("text", ["ray://host:1", "dask://host", "dask://host:port", "host:80"])
def test_other_executors_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no executor"):
        parse_executor(text)
