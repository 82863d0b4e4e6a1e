"""The shape of the code: layers, sizes, names."""

from __future__ import annotations

import ast
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "gpusafe").rglob("*.py"))
TABLES = ("parse/dialects/", "parse/rust/ast.py")
"""Data, whose files may be long."""


def name(path: Path) -> str:
    return path.relative_to(ROOT / "gpusafe").as_posix()


def test_imports_run_downwards_only() -> None:
    tool = Path(sys.executable).with_name("lint-imports")
    if not tool.exists():
        pytest.skip("import-linter is not installed")
    done = subprocess.run([tool, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_only_the_prover_imports_the_solver() -> None:
    guilty = []
    for path in FILES:
        if name(path).startswith("prove/"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            guilty += [name(path) for n in names if n.split(".")[0] == "z3"]
    assert guilty == []


def test_files_can_be_read_in_one_go() -> None:
    lengths = {name(p): len(p.read_text(encoding="utf-8").splitlines()) for p in FILES}
    assert {n: length for n, length in lengths.items() if length > 600 and not n.startswith(TABLES)} == {}
    assert statistics.median(lengths.values()) <= 150


def test_no_room_is_called_miscellaneous() -> None:
    parts = {part for p in FILES for part in p.relative_to(ROOT).with_suffix("").parts}
    assert parts.isdisjoint({"utils", "util", "helpers", "helper", "common", "manager", "misc"})


def test_every_module_says_what_it_is() -> None:
    assert [name(p) for p in FILES if not ast.get_docstring(ast.parse(p.read_text(encoding="utf-8")))] == []
