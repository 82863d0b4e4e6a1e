"""What is kept on disk between runs."""

from __future__ import annotations

from pathlib import Path

from gpusafe.codegen_check.kept import Kept, key_of


def test_what_was_put_is_there_and_nothing_else(tmp_path: Path) -> None:
    kept = Kept(tmp_path / "new" / "folder")
    assert kept.get("a") is None
    kept.put("a", "text")
    assert kept.get("a") == "text"
    assert [p.name for p in kept.folder.iterdir()] == ["a"] if kept.folder else False


def test_a_folder_that_cannot_be_used_is_as_if_empty(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    kept = Kept(tmp_path / "file" / "below")
    kept.put("a", "text")
    assert kept.get("a") is None


def test_the_division_of_texts_is_part_of_the_key() -> None:
    assert key_of("ab", "c") != key_of("a", "bc")
