"""gpusafe as a library."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import gpusafe
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
good = acme.rules:GOOD
bad = acme.rules:BAD
fails = acme.rules:FAILS
gone = acme.nothing:RULE

[gpusafe.tables]
my_gpu = acme.tables
other = acme.nothing
"""


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A folder on the path of Python with a package that brings rules and tables."""
    site = tmp_path / "site"
    (site / "acme" / "tables").mkdir(parents=True)
    (site / "acme" / "__init__.py").write_text("")
    (site / "acme" / "rules.py").write_text(RULE)
    (site / "acme" / "tables" / "__init__.py").write_text("")
    (site / "acme" / "tables" / "my_gpu.toml").write_text('[[api]]\ncrate = "my_gpu"\nfrobs = 1\n')
    (site / "acme-1.0.dist-info").mkdir()
    (site / "acme-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    (site / "acme-1.0.dist-info" / "entry_points.txt").write_text(POINTS)
    return site


def run(site: Path, folder: Path, *arguments: str) -> tuple[int, str]:
    root = Path(gpusafe.__file__).parents[1]
    found = f"import sys; sys.path[:0] = [{str(site)!r}, {str(root)!r}]"
    program = f"{found}; from gpusafe.cli import main; sys.exit(main(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


def test_a_rule_of_another_package_is_told_as_a_warning_at_most(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_text(SAFE)
    status, out = run(installed, tmp_path, "check", "a.cu")
    assert status == 0
    assert "warning[ACME101]: `shift` begins with an s" in out
    assert "not ours to say" not in out
    assert "note: rule `bad` of acme.rules:BAD is left out: its code is `GS999`" in out
    assert "note: rule ACME102 failed: ValueError: no luck" in out
    assert "note: rule `gone` cannot be loaded from acme.nothing:RULE" in out
    assert run(installed, tmp_path, "check", "a.cu", "-D", "no-s")[0] == 1


def test_a_rule_of_another_package_is_explained(installed: Path, tmp_path: Path) -> None:
    assert "# ACME101 no-s" in run(installed, tmp_path, "explain", "no-s")[1]


def test_tables_of_another_package_are_read_where_its_crate_is_used(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "lib.rs").write_text("pub fn f(s: &cudarc::driver::CudaStream) {}\n")
    cargo = '[package]\nname = "a"\n[dependencies]\ncudarc = "0.19"\n'
    for wanted, told in (("", False), ('my_gpu = "1"\n', True)):
        (tmp_path / "Cargo.toml").write_text(cargo + wanted)
        out = run(installed, tmp_path, "check", ".")[1]
        assert ("acme.tables/my_gpu.toml:1: unknown key `frobs`" in out) is told
        assert "acme.nothing:1" not in out
