"""``gpusafe check kernel.ptx``: from the command line to the verdict."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpusafe.cli import main
from tests.parse.ptx.test_verdicts import STORE_OWN
from tests.parse.ptx.texts import kernel


def _check(path: Path, *args: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, list[dict[str, str]]]]:
    status = main(["check", str(path), "--format", "json", "--ptx", "never", *args])
    return status, json.loads(capsys.readouterr().out)


def test_a_ptx_file_is_checked_and_accounted_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "k.ptx"
    file.write_text(kernel(STORE_OWN))
    status, report = _check(file, capsys=capsys)
    assert status == 0
    assert [(u["name"], u["verdict"]) for u in report["units"]] == [("k", "proved")]


def test_a_race_is_an_error_in_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "k.ptx"
    text = kernel(STORE_OWN.replace("mul.wide.s32 %rd3, %r4, 4", "mul.wide.s32 %rd3, %r3, 4"))
    file.write_text(text)
    status, report = _check(file, "--block", "64,1,1", "--grid", "2,1,1", capsys=capsys)
    (finding,) = report["findings"]
    wanted = next(n for n, line in enumerate(text.splitlines(), 1) if "st.global" in line)
    assert (status, finding["rule"], finding["line"]) == (1, "GS201", wanted)


def test_the_race_is_told_in_the_source_beside(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.cu").write_text("// one\n// two\n// three\n")
    file = tmp_path / "k.ptx"
    text = STORE_OWN.replace("mul.wide.s32 %rd3, %r4, 4", "mul.wide.s32 %rd3, %r3, 4")
    file.write_text(kernel("\n.loc 1 2 5\n" + text) + '.file 1 "a.cu"\n')
    _, report = _check(file, capsys=capsys)
    (finding,) = report["findings"]
    assert (Path(finding["file"]).name, finding["line"]) == ("a.cu", 2)


def test_what_is_no_ptx_is_unknown_with_the_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "k.ptx"
    file.write_text("\x7fELF not text")
    status, report = _check(file, capsys=capsys)
    assert status == 0
    assert [u["verdict"] for u in report["units"]] == ["unknown"]


def test_a_folder_does_not_read_its_ptx(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "k.ptx").write_text(kernel(STORE_OWN))
    _, report = _check(tmp_path, capsys=capsys)
    assert report["units"] == []


def test_a_condition_in_a_comment_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    product = STORE_OWN.replace("mul.wide.s32 %rd3, %r4, 4", "mul.lo.u32 %r9, %r4, %r5; mul.wide.u32 %rd3, %r9, 4")
    text = kernel(product.replace("setp.ge.s32 %p1, %r4, %r5; @%p1 bra E;", ""))
    file = tmp_path / "k.ptx"
    verdicts = []
    for made in (text, text.replace(".visible .entry", "// gpusafe: requires(n == 3)\n.visible .entry")):
        file.write_text(made)
        _, report = _check(file, capsys=capsys)
        verdicts += [u["verdict"] for u in report["units"]]
    assert verdicts == ["unknown", "proved"]
