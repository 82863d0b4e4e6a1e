"""Warps that walk a table together: votes and shuffles that all lanes reach, and what makes some of them miss one."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpusafe.app import check
from gpusafe.config import Options
from gpusafe.dataflow.terms import Terms
from gpusafe.dataflow.uniformity import BLOCK, THREAD, WARP, Uniformity, level_of_mark, marked
from gpusafe.ir.expr import I64, U32
from gpusafe.prove.budget import CHEAP, OVERDRAFT, Budget

PROGRAM = """use cudarc::driver::{{CudaContext, LaunchConfig, PushKernelArg}};
const SRC: &str = r#"
extern "C" __global__ void find(const int *table, const int *keys, int *out) {{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned lane = threadIdx.x % 32;
    unsigned warp = {warp};
    int key = keys[warp];
    unsigned p = key & 1023u;
    for (;;) {{
        int seen = table[p + lane];
        unsigned hits = __ballot_sync(0xffffffffu, seen == key);
        {walk}
        p = {next} & 1023u;
    }}
}}
"#;
fn main() -> Result<(), Box<dyn std::error::Error>> {{
    let ctx = CudaContext::new(0)?;
    let stream = ctx.default_stream();
    let k = ctx.load_module(cudarc::nvrtc::compile_ptx(SRC)?)?.load_function("find")?;
    let table = stream.alloc_zeros::<i32>(2048)?;
    let keys = stream.alloc_zeros::<i32>(1024)?;
    let mut out = stream.alloc_zeros::<i32>(1024)?;
    let cfg = LaunchConfig {{ grid_dim: (8, 1, 1), block_dim: (128, 1, 1), shared_mem_bytes: 0 }};
    unsafe {{ stream.launch_builder(&k).arg(&table).arg(&keys).arg(&mut out).launch(cfg)? }};
    Ok(())
}}
"""
WALK = """while (hits) {
            unsigned lead = __ffs(hits) - 1;
            int found = __shfl_sync(0xffffffffu, seen, lead);
            if (found == key) { if (lane == 0) out[warp] = found; return; }
            hits &= hits - 1;
        }"""


def verdict(folder: Path, walk: str = WALK, warp: str = "i / 32", following: str = "(p + 32)") -> str:
    (folder / "k.rs").write_text(PROGRAM.format(walk=walk, warp=warp, next=following))
    units = check(Options(paths=(str(folder),), ptx="never")).units
    return next(u.verdict.value for u in units if u.kind == "kernel")


def test_lanes_that_leave_together_all_reach_each_vote(tmp_path: Path) -> None:
    assert verdict(tmp_path) == "proved"


@pytest.mark.parametrize(
    "change",
    [
        {"warp": "i / 16"},  # half a warp has another key
        {"walk": WALK.replace("found == key", "found == key && lane > 3")},
        {"walk": "if (seen == key) { if (lane == 0) out[warp] = seen; return; }"},
        {"walk": WALK.replace("__shfl_sync(0xffffffffu, seen, lead)", "__shfl_sync(0xffffffffu, seen, lane ^ 1)")},
        {"following": "(p + 32 + lane)", "walk": WALK.replace("hits &=", "if (table[p] == 7) break; hits &=")},
    ],
)
def test_lanes_that_may_leave_alone_are_not_proved_to(tmp_path: Path, change: dict[str, str]) -> None:
    assert verdict(tmp_path, **change) != "proved"


def test_an_index_divided_by_the_warp_size_is_shared_by_the_warp_only_where_rows_are_whole_warps() -> None:
    terms = Terms()

    def level(width: int, divisor: int, offset: int) -> int:
        specials = {"ntid.x": terms.const(width, U32), "ntid.y": terms.const(2, U32), "ntid.z": terms.const(1, U32)}
        x = terms.make("special", U32, (), "tid.x")
        moved = terms.binary("+", x, terms.const(offset, U32))
        return Uniformity(specials, frozenset()).level(terms.binary("/", moved, terms.const(divisor, U32)))

    assert level(128, 32, 64) == WARP
    assert level(128, 16, 64) == THREAD
    assert level(128, 32, 8) == THREAD
    assert level(48, 32, 64) == THREAD


def test_the_number_of_a_last_iteration_is_the_threads_own_unless_marked() -> None:
    terms = Terms()
    levels = Uniformity({}, frozenset())
    for level in (BLOCK, WARP, THREAD):
        assert level_of_mark(marked("loop~exit", level)) == level
        assert levels.level(terms.make("iter", I64, (), marked("loop~exit", level))) == level


def test_an_empty_account_grants_only_cheap_queries_and_in_the_end_none() -> None:
    budget = Budget(100_000)
    assert budget.grant(1_000_000) == 100_000
    budget.charge(90_000)
    assert budget.grant(1_000_000) == CHEAP
    budget.charge(OVERDRAFT)
    assert budget.grant(1_000_000) == 0


def test_lanes_need_not_agree_on_which_of_them_are_active(tmp_path: Path) -> None:
    source = PROGRAM.replace("unsigned p = key & 1023u;", "{hole}")
    start, end = source.index("{hole}"), source.index('}}\n"#;')
    body = "if (__activemask() != 0xffffffffu) return; out[i] = __shfl_sync(0xffffffffu, key, 3);\n"
    (tmp_path / "k.rs").write_text((source[:start] + body + source[end:]).format(warp="i / 32"))
    units = check(Options(paths=(str(tmp_path),), ptx="never")).units
    assert next(u.verdict.value for u in units if u.kind == "kernel") != "proved"
