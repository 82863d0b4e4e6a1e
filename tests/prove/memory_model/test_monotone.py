"""A stronger order, fence or scope never allows more."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from gpusafe.parse.litmus import read
from gpusafe.prove.memory_model import Model, decide

ORDERS = {"st": ("relaxed", "release"), "ld": ("relaxed", "acquire"), "atom": ("relaxed", "acq_rel")}
SCOPES = ("cta", "gpu", "sys")
FENCES = ("", "fence.acq_rel", "fence.sc")
PLACES = ("cta 0,gpu 0", "cta 1,gpu 0", "cta 0,gpu 1")
SHAPES = {
    "message": ((("st", "x"), ("st", "y")), (("ld", "y"), ("ld", "x"))),
    "store buffering": ((("st", "x"), ("ld", "y")), (("st", "y"), ("ld", "x"))),
    "load buffering": ((("ld", "x"), ("st", "y")), (("ld", "y"), ("st", "x"))),
    "exchanges": ((("atom", "x"), ("ld", "y")), (("atom", "y"), ("atom", "x"))),
}


def program(shape: str, places: tuple[str, str], levels: tuple[int, ...], outcome: tuple[int, int]) -> str:
    """The shape with each access and fence at a level: its order and its scope grow with it."""
    threads, at, registers = [], 0, []
    for number, accesses in enumerate(SHAPES[shape]):
        lines = []
        for position, (kind, cell) in enumerate(accesses):
            order, scope = ORDERS[kind][levels[at] // 3], SCOPES[levels[at] % 3]
            at += 1
            register = f"r{position}"
            match kind:
                case "st":
                    lines.append(f"st.{order}.{scope} {cell}, 1")
                case "ld":
                    lines.append(f"ld.{order}.{scope} {register}, {cell}")
                case _:
                    lines.append(f"atom.{order}.{scope}.exch {register}, {cell}, 1")
            if kind != "st":
                registers.append(f"P{number}:{register}")
            if position == 0:
                kind_of_fence = FENCES[levels[at] // 2]
                lines.append(f"{kind_of_fence}.{SCOPES[levels[at] % 2 + 1]}" if kind_of_fence else "")
                at += 1
        threads.append(lines)
    rows = [" | ".join(f"P{n}@{place}" for n, place in enumerate(places)), *map(" | ".join, zip(*threads, strict=True))]
    wanted = " /\\ ".join(f"{r} == {v}" for r, v in zip(registers, outcome, strict=False))
    return "PTX shape\n{}\n" + "".join(f"{row} ;\n" for row in rows) + f"exists ({wanted})"


def stronger(level: int, by: int, fence: bool) -> int:
    """A level that is at least as strong in order and in scope."""
    width = 2 if fence else 3
    top = (2, 1) if fence else (1, 2)
    order, scope = divmod(level, width)
    more_order, more_scope = divmod(by, 3)
    return min(order + more_order, top[0]) * width + min(scope + more_scope, top[1])


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(sorted(SHAPES)),
    st.tuples(st.sampled_from(PLACES), st.sampled_from(PLACES)),
    st.tuples(*[st.integers(0, 5)] * 6),
    st.tuples(*[st.integers(0, 5)] * 6),
    st.tuples(st.integers(0, 1), st.integers(0, 1)),
    st.sampled_from(Model),
)
def test_strengthening_never_allows_more(
    shape: str,
    places: tuple[str, str],
    levels: tuple[int, ...],
    by: tuple[int, ...],
    outcome: tuple[int, int],
    model: Model,
) -> None:
    strong = tuple(stronger(level, b, n in (1, 4)) for n, (level, b) in enumerate(zip(levels, by, strict=True)))
    if decide(read(program(shape, places, strong, outcome)), model).reachable:
        assert decide(read(program(shape, places, levels, outcome)), model).reachable
