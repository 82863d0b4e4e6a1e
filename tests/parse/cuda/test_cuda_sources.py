"""Finding the CUDA C of a workspace, and lowering all of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpusafe.ir import kernel as k
from gpusafe.parse.cuda import CudaModule, find_sources, lower_sources
from gpusafe.parse.workspace import load

CASES = Path(__file__).parents[4] / "shared" / "cases"


def _gaps(module: CudaModule) -> list[str]:
    out: list[str] = []
    todo: list[k.Stmt] = [s for kernel in module.kernels for s in kernel.body]
    while todo:
        stmt = todo.pop()
        match stmt:
            case k.Unmodelled(what=what):
                out.append(what)
            case k.If(then=then, orelse=orelse):
                todo += [*then, *orelse]
            case k.Block(body=body) | k.Loop(body=body):
                todo += body
            case _:
                pass
    return out


def test_constants_files_and_headers_are_found_once(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "Cargo.toml").write_text('[package]\nname = "x"\nversion = "0.1.0"\n[dependencies]\ncudarc = "0.18"\n')
    (tmp_path / "src" / "main.rs").write_text(
        'use cudarc::driver::CudaContext;\nconst SRC: &str = r#"\n__global__ void a(int *p) { p[0] = 1; }\n"#;\n'
        "fn main() {}\n"
    )
    (tmp_path / "k.cu").write_text('#include "inc/k.cuh"\n__global__ void b(int *p) { put(p); }\n')
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "k.cuh").write_text(
        "#pragma once\n__device__ void put(int *p) { p[1] = 2; }\n__global__ void c(int *p) {}\n"
    )
    workspace = load([tmp_path])
    assert [Path(s.origin).name for s in find_sources(workspace)] == ["k.cu", "SRC"]
    modules = dict(zip("fs", (m for _, m in lower_sources(workspace)), strict=True))
    assert {kernel.name for kernel in modules["f"].kernels} == {"b", "c"}
    assert [(kernel.name, kernel.span.line) for kernel in modules["s"].kernels] == [("a", 3)]
    (store,) = (s for kernel in modules["f"].kernels if kernel.name == "b" for s in kernel.body)
    assert (Path(store.span.file).name, store.span.line) == ("k.cuh", 2)
    assert [(Path(at.file).name, at.line) for at in store.calls] == [("k.cu", 2)]


@pytest.mark.skipif(not CASES.exists(), reason="the labelled cases are not here")
@pytest.mark.parametrize("folder", ["cudarc", "kernels"])
def test_all_kernels_of_the_labelled_cases_lower_completely(folder: str) -> None:
    seen = 0
    for case in sorted((CASES / folder).iterdir()):
        for source, module in lower_sources(load([case])):
            seen += len(module.kernels)
            assert module.kernels, source.file
            assert not module.errors
            assert not _gaps(module), source.file
    assert seen > 10
