"""Broken copies of a proved kernel: each change that lets threads meet takes `proved` away."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from gpusafe.ir import kernel as ir

ROOT = Path(__file__).resolve().parents[3]
FIXTURE = ROOT / "fixtures" / "safe" / "neighbour_behind_barrier.rs"
SPEC = importlib.util.spec_from_file_location("mutants", ROOT / "scripts" / "mutants.py")
assert SPEC is not None
assert SPEC.loader is not None
mutants = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(mutants)


def test_the_changes_reach_statements_inside_branches_and_loops() -> None:
    kernel, _ = mutants.kernels_of(FIXTURE)[0]
    barrier = next(s for s in kernel.body if isinstance(s, ir.Barrier))
    nested = (ir.Loop(barrier.span, "l", (barrier, ir.Break(barrier.span, "l"))),)
    assert [(name, body[0].body) for name, _, body in mutants.mutants(nested)] == [
        ("barrier dropped", (ir.Break(barrier.span, "l"),))
    ]


def test_a_kernel_without_its_barrier_is_killed_and_the_rate_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert mutants.main([str(FIXTURE)]) == 0
    told = capsys.readouterr().out
    assert "missed" not in told
    assert "killed (100.0%)" in told
    assert "barrier dropped" not in told
