"""Cycles through three and more threads, and with two writes to a cell: the answers follow from causality order."""

from __future__ import annotations

import pytest
from test_classics import reachable

PLACES = [f"cta {n},gpu 0" for n in range(4)]
SC, ACQ_REL = "fence.sc.gpu", "fence.acq_rel.gpu"


def write(cell: str, value: int = 1, order: str = "relaxed") -> str:
    return f"st.{order}.gpu {cell}, {value}"


def read(register: str, cell: str, order: str = "relaxed") -> str:
    return f"ld.{order}.gpu {register}, {cell}"


def placed(*threads: list[str]) -> list[tuple[str, list[str]]]:
    return list(zip(PLACES, threads, strict=False))


@pytest.mark.parametrize(("fence", "allowed"), [(SC, False), (ACQ_REL, True)])
def test_a_write_before_a_read_of_what_was_written_first(fence: str, allowed: bool) -> None:
    """R."""
    threads = placed([write("x"), fence, write("y")], [write("y", 2), fence, read("r0", "x")])
    assert reachable("P1:r0 == 0 /\\ y == 2", *threads) is allowed


@pytest.mark.parametrize(
    ("release", "acquire", "allowed"), [("release", "acquire", False), ("relaxed", "acquire", True)]
)
def test_a_write_behind_a_message_comes_later(release: str, acquire: str, allowed: bool) -> None:
    """S."""
    threads = placed([write("x", 2), write("y", 1, release)], [read("r0", "y", acquire), write("x")])
    assert reachable("P1:r0 == 1 /\\ x == 2", *threads) is allowed


@pytest.mark.parametrize(("reader", "allowed"), [(SC, False), (ACQ_REL, True)])
def test_a_reader_and_a_writer_agree_only_with_sc_fences(reader: str, allowed: bool) -> None:
    """RWC."""
    threads = placed([write("x")], [read("r0", "x"), reader, read("r1", "y")], [write("y"), SC, read("r0", "x")])
    assert reachable("P1:r0 == 1 /\\ P1:r1 == 0 /\\ P2:r0 == 0", *threads) is allowed


@pytest.mark.parametrize(("middle", "allowed"), [(SC, False), (ACQ_REL, True)])
def test_a_message_and_then_a_reader_and_a_writer(middle: str, allowed: bool) -> None:
    """W+RWC."""
    threads = placed(
        [write("x"), ACQ_REL, write("y")], [read("r0", "y"), middle, read("r1", "z")], [write("z"), SC, read("r0", "x")]
    )
    assert reachable("P1:r0 == 1 /\\ P1:r1 == 0 /\\ P2:r0 == 0", *threads) is allowed


@pytest.mark.parametrize(
    ("middle", "last", "allowed"),
    [(SC, SC, False), (SC, ACQ_REL, False), (ACQ_REL, SC, False), (ACQ_REL, ACQ_REL, True)],
)
def test_two_writes_in_the_middle_of_a_message(middle: str, last: str, allowed: bool) -> None:
    """Z6.3: coherence of `y` is no causality, an order of fences is."""
    threads = placed(
        [write("x"), SC, write("y")], [write("y", 2), middle, write("z")], [read("r0", "z"), last, read("r1", "x")]
    )
    assert reachable("y == 2 /\\ P2:r0 == 1 /\\ P2:r1 == 0", *threads) is allowed


@pytest.mark.parametrize(("middle", "allowed"), [("release", False), ("relaxed", True)])
def test_two_messages_in_a_row(middle: str, allowed: bool) -> None:
    """ISA2."""
    threads = placed(
        [write("x"), write("y", 1, "release")],
        [read("r0", "y", "acquire"), write("z", 1, middle)],
        [read("r0", "z", "acquire"), read("r1", "x")],
    )
    assert reachable("P1:r0 == 1 /\\ P2:r0 == 1 /\\ P2:r1 == 0", *threads) is allowed


@pytest.mark.parametrize(("fence", "allowed"), [(SC, False), (ACQ_REL, True)])
def test_buffered_stores_in_a_ring(fence: str, allowed: bool) -> None:
    cells = "xyz"
    threads = placed(*([write(cells[i]), fence, read("r0", cells[(i + 1) % 3])] for i in range(3)))
    assert reachable("P0:r0 == 0 /\\ P1:r0 == 0 /\\ P2:r0 == 0", *threads) is allowed


def test_eight_sc_fences_are_ordered_where_it_matters() -> None:
    threads = placed(
        *(
            [write(own, value), SC, read("r0", other), SC, read("r1", own)]
            for own, other, value in (("x", "y", 1), ("x", "y", 2), ("y", "x", 1), ("y", "x", 2))
        )
    )
    assert not reachable(" /\\ ".join(f"P{n}:r0 == 0" for n in range(4)), *threads)
