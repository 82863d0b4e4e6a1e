"""What ``gpusafe coverage`` says of small programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gpusafe.cli import main

KERNELS = 'extern \\"C\\" __global__ void scale(float* x, int n) { int i = threadIdx.x; if (i < n) x[i] *= 2.0f; }'
HEAD = f"""
use cudarc::driver::*;
const SOURCE: &str = "{KERNELS}";
"""


def table(folder: Path, code: str, capsys: pytest.CaptureFixture[str], name: str = "main.rs") -> dict[str, Any]:
    (folder / name).write_text(code)
    assert main(["coverage", "--format", "json", str(folder)]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def cudarc(body: str) -> str:
    return HEAD + (
        "fn main() -> Result<(), DriverError> {\n"
        "    let ctx = CudaContext::new(0)?;\n    let stream = ctx.default_stream();\n"
        "    let module = ctx.load_module(cudarc::nvrtc::compile_ptx(SOURCE).unwrap())?;\n"
        '    let f = module.load_function("scale")?;\n'
        f"    let mut x = stream.alloc_zeros::<f32>(64)?;\n    let n = 64i32;\n{body}\n    Ok(())\n}}\n"
    )


CONFIG = "LaunchConfig { grid_dim: (1, 1, 1), block_dim: (64, 1, 1), shared_mem_bytes: 0 }"


def test_a_launch_whose_every_part_is_known_is_wholly_resolved(tmp_path, capsys):
    code = cudarc(f"    unsafe {{ stream.launch_builder(&f).arg(&mut x).arg(&n).launch({CONFIG})?; }}")
    found = table(tmp_path, code, capsys)
    assert found["files"] == {"analysed": 1, "no_gpu": 0, "syntax_error": 0, "skipped": 0}
    assert found["kernels"] == {"found": 1, "lowered": 1}
    assert set(found["launches"].values()) == {1}
    assert found["missing"] == []


def test_a_kernel_that_no_file_defines_is_told_with_its_name_and_place(tmp_path, capsys):
    code = cudarc(f"    unsafe {{ stream.launch_builder(&f).arg(&mut x).arg(&n).launch({CONFIG})?; }}")
    found = table(tmp_path, code.replace('load_function("scale")', 'load_function("shift")'), capsys)
    assert found["launches"]["found"] == 1
    assert found["launches"]["kernel_resolved"] == 0
    (missing,) = found["missing"]
    assert missing["count"] == 1
    assert "no kernel called `shift` is in sight" in missing["examples"][0]
    assert "main.rs:11:" in missing["examples"][0]


def test_a_launch_that_is_not_walked_is_counted_all_the_same(tmp_path, capsys):
    code = cudarc(f"    if false {{ return Ok(()); }} else {{ panic!() }}\n    unsafe {{ stream.launch_builder(&f)"
                  f".arg(&mut x).arg(&n).launch({CONFIG})?; }}")  # fmt: skip
    found = table(tmp_path, code, capsys)
    assert found["launches"]["found"] == 1
    assert found["launches"]["recognised"] == 0
    assert found["missing"][0]["reason"].startswith("launch: ")


def test_too_few_arguments_are_not_resolved(tmp_path, capsys):
    code = cudarc(f"    unsafe {{ stream.launch_builder(&f).arg(&mut x).launch({CONFIG})?; }}")
    found = table(tmp_path, code, capsys)
    assert found["launches"]["kernel_resolved"] == 1
    assert found["launches"]["arguments_resolved"] == 0


def test_a_method_called_launch_of_another_type_is_no_launch(tmp_path, capsys):
    code = cudarc("    let rocket = Rocket {};\n    rocket.launch(3);") + (
        "struct Rocket {}\nimpl Rocket { fn launch(&self, n: u32) {} }\n"
    )
    assert table(tmp_path, code, capsys)["launches"]["found"] == 0


def test_the_most_frequent_reason_comes_first(tmp_path, capsys):
    launch = f"    unsafe {{ stream.launch_builder(&f).arg(&mut x).arg(&n).launch({CONFIG})?; }}\n"
    other = launch.replace("&f", "&g")
    body = '    let g = module.load_function("shift")?;\n' + other * 2 + launch.replace(".arg(&n)", "")
    found = table(tmp_path, cudarc(body), capsys)
    assert [m["count"] for m in found["missing"]] == [2, 1]


def test_the_two_events_of_a_timed_launch_are_there(tmp_path, capsys):
    timed = (
        "    let mut b = stream.launch_builder(&f);\n"
        "    b.arg(&mut x).arg(&n).record_kernel_launch(sys::CUevent_flags::CU_EVENT_DEFAULT);\n"
        f"    let (start, end) = unsafe {{ b.launch({CONFIG}) }}?.unwrap();\n"
    )
    found = table(tmp_path, cudarc(timed * 2), capsys)
    assert found["launches"]["wholly_resolved"] == 2


def test_generated_launch_methods_and_macros_of_cuda_oxide_count(tmp_path, capsys):
    code = """
use cuda_core::{CudaContext, CudaStream, DeviceBuffer, LaunchConfig};
use cuda_device::{cuda_module, kernel, thread, DisjointSlice};
#[cuda_module]
mod kernels {
    use super::*;
    #[kernel]
    pub fn twice(mut out: DisjointSlice<f32>) {
        if let Some(o) = out.get_mut(thread::index_1d()) { *o = 2.0; }
    }
}
fn main() {
    let ctx = CudaContext::new(0).unwrap();
    let stream = ctx.new_stream().unwrap();
    let mut x = DeviceBuffer::<f32>::zeroed(&stream, 64).unwrap();
    let module = kernels::load(&ctx).unwrap();
    unsafe { module.twice(&stream, LaunchConfig::for_num_elems(64), &mut x).unwrap(); }
    stream.synchronize().unwrap();
}
"""
    found = table(tmp_path, code, capsys)
    assert found["kernels"] == {"found": 1, "lowered": 1}
    assert found["launches"]["found"] == found["launches"]["wholly_resolved"] == 1


def test_the_text_table_names_every_row_and_the_reasons(tmp_path, capsys):
    code = cudarc(f"    unsafe {{ stream.launch_builder(&f).arg(&mut x).launch({CONFIG})?; }}")
    (tmp_path / "main.rs").write_text(code)
    assert main(["coverage", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    for row in ("analysed", "lowered", "recognised", "kernel resolved", "stream resolved", "arguments resolved"):
        assert row in text
    assert "launch: the launch passes another number of arguments than its kernel has" in text
