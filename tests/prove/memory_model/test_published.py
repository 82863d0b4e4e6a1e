"""The published corpus, where it lies beside the checkout."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpusafe.cli import main
from gpusafe.prove.memory_model import Model
from gpusafe.prove.memory_model.table import answer, questions, rows

CORPUS = Path(__file__).resolve().parents[4] / "shared" / "litmus"
MP = """PTX MP
{}
 P0@cta 0,gpu 0      | P1@cta 1,gpu 0       ;
 st.weak x, 1        | ld.acquire.gpu r0, f ;
 st.release.gpu f, 1 | ld.weak r1, x        ;
exists (P1:r0 == 1 /\\ P1:r1 == 0)
"""


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the published tests are not beside this checkout")
def test_all_published_answers() -> None:
    answers = [answer(q) for q in questions(CORPUS, Model.PTX_7_5)]
    assert answers
    assert [f"{a.question.name} {a.question.model} {a.verdict}" for a in answers if not a.agrees] == []


def test_a_folder_is_held_against_its_expected_results(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mp.litmus").write_text(MP)
    row = {"test": "mp.litmus", "model": "ptx-v7.5", "property": "program_spec", "expected_pass": 0}
    (tmp_path / "expected.json").write_text(json.dumps([row]))
    assert main(["litmus", str(tmp_path)]) == 0
    assert "1 of 1 as published" in capsys.readouterr().out
    (tmp_path / "expected.json").write_text(json.dumps([{**row, "expected_pass": 1}]))
    assert main(["litmus", str(tmp_path)]) == 1
    assert "NOT AS PUBLISHED" in capsys.readouterr().out


def test_one_file_is_decided_and_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mp.litmus"
    file.write_text(MP.replace("release", "relaxed"))
    assert main(["litmus", "--explain", str(file)]) == 0
    out = capsys.readouterr().out
    assert out.startswith("allowed") and "overwritten by" in out


def test_what_cannot_be_read_is_said_and_the_rest_decided(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bad.litmus").write_text("PTX bad\n{}\n P0@cta 0,gpu 0 ;\n frob ;\nexists (x == 1)")
    (tmp_path / "mp.litmus").write_text(MP)
    assert main(["litmus", str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert "unreadable" in out and "frob" in out and "forbidden" in out
    assert main(["litmus", str(tmp_path / "absent")]) == 2


def test_the_last_line_counts_what_was_decided(tmp_path: Path) -> None:
    (tmp_path / "mp.litmus").write_text(MP)
    answers = [answer(q) for q in questions(tmp_path, Model.PTX_6_0)]
    assert list(rows(answers, explain=False))[-1] == "1 of 1 decided"


def test_a_test_with_too_many_executions_is_undecided_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mp.litmus").write_text(MP)
    monkeypatch.setattr("gpusafe.prove.memory_model.search.CHOICES", 1)
    lines = list(rows([answer(q) for q in questions(tmp_path, Model.PTX_6_0)], explain=False))
    assert lines[0].startswith("undecided") and "too many candidate executions" in lines[0]
    assert lines[-1] == "0 of 1 decided"
