"""Barriers with state, bulk copies and clusters, from source to verdict: each program beside the one that is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpusafe.app import check
from gpusafe.config import Options

ROOT = Path(__file__).parents[3]


def verdict(folder: Path, source: str) -> tuple[str, set[str]]:
    """The kernel's verdict and the rules of its errors."""
    (folder / "k.rs").write_text(source)
    report = check(Options(paths=(str(folder),), ptx="never"))
    unit = next(u for u in report.units if u.kind == "kernel")
    return unit.verdict.value, {f.rule for f in report.findings if f.level.value == "error"}


def fixture(name: str) -> str:
    return (ROOT / "fixtures" / name).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "old", "new", "expected"),
    [
        ("ui/GS304/count_too_large.rs", ", 65)", ", 64)", ("proved", set())),
        ("ui/GS304/count_too_large.rs", ", 65)", ", 32)", ("refuted", {"GS202", "GS304"})),
        (
            "ui/GS303/stores_before_a_tensor_copy.rs",
            "        thread::sync_threads();",
            "        unsafe { fence_proxy_async_shared_cta() };\n        thread::sync_threads();",
            ("proved", set()),
        ),
        ("ui/GS303/stores_before_a_tensor_copy.rs", "        unsafe { TILE[tid] = 0 };", "", ("proved", set())),
        (
            "ui/GS306/owner_ends_first.rs",
            "        if let Some",
            "        cluster::cluster_sync();\n        if let Some",
            ("proved", set()),
        ),
        (
            "ui/GS305/tile_read_before_the_wait.rs",
            "let early = unsafe { TILE[tid] };",
            "let early = 0;",
            ("proved", set()),
        ),
        (
            "safe/mbarrier_counts_all_threads.rs",
            "&raw const FULL, 0)",
            "&raw const FULL, 1)",
            ("refuted", {"GS202", "GS304"}),
        ),
        (
            "safe/cluster_stays_until_read.rs",
            "cluster::cluster_sync();\n        let",
            "thread::sync_threads();\n        let",
            ("refuted", {"GS202", "GS306"}),
        ),
    ],
)
def test_one_change_decides(tmp_path: Path, name: str, old: str, new: str, expected: tuple[str, set[str]]) -> None:
    source = fixture(name)
    assert old in source
    assert verdict(tmp_path, source.replace(old, new, 1)) == expected


@pytest.mark.parametrize(
    "wait",
    [
        "let mut n = 0; while n < 9 && !mbarrier_try_wait_parity(&raw const FULL, 0) { n += 1; }",
        "loop { let _over = mbarrier_try_wait_parity(&raw const FULL, 0); break; }",
        "if !mbarrier_try_wait_parity(&raw const FULL, 0) { TILE[tid] = 0; }",
    ],
)
def test_a_test_that_may_fail_is_no_wait(tmp_path: Path, wait: str) -> None:
    source = fixture("safe/mbarrier_counts_all_threads.rs")
    old = "while !mbarrier_try_wait_parity(&raw const FULL, 0) {}"
    assert old in source
    assert verdict(tmp_path, source.replace(old, wait))[0] != "proved"


def test_arriving_again_at_every_turn_is_no_endless_wait(tmp_path: Path) -> None:
    source = fixture("safe/mbarrier_counts_all_threads.rs").replace("FULL, 64)", "FULL, 128)")
    again = source.replace("            mbarrier_arrive(&raw const FULL);\n", "").replace(
        "while !mbarrier", "while !{ mbarrier_arrive(&raw const FULL); mbarrier"
    )
    assert verdict(tmp_path, again.replace("FULL, 0) {}", "FULL, 0) } {}"))[0] == "unknown"
