"""The classic litmus tests, each with the answer that the memory model is known to give."""

from __future__ import annotations

import pytest

from gpusafe.parse.litmus import read
from gpusafe.prove.memory_model import Model, decide, terminates

MODELS = (Model.PTX_6_0, Model.PTX_7_5)
SAME = "cta 0,gpu 0"
OTHER = "cta 1,gpu 0"
FAR = "cta 0,gpu 1"


def text(condition: str, *threads: tuple[str, list[str]], quantifier: str = "exists", state: str = "") -> str:
    height = max(len(code) for _, code in threads)
    rows = [" | ".join(f"P{n}@{place}" for n, (place, _) in enumerate(threads))]
    rows += [" | ".join(code[i] if i < len(code) else "" for _, code in threads) for i in range(height)]
    return f"PTX test\n{{{state}}}\n" + "".join(f"{row} ;\n" for row in rows) + f"{quantifier} ({condition})"


def reachable(condition: str, *threads: tuple[str, list[str]], state: str = "") -> bool:
    answers = {decide(read(text(condition, *threads, state=state)), model).reachable for model in MODELS}
    assert len(answers) == 1, "the two versions of the model differ"
    return answers.pop()


def message(write: list[str], read_: list[str], place: str = OTHER) -> bool:
    """Whether message passing can lose the message."""
    return reachable(
        "P1:r0 == 1 /\\ P1:r1 == 0",
        (SAME, ["st.weak x, 1", *write]),
        (place, [*read_, "ld.weak r1, x"]),
    )


STORE, LOAD = "st.relaxed.{0} f, 1", "ld.relaxed.{0} r0, f"
HANDS_OVER = {
    "release store, acquire load": (["st.release.{0} f, 1"], ["ld.acquire.{0} r0, f"], True),
    "fences round relaxed accesses": (["fence.acq_rel.{0}", STORE], [LOAD, "fence.acq_rel.{0}"], True),
    "a release and an acquire fence": (["fence.release.{0}", STORE], [LOAD, "fence.acquire.{0}"], True),
    "fences of the wrong kind": (["fence.acquire.{0}", STORE], [LOAD, "fence.release.{0}"], False),
    "sc fences": (["fence.sc.{0}", STORE], [LOAD, "fence.sc.{0}"], True),
    "no release": ([STORE], ["ld.acquire.{0} r0, f"], False),
    "no acquire": (["st.release.{0} f, 1"], [LOAD], False),
    "a weak flag": (["fence.acq_rel.{0}", "st.weak f, 1"], ["ld.weak r0, f", "fence.acq_rel.{0}"], False),
    "the fence after the flag": ([STORE, "fence.sc.{0}"], [LOAD, "fence.sc.{0}"], False),
    "an exchange and a compare-and-swap": (
        ["atom.release.{0}.exch r9, f, 1"],
        ["atom.acquire.{0}.cas r0, f, 1, 2"],
        True,
    ),
    "relaxed read-modify-writes": (["atom.relaxed.{0}.exch r9, f, 1"], ["atom.relaxed.{0}.add r0, f, 0"], False),
    "fenced read-modify-writes": (
        ["fence.acq_rel.{0}", "atom.relaxed.{0}.add r9, f, 1"],
        ["atom.relaxed.{0}.or r0, f, 0", "fence.acq_rel.{0}"],
        True,
    ),
    "a reduction releases": (["red.release.{0}.add f, 1"], ["ld.acquire.{0} r0, f"], True),
}


@pytest.mark.parametrize("how", HANDS_OVER)
@pytest.mark.parametrize(
    ("scope", "place", "wide"),
    [
        ("cta", SAME, True),
        ("cta", OTHER, False),
        ("gpu", OTHER, True),
        ("gpu", FAR, False),
        ("sys", FAR, True),
    ],
)
def test_message_passing(how: str, scope: str, place: str, wide: bool) -> None:
    write, read_, ordered = HANDS_OVER[how]
    lost = message([w.format(scope) for w in write], [r.format(scope) for r in read_], place)
    assert lost is not (ordered and wide)


def test_one_narrow_side_loses_the_message() -> None:
    assert message(["st.release.cta f, 1"], ["ld.acquire.gpu r0, f"])
    assert message(["st.release.gpu f, 1"], ["ld.acquire.cta r0, f"])


def test_a_barrier_hands_over_within_its_block() -> None:
    assert not reachable(
        "P1:r0 == 0", (SAME, ["st.weak x, 1", "bar.cta.sync 0"]), (SAME, ["bar.cta.sync 0", "ld.weak r0, x"])
    )


def test_a_barrier_hands_nothing_over_to_another_block() -> None:
    assert reachable(
        "P1:r0 == 0", (SAME, ["st.weak x, 1", "bar.cta.sync 0"]), (OTHER, ["bar.cta.sync 0", "ld.weak r0, x"])
    )


