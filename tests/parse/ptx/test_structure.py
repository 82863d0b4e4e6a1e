"""Structured code does what the control flow graph does."""

from __future__ import annotations

import random

import pytest

from gpusafe.ir import kernel as k
from tests.parse.ptx.texts import gaps, kernel, lowered, statements


def _program(seed: int) -> tuple[str, int]:
    """Blocks that end in random branches on the bits of a register; jumps back lead to earlier blocks."""
    rng = random.Random(seed)
    count = rng.randint(3, 9)
    lines = []
    for b in range(count):
        lines.append(
            f"L{b}: mul.lo.u32 %r2, %r2, 31; add.u32 %r2, %r2, {b + 1}; shr.u32 %r3, %r2, {rng.randint(0, 9)};"
        )
        lines.append("and.b32 %r3, %r3, 1; setp.eq.u32 %p1, %r3, 1; add.u32 %r5, %r5, 1; setp.gt.u32 %p2, %r5, 40;")
        lines.append("@%p2 bra OUT;")
        kind = rng.random()
        target = rng.randint(0, count - 1) if rng.random() < 0.3 else rng.randint(min(b + 1, count - 1), count - 1)
        if kind < 0.6:
            lines.append(f"@{'!' if rng.random() < 0.5 else ''}%p1 bra L{target};")
        elif kind < 0.75:
            lines.append(f"bra.uni L{max(target, b)};" if target > b else "")
        elif kind < 0.85:
            lines.append("@%p1 ret;")
    return "mov.u32 %r2, 1; mov.u32 %r5, 0;\n" + "\n".join(lines) + "\nOUT: st.global.u32 [%rd1], %r2;", count


def _run_graph(text: str) -> tuple[int, int, bool]:
    """Runs flat code: registers %r2 and %r5 at the end, and whether the store was reached."""
    from gpusafe.parse.ptx import read

    function = read(kernel("ld.param.u64 %rd1, [out];" + text)).functions[0]
    assert function.body is not None
    at, r, p = 0, {"%r2": 0, "%r3": 0, "%r5": 0}, {"%p1": False, "%p2": False}
    while True:
        i = function.body[at]
        at += 1
        if i.guard is not None and p[i.guard] == i.negated:
            continue
        a = [r.get(o, int(o) if o.isdigit() else 0) for o in i.operands]
        match i.words[0]:
            case "mov":
                r[i.operands[0]] = a[1]
            case "mul" | "add" | "shr" | "and":
                f = {"mul": lambda x, y: x * y, "add": lambda x, y: x + y, "shr": lambda x, y: x >> y}
                r[i.operands[0]] = f.get(i.words[0], lambda x, y: x & y)(a[1], a[2]) & 0xFFFFFFFF
            case "setp":
                p[i.operands[0]] = a[1] == a[2] if i.words[1] == "eq" else a[1] > a[2]
            case "bra":
                at = function.labels[i.operands[0]]
            case "st":
                return r["%r2"], r["%r5"], True
            case "ret":
                return r["%r2"], r["%r5"], False


def _run_structure(made: k.Kernel) -> tuple[int, int, bool]:
    from gpusafe.dataflow.concrete.evaluate import compile_expr

    env: dict[str, object] = {}
    stored = False

    def block(body: tuple[k.Stmt, ...]) -> k.Stmt | None:
        nonlocal stored
        for stmt in body:
            leaving: k.Stmt | None = None
            match stmt:
                case k.Assign(var=var, value=value) if not var.startswith("%rd"):
                    env[var] = compile_expr(value)(env)
                case k.If(cond=cond, then=then, orelse=orelse):
                    leaving = block(then if compile_expr(cond)(env) else orelse)
                case k.Block(label=label, body=inner):
                    leaving = block(inner)
                    if isinstance(leaving, k.Break) and leaving.label == label:
                        leaving = None
                case k.Loop(label=label, body=inner):
                    while leaving is None or (isinstance(leaving, k.Continue) and leaving.label == label):
                        leaving = block(inner)
                    if isinstance(leaving, k.Break) and leaving.label == label:
                        leaving = None
                case k.Store():
                    stored = True
                case k.Break() | k.Continue() | k.Return():
                    leaving = stmt
            if leaving is not None:
                return leaving
        return None

    block(made.body)
    return int(env["%r2"]), int(env["%r5"]), stored  # type: ignore[call-overload]


def test_random_control_flow_keeps_its_meaning() -> None:
    structured = 0
    for seed in range(250):
        text, _ = _program(seed)
        whole = kernel("ld.param.u64 %rd1, [out];" + text)
        if gaps(whole):
            assert "irreducible" in gaps(whole)[0]
            continue
        structured += 1
        assert _run_structure(lowered(whole)) == _run_graph(text), seed
    assert structured > 60


def test_irreducible_control_flow_is_unknown_with_the_reason() -> None:
    text = kernel("setp.eq.u32 %p1, %r1, 0; @%p1 bra B; A: add.u32 %r1, %r1, 1; B: add.u32 %r1, %r1, 2; bra A;")
    assert "irreducible" in gaps(text)[0]


def test_what_follows_a_loop_stands_behind_it() -> None:
    made = lowered(
        kernel("""ld.param.u64 %rd1, [out]; mov.u32 %r1, 0;
        TOP: bar.sync 0; add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 9; @%p1 bra TOP;
        st.global.u32 [%rd1], %r1;""")
    )
    (loop,) = [s for s in made.body if isinstance(s, k.Loop)]
    assert not any(isinstance(s, k.Store) for s in statements(loop.body))
    assert any(isinstance(s, k.Store) for s in made.body)


def test_a_guard_becomes_one_branch() -> None:
    made = lowered(
        kernel("ld.param.u64 %rd1, [out]; setp.eq.u32 %p1, %r1, 0; @%p1 bra E; st.global.u32 [%rd1], %r1; E:")
    )
    assert not [s for s in statements(made.body) if isinstance(s, k.Block | k.Break)]


@pytest.mark.parametrize("depth", [30, 3000])
def test_long_chains_of_branches_do_not_nest(depth: int) -> None:
    text = "".join(f"setp.eq.u32 %p1, %r1, {n}; @%p1 bra L{n}; add.u32 %r2, %r2, 1; L{n}:\n" for n in range(depth))
    assert not gaps(kernel(text))


def test_a_branch_through_a_table_goes_to_each_target() -> None:
    made = lowered(
        kernel("""ld.param.u64 %rd1, [out]; ts: .branchtargets A, B, C; mov.u32 %r1, %tid.x; brx.idx %r1, ts;
        A: st.global.u32 [%rd1], 1; bra E; B: st.global.u32 [%rd1+4], 2; bra E; C: st.global.u32 [%rd1+8], 3; E:""")
    )
    assert len([s for s in statements(made.body) if isinstance(s, k.Store)]) == 3


def test_a_loop_behind_a_check_is_left_by_its_own_label() -> None:
    made = lowered(
        kernel("""ld.param.u64 %rd1, [out]; ld.param.u32 %r9, [n]; setp.eq.u32 %p2, %r9, 0; @%p2 bra E; mov.u32 %r1, 0;
        TOP: red.global.add.u32 [%rd1], 1; add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, %r9; @%p1 bra TOP;
        E: bar.sync 0;""")
    )
    loops = [s for s in statements(made.body) if isinstance(s, k.Loop)]
    assert {s.label for s in statements(loops[0].body) if isinstance(s, k.Break)} == {loops[0].label}
    assert not [s for s in statements(made.body) if isinstance(s, k.Block)]
