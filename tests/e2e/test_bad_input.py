"""Input that is broken or hostile: a clear message, the rest analysed, no traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(not (ROOT / "gpusafe/app.py").exists(), reason="gpusafe.app is not there")

KERNEL = """use cuda_std::prelude::*;
#[kernel]
pub unsafe fn fill(out: *mut f32, n: usize) {
    let i = thread::index_1d() as usize;
    if i < n {
        *out.add(i) = 1.0;
    }
}
"""


@dataclass(frozen=True)
class Outcome:
    status: int
    document: Any
    err: str

    def file(self, name: str) -> str:
        """Status of the file whose path ends in ``name``."""
        return next(f["status"] for f in self.document["files"] if f["file"].endswith(name))

    def verdict(self, kernel: str) -> str:
        return next(u["verdict"] for u in self.document["units"] if u["name"].endswith(kernel))


def check(folder: Path, *paths: str, strict: bool = False) -> Outcome:
    """Runs gpusafe on ``paths`` inside of ``folder``."""
    command = [sys.executable, "-m", "gpusafe", "check", "--format", "json", "--ptx", "never"]
    command += ["--strict"] if strict else []
    done = subprocess.run(
        [*command, *paths],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert "Traceback" not in done.stderr
    assert "internal error" not in done.stderr
    return Outcome(done.returncode, json.loads(done.stdout) if done.stdout else None, done.stderr)


def crate(folder: Path, manifest: str = '[package]\nname = "a"\nversion = "0.1.0"\nedition = "2021"\n') -> Path:
    (folder / "src").mkdir()
    (folder / "Cargo.toml").write_text(manifest)
    (folder / "src/lib.rs").write_text("mod kernels;\n")
    (folder / "src/kernels.rs").write_text(KERNEL)
    return folder


def test_a_missing_path_is_named_and_the_other_ones_checked(tmp_path: Path) -> None:
    (tmp_path / "k.rs").write_text(KERNEL)
    outcome = check(tmp_path, "k.rs", "gone.rs")
    assert outcome.status == 2
    assert "error: no such file or folder: gone.rs" in outcome.err
    assert outcome.verdict("fill") == "proved"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file_is_skipped_with_the_reason(tmp_path: Path) -> None:
    crate(tmp_path)
    (tmp_path / "src/secret.rs").write_text(KERNEL)
    (tmp_path / "src/lib.rs").write_text("mod kernels;\nmod secret;\n")
    (tmp_path / "src/secret.rs").chmod(0)
    outcome = check(tmp_path, ".")
    assert outcome.status == 0
    assert outcome.file("secret.rs") == "skipped"


def test_invalid_utf8_costs_at_most_its_file(tmp_path: Path) -> None:
    crate(tmp_path)
    (tmp_path / "src/bytes.rs").write_bytes(b'// caf\xe9\nfn f() { let s = "\xff\xfe"; }\n')
    (tmp_path / "src/lib.rs").write_text("mod kernels;\nmod bytes;\n")
    outcome = check(tmp_path, ".")
    assert outcome.status == 0
    assert outcome.verdict("fill") == "proved"
    assert any(f["file"].endswith("bytes.rs") for f in outcome.document["files"])


def test_deep_nesting_costs_at_most_its_function(tmp_path: Path) -> None:
    deep = "fn deep() -> u32 { " + "(" * 50_000 + "1" + ")" * 50_000 + " }\n"
    (tmp_path / "k.rs").write_text(KERNEL + deep)
    outcome = check(tmp_path, "k.rs")
    assert outcome.status == 0
    assert outcome.verdict("fill") == "proved"


def test_deep_nesting_proves_no_race_free(tmp_path: Path) -> None:
    racy = KERNEL.replace("fill", "racy").replace("out.add(i)", "(" * 20_000 + "out" + ")" * 20_000)
    (tmp_path / "k.rs").write_text(KERNEL + racy.split("\n", 1)[1])
    outcome = check(tmp_path, "k.rs")
    assert outcome.verdict("fill") == "proved"
    assert outcome.verdict("racy") in ("refuted", "unknown")


@pytest.mark.parametrize("manifest", ["[package\nname = ", "\x00\x01"])
def test_a_manifest_that_does_not_parse_is_told_and_the_sources_are_read(tmp_path: Path, manifest: str) -> None:
    outcome = check(crate(tmp_path, manifest), ".")
    assert outcome.status in (0, 2)
    assert outcome.verdict("fill") == "proved"
    assert "Cargo.toml" in json.dumps([outcome.document["notices"], outcome.document["files"]]) + outcome.err


@pytest.mark.parametrize("manifest", ["", "[package]\nname = 3\n", "[workspace]\nmembers = 7\n", "package = 1\n"])
def test_a_manifest_with_odd_values_costs_no_sources(tmp_path: Path, manifest: str) -> None:
    assert check(crate(tmp_path, manifest), ".").verdict("fill") == "proved"


def test_a_cycle_of_modules_ends(tmp_path: Path) -> None:
    crate(tmp_path)
    (tmp_path / "src/kernels.rs").write_text(
        KERNEL + '#[path = "kernels.rs"]\nmod again;\n#[path = "lib.rs"]\nmod top;\n'
    )
    outcome = check(tmp_path, ".")
    assert outcome.status == 0
    assert outcome.verdict("fill") == "proved"


def test_a_missing_module_file_is_told(tmp_path: Path) -> None:
    crate(tmp_path)
    (tmp_path / "src/lib.rs").write_text("mod kernels;\nmod gone;\n")
    outcome = check(tmp_path, ".")
    assert outcome.status == 0
    assert "gone" in json.dumps([outcome.document["notices"], outcome.document["files"], outcome.document["findings"]])


def test_a_symlink_out_of_the_tree_is_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "k.rs").write_text(KERNEL.replace("fill", "foreign"))
    inside = tmp_path / "inside"
    inside.mkdir()
    crate(inside)
    (inside / "src/link").symlink_to(outside)
    (inside / "src/loop").symlink_to(inside)
    outcome = check(inside, ".")
    assert outcome.status == 0
    assert [u["name"] for u in outcome.document["units"] if u["name"].endswith("foreign")] == []


@pytest.mark.parametrize(
    "content", ["", "\ufeff", "#!/usr/bin/env run\n", "\r\n\r\n", "\x00" * 100, "}" * 100, '"', "/*", 'r#"']
)
def test_odd_files_are_accounted_for(tmp_path: Path, content: str) -> None:
    (tmp_path / "odd.rs").write_text(content)
    outcome = check(tmp_path, "odd.rs")
    assert outcome.status == 0
    assert outcome.file("odd.rs")


def test_a_folder_without_rust_says_so(tmp_path: Path) -> None:
    outcome = check(tmp_path, ".")
    assert outcome.status == 0
    assert outcome.document["units"] == []


def test_what_is_open_fails_under_strict_only(tmp_path: Path) -> None:
    (tmp_path / "k.rs").write_text(KERNEL.replace("out.add(i)", "out.add(helper_elsewhere(i))"))
    assert check(tmp_path, "k.rs").status == 0
    assert check(tmp_path, "k.rs", strict=True).status == 3