@pytest.mark.parametrize(
    ("fence", "place", "allowed"),
    [
        ("fence.sc.gpu", OTHER, False),
        ("fence.sc.cta", OTHER, True),
        ("fence.sc.cta", SAME, False),
        ("fence.acq_rel.gpu", OTHER, True),
    ],
)
def test_store_buffering_needs_sc_fences_that_reach(fence: str, place: str, allowed: bool) -> None:
    one, two = (
        ["st.relaxed.gpu x, 1", fence, "ld.relaxed.gpu r0, y"],
        ["st.relaxed.gpu y, 1", fence, "ld.relaxed.gpu r0, x"],
    )
    assert reachable("P0:r0 == 0 /\\ P1:r0 == 0", (SAME, one), (place, two)) is allowed


def test_load_buffering() -> None:
    def both(write: str, load: str) -> bool:
        one, two = [f"ld.{load}.gpu r0, x", f"st.{write}.gpu y, 1"], [f"ld.{load}.gpu r0, y", f"st.{write}.gpu x, 1"]
        return reachable("P0:r0 == 1 /\\ P1:r0 == 1", (SAME, one), (OTHER, two))

    assert both("relaxed", "relaxed")
    assert not both("release", "acquire")


def test_no_value_comes_out_of_thin_air() -> None:
    one, two = ["ld.weak r0, x", "st.weak y, r0"], ["ld.weak r0, y", "st.weak x, r0"]
    assert not reachable("P0:r0 == 42", (SAME, one), (OTHER, two))
    control = ["ld.weak r0, x", "bne r0, 1, LC00", "st.weak y, 1", "LC00:"]
    other = ["ld.weak r0, y", "bne r0, 1, LC10", "st.weak x, 1", "LC10:"]
    assert not reachable("P0:r0 == 1 /\\ P1:r0 == 1", (SAME, control), (OTHER, other))


@pytest.mark.parametrize(("fence", "allowed"), [("fence.acq_rel.gpu", True), ("fence.sc.gpu", False)])
def test_independent_readers_agree_only_with_sc_fences(fence: str, allowed: bool) -> None:
    assert (
        reachable(
            "P1:r0 == 1 /\\ P1:r1 == 0 /\\ P3:r0 == 1 /\\ P3:r1 == 0",
            (SAME, ["st.relaxed.gpu x, 1"]),
            (OTHER, ["ld.relaxed.gpu r0, x", fence, "ld.relaxed.gpu r1, y"]),
            ("cta 2,gpu 0", ["st.relaxed.gpu y, 1"]),
            ("cta 3,gpu 0", ["ld.relaxed.gpu r0, y", fence, "ld.relaxed.gpu r1, x"]),
        )
        is allowed
    )


@pytest.mark.parametrize(("order", "allowed"), [("relaxed.gpu", False), ("relaxed.cta", True), ("weak", True)])
def test_two_reads_of_one_cell_do_not_go_back_when_morally_strong(order: str, allowed: bool) -> None:
    one, two = [f"st.{order} x, 1"], [f"ld.{order} r0, x", f"ld.{order} r1, x"]
    assert reachable("P1:r0 == 1 /\\ P1:r1 == 0", (SAME, one), (OTHER, two)) is allowed


def test_writes_of_one_thread_stay_in_order() -> None:
    assert not reachable("x == 1", (SAME, ["st.weak x, 1", "st.weak x, 2"]))


@pytest.mark.parametrize(("fence", "allowed"), [("fence.acq_rel.gpu", True), ("fence.sc.gpu", False)])
def test_two_plus_two_writes(fence: str, allowed: bool) -> None:
    one = ["st.relaxed.gpu x, 1", fence, "st.relaxed.gpu y, 2"]
    two = ["st.relaxed.gpu y, 1", fence, "st.relaxed.gpu x, 2"]
    assert reachable("x == 1 /\\ y == 1", (SAME, one), (OTHER, two)) is allowed


@pytest.mark.parametrize(
    ("last", "middle", "allowed"), [("acquire", "gpu", False), ("relaxed", "gpu", True), ("acquire", "cta", True)]
)
def test_write_to_read_causality(last: str, middle: str, allowed: bool) -> None:
    assert (
        reachable(
            "P1:r0 == 1 /\\ P2:r0 == 1 /\\ P2:r1 == 0",
            (SAME, ["st.relaxed.gpu x, 1"]),
            (OTHER, ["ld.relaxed.gpu r0, x", f"st.release.{middle} y, 1"]),
            ("cta 2,gpu 0", [f"ld.{last}.gpu r0, y", "ld.relaxed.gpu r1, x"]),
        )
        is allowed
    )


