"""What paths mean: imports, renames, globs, other crates, associated items."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpusafe.parse.resolve import Foreign, Local, LocalModule, Resolved, Resolver
from gpusafe.parse.rust import ast
from gpusafe.parse.workspace import load

Write = dict[str, str]


def program(folder: Path, files: Write, crate: str | None = None) -> Resolver:
    """A resolver for the crate called ``crate`` (or the only one) of a program given as file texts."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    workspace = load([folder])
    crates = [c for c in (*workspace.crates, *workspace.libraries) if crate is None or c.name == crate]
    return Resolver(workspace, crates[0])


def one_file(folder: Path, text: str) -> Resolver:
    return program(folder, {"lone.rs": text})


def foreign(found: Resolved | None) -> tuple[str, ...]:
    assert isinstance(found, Foreign)
    return found.path


def local(found: Resolved | None) -> Local:
    assert isinstance(found, Local)
    return found


def test_an_import_gives_the_canonical_path(tmp_path: Path) -> None:
    r = one_file(tmp_path, "use cudarc::driver::{CudaStream, LaunchConfig as Cfg};")
    assert foreign(r.resolve((), ("CudaStream",))) == ("cudarc", "driver", "CudaStream")
    assert foreign(r.resolve((), ("Cfg", "for_num_elems"))) == ("cudarc", "driver", "LaunchConfig", "for_num_elems")


def test_a_module_import_reaches_what_is_in_it(tmp_path: Path) -> None:
    r = one_file(tmp_path, "use cudarc::{self, driver};")
    assert foreign(r.resolve((), ("driver", "CudaSlice"))) == ("cudarc", "driver", "CudaSlice")
    assert foreign(r.resolve((), ("cudarc", "nvrtc", "compile_ptx"))) == ("cudarc", "nvrtc", "compile_ptx")


def test_globs_give_candidates_and_say_that_they_guess(tmp_path: Path) -> None:
    r = one_file(tmp_path, "use cust::prelude::*; use cuda_std::*;")
    found = r.resolve((), ("Stream",))
    assert found == Foreign(
        ("cust", "prelude", "Stream"), (("cust", "prelude", "Stream"), ("cuda_std", "Stream")), certain=False
    )


def test_an_explicit_import_wins_over_globs(tmp_path: Path) -> None:
    r = one_file(tmp_path, "use cust::prelude::*; use cust::stream::Stream;")
    assert foreign(r.resolve((), ("Stream",))) == ("cust", "stream", "Stream")


def test_the_prelude_of_std_wins_over_foreign_globs(tmp_path: Path) -> None:
    r = one_file(tmp_path, "use cust::prelude::*;")
    assert foreign(r.resolve((), ("Vec", "new"))) == ("std", "vec", "Vec", "new")
    assert foreign(r.resolve((), ("core", "mem", "size_of"))) == ("std", "mem", "size_of")


def test_an_item_wins_over_the_prelude(tmp_path: Path) -> None:
    r = one_file(tmp_path, "use cust::prelude::*; struct Vec; fn f() {}")
    assert local(r.resolve((), ("Vec",))).item.name == "Vec"
    assert isinstance(local(r.resolve((), ("f",))).item, ast.Fn)


def test_super_and_crate_and_local_globs(tmp_path: Path) -> None:
    text = """
        use cudarc::driver::CudaStream;
        const N: usize = 3;
        mod a { use super::*; pub mod b { use crate::a::deep as d; pub fn here() {} } pub fn deep() {} }
    """
    r = one_file(tmp_path, text)
    assert local(r.resolve(("a",), ("N",))).path == ("N",)
    assert foreign(r.resolve(("a",), ("CudaStream",))) == ("cudarc", "driver", "CudaStream")
    assert local(r.resolve(("a", "b"), ("d",))).path == ("a", "deep")
    assert local(r.resolve(("a", "b"), ("super", "super", "a", "b", "here"))).path == ("a", "b", "here")
    assert r.resolve(("a",), ("b",), values=False) == LocalModule(r.crate.key, ("a", "b"))
    assert r.resolve((), ("super", "N")) is None


