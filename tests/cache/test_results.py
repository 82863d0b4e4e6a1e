"""Verdicts of earlier runs: the same as those of a fresh one, for whatever changed in between."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpusafe.app import check
from gpusafe.cache.store import FILE, Store
from gpusafe.cli import main
from gpusafe.config import Options
from gpusafe.results import Report

PROGRAM = """use cust::prelude::*;
mod kernels {
    use cuda_std::prelude::*;

    #[kernel]
    pub unsafe fn twice(x: *mut f32, n: usize) {
        let i = thread::index_1d() as usize;
        if i < n {
            *x.add(i) *= 2.0;
        }
    }
}

fn run(module: &Module, n: usize) -> Result<(), Box<dyn std::error::Error>> {
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
    let x = DeviceBuffer::<f32>::zeroed(64)?;
    unsafe { launch!(module.twice<<<1, 64, 0, stream>>>(x.as_device_ptr(), 64usize)) }?;
    stream.synchronize()?;
    Ok(())
}
"""
CHANGES = [
    ("*x.add(i)", "*x.add(i / 2)"),
    ("    stream.synchronize()?;\n", ""),
    ("<<<1, 64", "<<<2, 64"),
    ("64usize", "65usize"),
    ("zeroed(64)", "zeroed(32)"),
    ("if i < n {", "if i < n + 1 {"),
    ("\nfn run", "\n\n\nfn run"),
    ("twice", "thrice"),
]


def checked(file: Path, folder: Path | None) -> Report:
    return check(Options(paths=(file,), ptx="never", jobs=1, cache_dir=str(folder), no_cache=folder is None))


def said(report: Report) -> list[object]:
    units = [(u.kind, u.name, u.span, u.verdict, u.obligations, u.assumptions) for u in report.units]
    return [*units, report.findings]


def test_what_was_proved_before_is_not_proved_again(tmp_path: Path) -> None:
    file = tmp_path / "main.rs"
    file.write_text(PROGRAM, encoding="utf-8")
    cache = tmp_path / "cache"
    first = checked(file, cache)
    before = Store(cache).statistics()
    second = checked(file, cache)
    after = Store(cache).statistics()
    assert said(first) == said(second) == said(checked(file, None))
    assert before.entries == {"host": 1, "kernel": 1} == after.entries
    assert (before.hits, after.hits) == (0, 2)


@pytest.mark.parametrize(("old", "new"), CHANGES)
def test_what_changed_has_the_verdicts_of_a_fresh_run(tmp_path: Path, old: str, new: str) -> None:
    file, cache = tmp_path / "main.rs", tmp_path / "cache"
    assert old in PROGRAM
    for text in (PROGRAM, PROGRAM.replace(old, new), PROGRAM):
        file.write_text(text, encoding="utf-8")
        assert said(checked(file, cache)) == said(checked(file, None))


def test_a_damaged_file_costs_time_only(tmp_path: Path) -> None:
    file, cache = tmp_path / "main.rs", tmp_path / "cache"
    file.write_text(PROGRAM, encoding="utf-8")
    fresh = said(checked(file, cache))
    (cache / FILE).write_bytes(b"no database" * 1000)
    for left in ("-wal", "-shm"):
        (cache / (FILE + left)).unlink(missing_ok=True)
    report = checked(file, cache)
    assert said(report) == fresh
    assert any("was damaged" in notice for notice in report.notices)
    assert said(checked(file, cache)) == fresh
    assert Store(cache).statistics().entries == {"host": 1, "kernel": 1}


def test_a_place_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    file, cache = tmp_path / "main.rs", tmp_path / "cache"
    file.write_text(PROGRAM, encoding="utf-8")
    cache.write_text("a file where the folder should be", encoding="utf-8")
    report = checked(file, cache)
    assert said(report) == said(checked(file, None))
    assert any("is not used" in notice for notice in report.notices)


def test_the_command_shows_and_clears(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, cache = tmp_path / "main.rs", tmp_path / "cache"
    file.write_text(PROGRAM, encoding="utf-8")
    checked(file, cache)
    assert main(["cache", "--cache-dir", str(cache)]) == 0
    assert "1 of host units, 1 of kernel units" in capsys.readouterr().out
    assert main(["cache", "clear", "--cache-dir", str(cache)]) == 0
    assert "removed 2 verdicts" in capsys.readouterr().out
    assert Store(cache).statistics().entries == {}
