"""Input made to break the parser ends quickly, with what is whole still there."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpusafe.parse.rust import ast
from gpusafe.parse.rust.build import parse_file
from gpusafe.parse.workspace import load

N = 50_000

NESTED = {
    "parentheses": f"{'(' * N}1{')' * N}",
    "blocks": "{" * N + "}" * N,
    "negations": "-" * N + "1",
    "sums": "1" + "+1" * N,
    "sums in parentheses": "(1+" * N + "1" + ")" * N,
    "method calls": "x" + ".m()" * N,
    "indices": "x" + "[0]" * N,
    "question marks": "x" + "?" * N,
    "casts": "x" + " as u8" * N,
    "assignments": "x" + "=x" * N,
    "closures": "|x| " * N + "1",
    "else ifs": "if a {} " + "else if b {}" * N,
    "patterns": f"let {'(' * N}x{')' * N} = 1;",
    "alternatives": f"match x {{ {'A|' * N}B => 1 }}",
    "paths": "x" + "::m" * N,
    "macro tokens": f"m!({'(' * N}{')' * N});",
    "nested functions": "fn a() {" * 5000 + "}" * 5000,
}


@pytest.mark.parametrize("name", NESTED)
def test_deep_nesting_costs_one_function(name: str) -> None:
    file = parse_file("x.rs", f"fn a() {{ {NESTED[name]} }}\nfn b() {{ 1 }}")
    a, b = file.items
    assert isinstance(a, ast.Fn) and (a.body is not None) == (a.problem is None)
    assert isinstance(b, ast.Fn) and b.body is not None and b.problem is None


UNCLOSED = ["(" * N, "{" * N, "[" * N, "x.y(" * N, "m!(" * N, "|" * N, '"', "/*" * N, "'" * N, "} ) ] " * N, "\0" * N]


@pytest.mark.parametrize("text", UNCLOSED, ids=lambda text: text[:6].replace("\0", "nul"))
def test_unclosed_nesting_is_an_error_and_the_next_function_is_found(text: str) -> None:
    file = parse_file("x.rs", f"fn a() {{ {text}\nfn b() {{ 1 }}\n")
    assert file.errors
    assert any(item.name == "b" for item in file.items)


ITEMS = {
    "type in a signature": f"fn a(x: {'&' * N}u8) {{}}",
    "arrays": f"type A = {'[' * N}u8{';1]' * N};",
    "generics": f"type A = {'A<' * N}u8{'>' * N};",
    "modules": "mod a {" * 5000 + "}" * 5000,
    "imports": "use " + "a::{" * 5000 + "x" + "}" * 5000 + ";",
    "attributes": "#[a]" * 20_000,
    "conditions": "#[cfg(" + "not(" * N + "a" + ")" * N + ")]",
    "qualifiers": "const " * N + "fn a() {}",
    "a long line": f'const A: &str = "{"y" * 4_000_000}";',
    "a long line of wide characters": f'const A: &str = "{"é" * 1_000_000}";',
}


@pytest.mark.parametrize("name", ITEMS)
def test_hostile_items_leave_the_next_one_whole(name: str) -> None:
    file = parse_file("x.rs", f"{ITEMS[name]}\nfn b() {{ 1 }}")
    b = file.items[-1]
    assert isinstance(b, ast.Fn) and b.name == "b" and b.body is not None


def test_a_hundred_thousand_items() -> None:
    file = parse_file("x.rs", "fn a() {}\n" * 100_000)
    assert len(file.items) == 100_000 and file.items[-1].span.line == 100_000


def test_thousands_of_broken_functions() -> None:
    file = parse_file("x.rs", "fn a() { ( \n" * 2000 + "fn b() {}")
    assert sum(isinstance(item, ast.Fn) and item.problem is not None for item in file.items) >= 2000
    assert 0 < len(file.errors) <= 20


def test_a_lone_surrogate_in_the_text() -> None:
    assert parse_file("x.rs", 'fn b() { "\ud800" }').items[0].name == "b"


def test_module_trees_that_multiply_end(tmp_path: Path) -> None:
    for i in range(30):
        (tmp_path / f"m{i}.rs").write_text(f'#[path = "m{i + 1}.rs"] mod a; #[path = "m{i + 1}.rs"] mod b;')
    (tmp_path / "m30.rs").write_text("use cudarc::driver::CudaStream;")
    workspace = load([tmp_path / "m0.rs"])
    assert any("modules; the rest is left out" in notice for notice in workspace.notices)


def test_folders_that_lead_back_to_themselves(tmp_path: Path) -> None:
    (tmp_path / "lib.rs").write_text("use cudarc::driver::CudaStream; mod again;")
    (tmp_path / "again").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "mod.rs").write_text("mod again;")
    assert load([tmp_path]).crates


HOSTILE = Path(__file__).parents[2] / "fixtures" / "hostile"


@pytest.mark.parametrize("folder", sorted(p.name for p in HOSTILE.iterdir()) if HOSTILE.is_dir() else [])
def test_hostile_fixtures_load_with_every_file_accounted_for(folder: str) -> None:
    workspace = load([HOSTILE / folder])
    present = {str(path) for path in (HOSTILE / folder).rglob("*") if path.suffix in (".rs", ".cu")}
    manifests = {r.path for r in workspace.files if r.path.endswith("Cargo.toml")}  # those that cannot be read
    assert {record.path for record in workspace.files} - manifests == present
    assert manifests or folder != "bad_manifest"
