"""Programs of several crates: what belongs to one of them is not taken for another's."""

from __future__ import annotations

from gpusafe.dataflow.host.execute import execute_units
from gpusafe.dataflow.host.program import SourceUnit
from gpusafe.ir.host import HostProgram, key_of
from gpusafe.parse.rust.build import parse_file
from tests.dataflow.host.walking import line


def program_of_crates(**crates: str) -> HostProgram:
    units = [SourceUnit(parse_file(f"{crate}/src/main.rs", text), crate) for crate, text in crates.items()]
    return execute_units(units, (), strict=True)


def test_the_api_of_a_gpu_crate_is_known_even_where_its_source_is_in_sight() -> None:
    program = program_of_crates(
        cuda_core=(
            "pub struct CudaContext; impl CudaContext { pub fn new(i: usize) -> Self { ffi(i) } "
            "pub fn default_stream(&self) -> CudaStream { ffi(0) } }"
        ),
        app=(
            "use cuda_core::{CudaContext, DeviceBuffer};\n"
            "fn main() { let c = CudaContext::new(0).unwrap(); let s = c.default_stream(); "
            "let a = DeviceBuffer::<u32>::zeroed(&s, 8).unwrap(); s.synchronize().unwrap(); }"
        ),
    )
    (path,) = [p for p in program.paths if p.root_span.file.startswith("app/")]
    assert [line(path, op).split()[0] for op in path.ops[:2]] == ["alloc", "the"]
    assert not program.gaps


def test_what_one_main_leaves_open_is_not_said_of_another() -> None:
    start = "use cudarc::driver::*;\nfn main() { let c = CudaContext::new(0).unwrap(); let s = c.default_stream(); "
    program = program_of_crates(
        clear=start + "let a = s.alloc_zeros::<f32>(4).unwrap(); }",
        murky=start + "let a = s.alloc_zeros::<f32>(4).unwrap(); vendor::sort(&a); }",
    )
    open_ends = {f.span.file: program.gaps.get(key_of(f.name, f.span)) for f in program.functions}
    assert open_ends["clear/src/main.rs"] is None
    assert open_ends["murky/src/main.rs"]
