"""Macros that the program defines itself are walked where they are called."""

from __future__ import annotations

from pathlib import Path

from gpusafe.app import check
from gpusafe.config import Options
from gpusafe.verdict import Verdict
from tests.dataflow.host.walking import CUDARC

MACROS = """
macro_rules! tried { ($e:expr) => { match $e { Ok(v) => v, Err(e) => return Err(e) } }; }
macro_rules! upload { ($s:expr, $h:expr) => { tried!($s.clone_htod($h)) }; }
macro_rules! finish { ($($s:expr),* $(,)?) => { $( $s.synchronize()?; )* }; }
macro_rules! buffer { ($name:ident, $s:expr) => { let mut $name = $s.alloc_zeros::<f32>(64)?; }; }
macro_rules! with_temporary { ($s:expr) => { let t = $s.clone(); t.synchronize()?; }; }
"""


def verdict(folder: Path, body: str, between: str = "") -> tuple[Verdict, list[str]]:
    file = folder / "main.rs"
    start = "let ctx = CudaContext::new(0)?; let s = tried!(ctx.new_stream()); let t = tried!(ctx.new_stream());"
    file.write_text(f"{CUDARC}{MACROS}fn main() -> Result<(), DriverError> {{\n{start}\n{body}\nOk(())\n}}\n")
    report = check(Options(paths=(str(file),), ptx="never"))
    (unit,) = report.units
    return unit.verdict, [f"{f.rule}:{f.primary.span.line}" for f in report.findings if f.level.value == "error"]


RACE = """let h = vec![1f32; 64];
unsafe { ctx.disable_event_tracking() };
let a = upload!(s, &h);
buffer!(b, t);
WAIT
t.memcpy_dtod(&a, &mut b)?;
finish!(s, t);"""


def test_what_a_macro_enqueues_races_like_anything_else(tmp_path: Path) -> None:
    found, errors = verdict(tmp_path, RACE.replace("WAIT", ""))
    assert found is Verdict.REFUTED
    assert len(errors) == 1 and errors[0].startswith("GS101")


def test_what_a_macro_waits_for_is_over(tmp_path: Path) -> None:
    assert verdict(tmp_path, RACE.replace("WAIT", "finish!(s);")) == (Verdict.PROVED, [])


def test_a_variable_that_the_call_names_lives_in_the_block_around_it(tmp_path: Path) -> None:
    assert verdict(tmp_path, "buffer!(b, s); s.memset_zeros(&mut b)?; finish!(s);") == (Verdict.PROVED, [])


def test_a_variable_that_the_macro_names_itself_hides_no_other(tmp_path: Path) -> None:
    racy = RACE.replace("WAIT", "with_temporary!(t); with_temporary!(s);")
    found, _ = verdict(tmp_path, racy)
    assert found is not Verdict.REFUTED


def test_a_call_that_no_rule_matches_is_said_to_be_not_understood(tmp_path: Path) -> None:
    assert verdict(tmp_path, "buffer!(1 + 2 => s);")[0] is Verdict.UNKNOWN