def test_imports_inside_a_function_come_first(tmp_path: Path) -> None:
    r = one_file(tmp_path, "use cust::stream::Stream; fn f() { use cuda_core::CudaStream as Stream; fn g() {} }")
    function = local(r.resolve((), ("f",))).item
    assert isinstance(function, ast.Fn) and function.body is not None
    scope = [stmt.item for stmt in function.body.stmts if isinstance(stmt, ast.ItemStmt)]
    assert foreign(r.resolve((), ("Stream",), scope)) == ("cuda_core", "CudaStream")
    assert local(r.resolve((), ("g",), scope)).item.name == "g"
    assert foreign(r.resolve((), ("Stream",))) == ("cust", "stream", "Stream")


def test_associated_functions_variants_and_aliases(tmp_path: Path) -> None:
    text = """
        use cust::prelude::*;
        mod m { pub struct S; impl S { pub fn new() {} pub const K: u32 = 4; } }
        mod n { pub struct S; impl S { pub fn other() {} } }
        use m::S; type T = n::S; enum E { A, B } use E::*; trait Run { fn run(); }
    """
    r = one_file(tmp_path, text)
    assert local(r.resolve((), ("S", "new"))).item.name == "new"
    assert local(r.resolve((), ("S", "K"))).owner is not None
    assert local(r.resolve((), ("S", "other"))).rest == ("other",)  # a method of the other S
    assert local(r.resolve((), ("T", "other"))).item.name == "other"
    variant = local(r.resolve((), ("E", "B"))).variant
    assert variant is not None and variant.name == "B"
    by_glob = local(r.resolve((), ("A",))).variant
    assert by_glob is not None and by_glob.name == "A"
    assert isinstance(local(r.resolve((), ("Run", "run"))).owner, ast.Trait)


def test_self_means_the_type_of_the_impl(tmp_path: Path) -> None:
    r = one_file(tmp_path, "use cust::prelude::*; struct S; impl S { const N: u32 = 1; fn f() {} }")
    (ref,) = r.impls_of("S")
    assert local(r.resolve((), ("Self", "N"), within=ref.impl)).item.name == "N"
    assert local(r.resolve((), ("Self",), within=ref.impl)).item.name == "S"


def test_methods_come_with_their_impl_inherent_first(tmp_path: Path) -> None:
    text = "use cust::prelude::*; struct S; impl Clone for S { fn go(&self) {} } impl S { fn go(&self) {} }"
    found = one_file(tmp_path, text).methods("S", "go")
    assert [m.owner.trait is None for m in found if isinstance(m.owner, ast.Impl)] == [True, False]


def test_crates_of_the_workspace_by_their_underscored_names(tmp_path: Path) -> None:
    files = {
        "app/Cargo.toml": '[package]\nname = "app"\n[dependencies]\nmy-kernels = { path = "../kernels" }\n'
        'cuda = { package = "cudarc", version = "0.16" }',
        "app/src/main.rs": "mod gpu; use my_kernels::tile::WIDTH; fn main() {}",
        "app/src/gpu.rs": "use my_kernels::CudaStream; use cuda::driver::CudaSlice; use app::thing;",
        "app/src/lib.rs": "pub fn thing() {}",
        "kernels/Cargo.toml": '[package]\nname = "my-kernels"',
        "kernels/src/lib.rs": "pub use cudarc::driver::CudaStream; pub mod tile { pub const WIDTH: usize = 8; }",
    }
    workspace = program(tmp_path, files).workspace
    main = next(crate for crate in workspace.crates if crate.kind == "bin")
    r = Resolver(workspace, main)
    assert local(r.resolve((), ("WIDTH",))).path == ("tile", "WIDTH")
    assert foreign(r.resolve(("gpu",), ("CudaStream",))) == ("cudarc", "driver", "CudaStream")
    assert foreign(r.resolve(("gpu",), ("CudaSlice",))) == ("cudarc", "driver", "CudaSlice")
    assert local(r.resolve(("gpu",), ("thing",))).item.name == "thing"


@pytest.mark.parametrize(
    "text", ["use a::b; mod a { pub use super::b; }", "mod a { pub use self::x as x; pub use super::a::*; }"]
)
def test_imports_in_circles_end(tmp_path: Path, text: str) -> None:
    r = one_file(tmp_path, f"use cust::prelude::Stream; {text}")
    assert r.resolve((), ("b",)) is None or isinstance(r.resolve((), ("b",)), Foreign)
    assert r.resolve(("a",), ("x",)) is None
