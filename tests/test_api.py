"""gpusafe as a library."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import gpusafe
from gpusafe import entry_points
from gpusafe.cli import main
from gpusafe.parse.dialects.extension import load_tables
from gpusafe.rules.catalogue import codes
from gpusafe.rules.package_rule import package_rules
from tests.cli.programs import RACY, SAFE


@pytest.fixture
def racy(tmp_path: Path) -> Path:
    (tmp_path / "a.cu").write_text(RACY)
    return tmp_path


def test_a_path_gives_a_report(racy: Path) -> None:
    report = gpusafe.check(racy / "a.cu")
    (finding,) = report.findings
    assert (finding.rule, finding.level, finding.primary.span.line) == ("GS201", gpusafe.Level.ERROR, 2)
    assert [unit.verdict for unit in report.units] == [gpusafe.Verdict.REFUTED]
    assert gpusafe.exit_status(report) == 1
    assert gpusafe.exit_status(report, fail_on="never") == 0
    assert json.loads(gpusafe.render(report, "json"))["units"]


def test_settings_count_unless_they_are_left_out(racy: Path) -> None:
    (racy / "gpusafe.toml").write_text('ignore = ["GS201"]\n')
    assert gpusafe.check(racy).findings == ()
    assert len(gpusafe.check(racy, use_config=False).findings) == 1
    assert len(gpusafe.check(racy, ignore=[]).findings) == 1
    assert gpusafe.check(racy, use_config=False, lints={"GS2": "warn"}).findings[0].level is gpusafe.Level.WARNING


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"colour": True}, "there is no option `colour`"),
        ({"ptx": "sometimes"}, "`ptx` must be one of auto, always, never"),
        ({"select": ["GS999"]}, "there is no rule `GS999`"),
    ],
)
def test_what_is_wrong_is_a_usage_error(racy: Path, given: dict[str, object], message: str) -> None:
    with pytest.raises(gpusafe.UsageError, match=message):
        gpusafe.check(racy, **given)


def test_a_path_that_is_not_there_is_a_usage_error() -> None:
    with pytest.raises(gpusafe.UsageError, match="no such file or folder: no/such"):
        gpusafe.check("no/such")


def test_all_that_is_promised_is_there() -> None:
    for name in gpusafe.__all__:
        assert getattr(gpusafe, name) is not None
    assert not hasattr(gpusafe, "chekc")
    assert (Path(gpusafe.__file__).parent / "py.typed").is_file()


RULE = """
from gpusafe import Finding, Level, Site
from gpusafe.rules import PackageRule, Rule

def _check(facts):
    for kernel in facts.kernels:
        if kernel.name.startswith("s"):
            yield Finding("ACME101", Level.ERROR, f"`{kernel.name}` begins with an s", Site(kernel.span, "here"))
    yield Finding("GS101", Level.ERROR, "not ours to say", Site(facts.kernels[0].span, "here"))

def _fail(facts):
    raise ValueError("no luck")

def _rule(code, name, check):
    return PackageRule(Rule(code, name, "a name", "## What it does\\nLooks.", Level.WARNING, (), "s", "t"), check)

GOOD = _rule("ACME101", "no-s", _check)
BAD = _rule("GS999", "not-ours", _check)
FAILS = _rule("ACME102", "fails", _fail)
"""

POINTS = """[gpusafe.rules]
good = acme_gpu.rules:GOOD
bad = acme_gpu.rules:BAD
fails = acme_gpu.rules:FAILS
gone = acme_gpu.nothing:RULE

[gpusafe.tables]
my_gpu = acme_gpu.tables
other = acme_gpu.nothing
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A package on the path of Python that brings rules and tables."""
    site = tmp_path / "site"
    (site / "acme_gpu" / "tables").mkdir(parents=True)
    (site / "acme_gpu" / "__init__.py").write_text("")
    (site / "acme_gpu" / "rules.py").write_text(RULE)
    (site / "acme_gpu" / "tables" / "__init__.py").write_text("")
    (site / "acme_gpu" / "tables" / "my_gpu.toml").write_text('[[api]]\ncrate = "my_gpu"\nfrobs = 1\n')
    (site / "acme_gpu-1.0.dist-info").mkdir()
    (site / "acme_gpu-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: acme_gpu\nVersion: 1.0\n")
    (site / "acme_gpu-1.0.dist-info" / "entry_points.txt").write_text(POINTS)
    caches = (entry_points.declared, package_rules, codes)
    monkeypatch.syspath_prepend(site)
    monkeypatch.chdir(tmp_path)
    for kept in caches:
        kept.cache_clear()
    yield
    for kept in caches:
        kept.cache_clear()


def test_a_rule_of_another_package_is_told_as_a_warning_at_most(
    installed: None, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("a.cu").write_text(SAFE)
    assert main(["check", "a.cu"]) == 0
    out = capsys.readouterr().out
    assert "warning[ACME101]: `shift` begins with an s" in out
    assert "not ours to say" not in out
    assert "note: rule `bad` of acme_gpu.rules:BAD is left out: its code is `GS999`" in out
    assert "note: rule ACME102 failed: ValueError: no luck" in out
    assert "note: rule `gone` cannot be loaded from acme_gpu.nothing:RULE" in out
    assert main(["check", "a.cu", "-D", "no-s"]) == 1


def test_a_rule_of_another_package_is_explained(installed: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "no-s"]) == 0
    assert capsys.readouterr().out.startswith("# ACME101 no-s")


def test_tables_of_another_package_are_read_where_its_crate_is_used(installed: None) -> None:
    told = "acme_gpu.tables/my_gpu.toml:1: unknown key `frobs`"
    assert not load_tables((), {"cudarc"})[1]
    assert load_tables((), {"my_gpu"})[1][0].startswith(told)
    (gone,) = load_tables((), {"other"})[1]
    assert gone.startswith("the tables for `other` cannot be read from acme_gpu.nothing: ModuleNotFoundError: ")
