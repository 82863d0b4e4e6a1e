"""The examples of `gpusafe explain` are true: the racy one is found, and nothing is wrong with the other."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpusafe.app import check
from gpusafe.config import Options
from gpusafe.results import Finding, Level
from gpusafe.rules import RULES
from tests.rules.frames import FRAMES

NOT_RUN = {
    "GS301": "needs the memory model's scopes",
    "GS302": "needs the memory model's orders",
    "GS307": "needs a compiler",
    "GS308": "needs a compiler",
    "GS309": "needs the memory model's orders",
    "GS904": "depends on the solver's budget",
    **dict.fromkeys(("GS111", "GS401", "GS402", "GS403", "GS404"), "nothing asked it when this list was made"),
}
"""Checked rules whose examples are not run, and why. This list must only get shorter."""

CARGO = """[package]
name = "example"
[dependencies]
cudarc = "0.18"
cust = "0.3"
cuda_std = "0.2"
cuda-core = "0.2"
cuda-device = "0.2"
cuda-host = "0.2"
vendor = "1"
"""


def found(code: str, example: str, folder: Path) -> tuple[Finding, ...]:
    frame = FRAMES[code]
    name = "src/lib.rs" if "__global__ void __launch_bounds__" not in frame else "k.cu"
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(frame.replace("@@", example))
    (folder / "Cargo.toml").write_text(CARGO)
    return check(Options(paths=(str(folder),), ptx="never", jobs=1)).findings


@pytest.mark.parametrize("code", sorted(FRAMES))
def test_the_racy_example_has_the_fault_and_the_fixed_one_is_clean(code: str, tmp_path: Path) -> None:
    rule = RULES[code]
    assert code in {finding.rule for finding in found(code, rule.racy, tmp_path / "racy")}
    left = found(code, rule.fixed, tmp_path / "fixed")
    assert [f"{f.rule}: {f.message}" for f in left if f.rule == code or f.level is Level.ERROR] == []


def test_the_examples_of_all_checked_rules_are_run() -> None:
    checked = {rule.code for rule in RULES.values() if rule.checked}
    assert set(FRAMES) | set(NOT_RUN) >= checked
    assert not set(FRAMES) & set(NOT_RUN)
