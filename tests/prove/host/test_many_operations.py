"""What is asked of paths with many operations grows with the operations, not with their pairs."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from gpusafe.dataflow.effects import effects
from gpusafe.dataflow.happens_before import order
from gpusafe.ir.expr import BOOL, USIZE, Binary, Const, Expr, Op, Sym
from gpusafe.prove.host import check_host, paths
from gpusafe.prove.host.bearing import Bearing
from gpusafe.prove.host.conflicts import pairs
from gpusafe.prove.host.lanes import Lanes
from gpusafe.verdict import Verdict
from tests.dataflow.hand_paths import HandPath, bytes_of

quick = settings(max_examples=100, deadline=None, phases=(Phase.generate,), suppress_health_check=list(HealthCheck))


def chunk(k: int, size: Expr | None) -> tuple[Expr | int, Expr | int]:
    """The start and size of the k-th chunk: of 64 bytes, or of as many as a symbol says."""
    if size is None:
        return k * 64, 64
    return Binary(USIZE, Op.MUL, Const(USIZE, k), size), size


def chunks(count: int, size: Expr | None = None, twice: int | None = None) -> HandPath:
    """Each chunk of one buffer is cleared on the next of sixteen streams; one of them perhaps twice."""
    p = HandPath()
    p.buffer("x")
    for s in range(16):
        p.stream(f"s{s}")
    for k in range(count):
        p.memset(f"s{k % 16}", bytes_of("x", *chunk(k, size)))
    if twice is not None:
        p.memset(f"s{(twice + 1) % 16}", bytes_of("x", *chunk(twice, size)))
    p.sync_context()
    return p


def told(p: HandPath) -> int:
    path = p.path()
    return sum(1 for _ in pairs(path, effects(path, {}), order(path)))


def verdict(p: HandPath) -> Verdict:
    (unit,) = check_host(p.program(), {})
    return unit.verdict


@pytest.mark.parametrize("size", [None, Sym(USIZE, "n")], ids=["constant", "symbolic"])
def test_twice_the_chunks_are_twice_the_pairs(size: Expr | None) -> None:
    few, many = told(chunks(100, size)), told(chunks(200, size))
    assert many - few <= 300
    assert verdict(chunks(60, size)) is Verdict.PROVED


@pytest.mark.parametrize("size", [None, Sym(USIZE, "n")], ids=["constant", "symbolic"])
def test_one_chunk_of_many_that_is_written_twice_is_found(size: Expr | None) -> None:
    assert verdict(chunks(60, size, twice=23)) is not Verdict.PROVED
    assert verdict(chunks(60, None, twice=23)) is Verdict.REFUTED


def test_a_use_of_the_whole_buffer_before_does_not_hide_a_chunk() -> None:
    p = HandPath()
    p.buffer("x")
    for s in range(16):
        p.stream(f"s{s}")
    p.memset("s0", "x")
    for k in range(40):
        p.memset(f"s{1 + k % 15}", bytes_of("x", k * 64, 64))
    assert verdict(p) is Verdict.REFUTED
    assert told(p) > 40


def test_a_path_with_too_many_pairs_is_not_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "PAIRS_LIMIT", 3)
    assert verdict(chunks(16)) is Verdict.UNKNOWN


stretches = st.lists(st.tuples(st.integers(0, 24), st.integers(0, 8)), min_size=1, max_size=14)


@quick
@given(stretches)
def test_whatever_overlaps_a_stretch_is_among_its_rivals(drawn: list[tuple[int, int]]) -> None:
    path = HandPath().path()
    lanes = Lanes(path)
    for op, (start, size) in enumerate(drawn):
        near = lanes.near(bytes_of("x", start, size))
        for earlier, (other, length) in enumerate(drawn[:op]):
            if max(start, other) < min(start + size, other + length):
                assert near.rivals >> earlier & 1, (drawn[:op], drawn[op])
        lanes.add(bytes_of("x", start, size), op)


def test_conditions_bear_on_a_term_through_shared_unknowns_only() -> None:
    a, b, c, d = (Sym(USIZE, name) for name in "abcd")
    one, two, bridge = (Binary(BOOL, Op.LT, *sides) for sides in ((a, b), (c, d), (b, c)))
    assert Bearing((one, two)).on([a]) == (one,)
    assert Bearing((one, two, bridge)).on([a]) == (one, two, bridge)
    assert Bearing((one, two, bridge)).on([Const(USIZE, 3)]) == ()
