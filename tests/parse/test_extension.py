"""Reading ``[[api]]`` tables: what is accepted, and how it is told what is wrong."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import pytest

from gpusafe.config import from_table
from gpusafe.errors import UsageError
from gpusafe.parse.dialects.extension import load_tables, read_tables
from gpusafe.parse.dialects.versions import covers, parse_range, uncovered
from gpusafe.parse.workspace import load

GOOD = """
[[api]]
crate = "my-gpu"
versions = ">=0.3, <0.5"
[api.types]
Queue = "stream"
GpuVec = "device"
[[api.call]]
name = "GpuVec.upload"
effect = "copy"
to = "self"
from = 0
stream = 1
"""


def test_a_good_table_is_taken_whole() -> None:
    (table,), notices = read_tables(GOOD, "gpusafe.toml")
    assert notices == []
    assert (table.crate, table.types, table.where) == (
        "my_gpu",
        {"Queue": "stream", "GpuVec": "device"},
        "gpusafe.toml:2",
    )
    (call,) = table.calls
    assert (call.owner, call.name, call.method, call.places["to"]) == ("GpuVec", "upload", True, ("self",))


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ('crate = "my-gpu"', "", 2, "needs `crate`"),
        ('">=0.3, <0.5"', '"^0.3"', 2, "`versions` must be comparisons"),
        ('Queue = "stream"', 'Queue = "queue"', 2, "type `Queue` must be one of stream"),
        ('effect = "copy"', 'effect = "move"', 8, "must be one of new-stream"),
        ("to = \"self\"\n", "", 8, "needs `to`"),
        ("stream = 1", "flags = 1", 8, "has no `flags`"),
        ("from = 0", "from = -1", 8, "must be the number of an argument"),
        ('"GpuVec.upload"', '"Other.upload"', 8, "is not among the table's `types`"),
        ('"GpuVec.upload"', '"a b"', 8, "is no name of a call"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_place_and_left_out(old: str, new: str, line: int, words: str) -> None:
    assert old in GOOD
    text = GOOD.replace(old, new) + GOOD
    tables, (notice,) = read_tables(text, "gpusafe.toml")
    assert notice.startswith(f"gpusafe.toml:{line}: ")
    assert words in notice
    assert sum(len(t.calls) for t in tables) == 1, "the good table stays"


def test_the_tables_that_come_with_gpusafe_are_right() -> None:
    folder = resources.files("gpusafe.parse.dialects").joinpath("extensions")
    names = [f.name.removesuffix(".toml") for f in folder.iterdir() if f.name.endswith(".toml")]
    tables, notices = load_tables([], names)
    assert notices == ()
    assert {t.crate for t in tables} == {"era_cudart", "tfhe"} == set(names)
    assert all(t.calls and t.source for t in tables)


@pytest.mark.parametrize(
    ("text", "version", "inside"),
    [
        ("", (9, 9), True),
        (">=0.9, <0.20", (0, 19, 4), True),
        (">=0.9, <0.20", (0, 20), False),
        ("=0.14", (0, 14, 7), True),
        ("=0.14", (0, 15), False),
        ("0.14.1", (0, 14, 2), False),
        (">0.14", (0, 14, 2), False),
        ("<=0.14", (0, 14, 2), True),
    ],
)
def test_version_ranges(text: str, version: tuple[int, ...], inside: bool) -> None:
    assert parse_range(text) is not None
    assert covers(text, version) is inside


def test_a_version_that_no_table_covers_is_told(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/main.rs").write_text("use cudarc::driver::CudaContext;\nfn main() {}\n")
    manifest = tmp_path / "Cargo.toml"
    manifest.write_text('[package]\nname = "a"\nversion = "0.1.0"\n[dependencies]\ncudarc = "0.31"\n')
    (notice,) = uncovered(load([tmp_path]))
    assert notice.startswith(f"{manifest}: no table covers cudarc 0.31 (known: >=0.9, <0.20)")
    manifest.write_text(manifest.read_text().replace("0.31", "0.19.4"))
    assert list(uncovered(load([tmp_path]))) == []


def test_tables_in_a_cargo_manifest_are_refused_in_words() -> None:
    with pytest.raises(UsageError, match=r"belong into a gpusafe\.toml"):
        from_table({"api": []}, "Cargo.toml [workspace.metadata.gpusafe]")
