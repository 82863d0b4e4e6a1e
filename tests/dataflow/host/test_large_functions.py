"""Functions with thousands of operations, and programs that use up the steps of the walk."""

from __future__ import annotations

from gpusafe.dataflow.host import explore
from gpusafe.dataflow.host.program import SourceUnit, build_program
from gpusafe.ir.host import Enqueue, Gap
from gpusafe.parse.rust.build import parse_file
from tests.dataflow.host.walking import CUDARC, main_paths


def test_two_thousand_operations_on_sixteen_streams_are_walked_to_the_end() -> None:
    made = "".join(
        f"let s{i} = ctx.new_stream().unwrap(); let mut b{i} = s{i}.alloc_zeros::<u8>(64).unwrap();" for i in range(16)
    )
    work = "".join(f"s{k % 16}.memset_zeros(&mut b{k % 16}).unwrap();\n" for k in range(2000))
    (path,) = main_paths(CUDARC + f"fn main() {{ let ctx = CudaContext::new(0).unwrap(); {made} {work} }}")
    assert path.complete
    assert (
        sum(isinstance(op, Enqueue) and op.what == "memset" and op.label.startswith("memset") for op in path.ops)
        >= 2000
    )


BRANCHES = "if wants(%d) { s.synchronize().unwrap(); }" * 8


def _explored(steps_left: int) -> explore.Explored:
    """`main`, which calls `forks`, when that has been walked and so many steps are left."""
    body = BRANCHES % tuple(range(8))
    text = f"{CUDARC} fn forks(s: &CudaStream) {{ {body} }} fn main(s: &CudaStream) {{ forks(s); }}"
    program = build_program([SourceUnit(parse_file("main.rs", text))], ())
    program.gpu_names = frozenset(["forks", "main"])
    forks, main = program.functions
    explore.explore(program, forks)
    program.steps_left = steps_left
    return explore.explore(program, main)


def _too_many(explored: explore.Explored) -> list[str]:
    return [op.reason for p in explored.paths for op in p.ops if isinstance(op, Gap) and "too many" in op.reason]


def test_a_program_that_has_used_up_its_steps_does_not_follow_calls_with_many_paths() -> None:
    explored = _explored(0)
    assert [p.complete for p in explored.paths] == [False]
    assert _too_many(explored) == ["the call of `forks` is not followed: it has too many paths"]


def test_a_program_with_steps_left_follows_them_all() -> None:
    explored = _explored(100_000)
    assert not _too_many(explored)
    assert len(explored.paths) >= 64
