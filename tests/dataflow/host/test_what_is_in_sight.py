"""Which items a path may lead to, and in which order the ways through a function are walked."""

from __future__ import annotations

from pathlib import Path

from gpusafe.app import _execute, _lower
from gpusafe.ir.host import HostProgram
from gpusafe.parse.workspace import load

HEAD = "use cudarc::driver::*;\n"


def program(folder: Path, files: dict[str, str]) -> HostProgram:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    workspace = load([folder])
    return _execute(workspace, _lower(workspace)[0])


def manifest(name: str) -> str:
    return f'[package]\nname = "{name}"\nversion = "0.1.0"\n[dependencies]\ncudarc = "0.19"\n'


def test_a_type_of_an_unrelated_crate_does_not_stand_for_a_handle(tmp_path: Path) -> None:
    files = {
        "a/Cargo.toml": manifest("a"),
        "a/src/main.rs": HEAD + "fn main() { run(&CudaContext::new(0).unwrap().default_stream()); }\n"
        "fn run(s: &CudaStream) { let x = s.alloc_zeros::<f32>(4).unwrap(); }\n",
        "b/Cargo.toml": manifest("b"),
        "b/src/main.rs": HEAD + "struct CudaContext {}\nimpl CudaContext { fn new(n: u32) -> Option<u32> { None } }\n"
        "fn main() {}\n",
    }
    found = program(tmp_path, files)
    assert any("alloc" in op.label for path in found.paths for op in path.ops)


def test_many_checks_that_leave_do_not_hide_the_end_of_the_function(tmp_path: Path) -> None:
    checks = "".join(f"    if unsafe {{ ask({i}) }} {{ std::process::exit({i}); }}\n" for i in range(200))
    text = HEAD + (
        "fn main() {\n    let s = CudaContext::new(0).unwrap().default_stream();\n"
        "    let x = s.alloc_zeros::<f32>(4).unwrap();\n"
        f'{checks}    let y = s.clone_dtoh(&x).unwrap();\n}}\nextern "C" {{ fn ask(i: i32) -> bool; }}\n'
    )
    found = program(tmp_path, {"main.rs": text})
    assert any("download" in op.label for path in found.paths for op in path.ops)


CONST = 'const SOURCE: &str = "extern \\"C\\" __global__ void kernel(float* x) { x[threadIdx.x] = 1.0f; }";\n'


def test_kernels_of_one_name_are_told_apart_by_the_literal_that_is_compiled(tmp_path: Path) -> None:
    body = (
        "    let ptx = cudarc::nvrtc::compile_ptx(SOURCE).unwrap();\n"
        '    let f = ctx.load_module(ptx).unwrap().load_function("kernel").unwrap();\n'
        "    unsafe { s.launch_builder(&f).arg(&mut x).launch(LaunchConfig::for_num_elems(4)) }.unwrap();\n"
    )
    text = (
        HEAD
        + CONST
        + CONST.replace("SOURCE", "OTHER").replace("1.0f", "2.0f")
        + (
            "fn main() {\n    let ctx = CudaContext::new(0).unwrap();\n    let s = ctx.default_stream();\n"
            f"    let mut x = s.alloc_zeros::<f32>(1024).unwrap();\n{body}{body.replace('SOURCE', 'OTHER')}}}\n"
        )
    )
    found = program(tmp_path, {"main.rs": text})
    assert [launch.kernel is not None and launch.kernel.rsplit(":", 1)[1] for launch in found.launches] == ["2", "3"]
