"""The prover against the exhaustive interpreter, on generated kernels."""

from builder import launch
from generated import BLOCK, GRID, kernels
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from verdicts import verdict

from gpusafe.dataflow.concrete import ConcreteLaunch, run
from gpusafe.ir.kernel import Kernel


@settings(max_examples=25, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@given(kernels(), st.integers(1, 12))
def test_no_verdict_contradicts_the_run_of_all_threads(kernel: Kernel, n: int) -> None:
    got = verdict(kernel, launch(kernel, GRID, BLOCK, {"n": n}))
    blocks = [(b, 0, 0) for b in range(GRID)]
    seen = run(kernel, ConcreteLaunch((GRID, 1, 1), (BLOCK, 1, 1), {"n": n}), blocks)
    faulty = bool(seen.meetings or seen.divergences)
    assert not (got == "proved" and faulty)
    assert not (got == "refuted" and seen.complete and not (faulty or seen.blank))