@pytest.mark.parametrize(("middle", "allowed"), [("release", False), ("relaxed", True)])
def test_a_message_through_a_third_thread(middle: str, allowed: bool) -> None:
    assert (
        reachable(
            "P1:r0 == 1 /\\ P2:r0 == 1 /\\ P2:r1 == 0",
            (SAME, ["st.weak x, 1", "st.release.gpu y, 1"]),
            (OTHER, ["ld.acquire.gpu r0, y", f"st.{middle}.gpu z, 1"]),
            ("cta 2,gpu 0", ["ld.acquire.gpu r0, z", "ld.weak r1, x"]),
        )
        is allowed
    )


def test_a_release_sequence_goes_on_through_read_modify_writes_only() -> None:
    def lost(between: str) -> bool:
        return reachable(
            "P2:r0 == 2 /\\ P2:r1 == 0",
            (SAME, ["st.weak x, 1", "st.release.gpu f, 1"]),
            (OTHER, ["ld.relaxed.gpu r0, f", "bne r0, 1, LC10", between, "LC10:"]),
            ("cta 2,gpu 0", ["ld.acquire.gpu r0, f", "ld.weak r1, x"]),
        )

    assert not lost("atom.relaxed.gpu.add r2, f, 1")
    assert lost("st.relaxed.gpu f, 2")


def test_atomic_additions_lose_nothing_within_their_scope() -> None:
    def lost(scope: str) -> bool:
        add = [f"atom.relaxed.{scope}.add r0, x, 1"]
        return reachable("x != 2", (SAME, add), (OTHER, add))

    assert not lost("gpu")
    assert lost("cta")


def test_the_read_of_a_reduction_acquires_nothing() -> None:
    take = "{0} f, 1", "fence.acq_rel.gpu", "ld.weak r1, x"
    write = (SAME, ["st.weak x, 1", "st.release.gpu f, 1"])
    atom = (OTHER, ["atom.relaxed.gpu.add r0, f, 1", *take[1:]])
    red = (OTHER, ["red.relaxed.gpu.add f, 1", *take[1:]])
    assert not reachable("P1:r0 == 1 /\\ P1:r1 == 0", write, atom)
    assert reachable("f == 2 /\\ P1:r1 == 0", write, red)


SPIN = ["LC10:", "ld.relaxed.gpu r0, f", "bne r0, 1, LC10", "LC11:"]


def test_a_flag_that_is_set_ends_the_wait_and_one_that_is_not_does_not() -> None:
    waits = (SAME, SPIN)
    assert terminates(read(text("0 == 0", waits, (OTHER, ["st.relaxed.gpu f, 1"])))).passes
    assert not terminates(read(text("0 == 0", waits, (OTHER, ["st.relaxed.gpu f, 2"])))).passes
    assert not terminates(read(text("0 == 0", waits, (OTHER, ["st.relaxed.gpu f, 1", "st.relaxed.gpu f, 0"])))).passes


def test_a_lock_that_is_never_given_back_hangs() -> None:
    def take(n: int) -> list[str]:
        return [f"LC{n}0:", "atom.acquire.gpu.cas r0, m, 0, 1", f"bne r0, 0, LC{n}0"]

    give = "st.release.gpu m, 0"
    assert terminates(read(text("0 == 0", (SAME, [*take(1), give]), (OTHER, [*take(2), give])))).passes
    assert not terminates(read(text("0 == 0", (SAME, take(1)), (OTHER, [*take(2), give])))).passes


def test_a_barrier_that_not_enough_threads_reach_hangs() -> None:
    two = (SAME, ["bar.cta.sync 1, 1, 2"])
    assert terminates(read(text("0 == 0", two, two))).passes
    three = (SAME, ["bar.cta.sync 1, 1, 3"])
    assert not terminates(read(text("0 == 0", three, three))).passes
    arrive = (SAME, ["bar.cta.arrive 1, 1, 2"])
    assert terminates(read(text("0 == 0", two, arrive))).passes


def test_a_race_leaves_either_value() -> None:
    one, two = (SAME, ["st.weak x, 1"]), (OTHER, ["st.weak x, 2"])
    assert reachable("x == 1", one, two) and reachable("x == 2", one, two)
    assert not reachable("x == 0", one, two)


def test_a_texture_read_needs_its_proxy_fence() -> None:
    def stale(*fences: str) -> bool:
        code = ["st.weak x, 1", *fences, "tld.weak r0, t"]
        return decide(read(text("P0:r0 == 0", (SAME, code), state="x=0; t @ texture aliases x;"))).reachable

    assert stale()
    assert not stale("fence.proxy.texture")
    assert stale("fence.proxy.surface")


def test_forall_is_violated_by_one_execution_and_the_execution_is_shown() -> None:
    racy = (SAME, ["st.weak x, 1"]), (OTHER, ["ld.weak r0, x"])
    decision = decide(read(text("P1:r0 == 1", *racy, quantifier="forall")))
    assert not decision.passes and decision.execution is not None
    shown = "\n".join(decision.execution.lines())
    assert "reads from" in shown and "P1" in shown
