"""What the host does to memory while a copy uses it is seen in whatever form it is written; after a wait it is fine."""

from __future__ import annotations

import pytest

from gpusafe.prove.host import check_host
from gpusafe.verdict import Verdict
from tests.dataflow.host.walking import program_of

PROGRAM = """
use cust::memory::{AsyncCopyDestination, DeviceBuffer, LockedBuffer};
use cust::stream::{Stream, StreamFlags};
use std::ptr;

struct State { waits: bool }
impl State { fn note(&mut self, line: &str) { self.waits = false; } }
fn bump(part: &mut [f32]) { for x in part { *x += 1.0; } }

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let _ctx = cust::quick_init()?;
    let stream = Stream::new(StreamFlags::DEFAULT, None)?;
    let mut dev = DeviceBuffer::<f32>::zeroed(1024)?;
    let mut host = LockedBuffer::<f32>::new(&1.0f32, 1024)?;
    let mut v = 0.0f32;
    BEFORE
    unsafe { COPY }
    IN_FLIGHT
    stream.synchronize()?;
    AFTERWARDS
    Ok(())
}
"""
UPLOAD = "dev.async_copy_from(&host, &stream)?;"
DOWNLOAD = "dev.async_copy_to(&mut host, &stream)?;"

WRITES = [
    "for x in &mut host[..8] { *x = 2.0; }",
    "for part in host.chunks_mut(64) { for x in part { *x = 2.0; } }",
    "for (i, x) in (0..8).zip(&mut host[..8]) { *x = 2.0; }",
    "bump(&mut host[3..9]);",
    "*host.get_mut(0).unwrap() = 2.0;",
    "if let Some(x) = host.last_mut() { *x = 2.0; }",
    "std::mem::swap(&mut host[0], &mut v);",
    "let _old = std::mem::replace(&mut host[0], 2.0);",
    "if let [first, ..] = &mut host[..] { *first = 2.0; }",
    "unsafe { ptr::write_bytes(host.as_mut_ptr(), 0, 8); }",
    "unsafe { ptr::write_volatile(host.as_mut_ptr(), 2.0); }",
    "unsafe { ptr::swap(host.as_mut_ptr(), host.as_mut_ptr().add(1)); }",
    "(0..3).position(|i| { host[i] = 2.0; false });",
    "let _n = (0..3).map(|i| { host[i] = 2.0; i }).count();",
    'let _k = std::env::var("A").unwrap_or_else(|_| { host[0] = 2.0; String::new() });',
    'let _k = std::env::var("A").and_then(|s| { host[0] = 2.0; Ok(s) });',
]
READS = [
    "let _same = host[..] == [1.0f32; 1024][..];",
    "let _copy = Vec::from(&host[..]);",
    "let _x = unsafe { ptr::read_volatile(host.as_ptr()) };",
]
NOT_FOLLOWED = [
    "std::env::args().nth(1).map(|s| host[0] = s.len() as f32);",
    "let _v: [i32; 2] = std::array::from_fn(|i| { host[i] = 2.0; 3 });",
    "std::sync::Once::new().call_once(|| host[0] = 2.0);",
    "let mut list = vec![3, 2]; list.resize_with(9, || { host[0] = 2.0; 3 });",
]


def verdict(copy: str = UPLOAD, before: str = "", in_flight: str = "", afterwards: str = "") -> Verdict:
    text = PROGRAM.replace("COPY", copy).replace("BEFORE", before)
    text = text.replace("IN_FLIGHT", in_flight).replace("AFTERWARDS", afterwards)
    (main,) = [u for u in check_host(program_of(text), {}) if u.name == "main"]
    return main.verdict


@pytest.mark.parametrize("statement", WRITES)
def test_a_write_meets_an_upload_that_was_not_waited_for(statement: str) -> None:
    assert verdict(in_flight=statement) is Verdict.REFUTED
    assert verdict(afterwards=statement) is Verdict.PROVED


@pytest.mark.parametrize("statement", READS)
def test_a_read_meets_a_download_but_not_an_upload(statement: str) -> None:
    assert verdict(DOWNLOAD, in_flight=statement) is Verdict.REFUTED
    assert verdict(UPLOAD, in_flight=statement) is Verdict.PROVED


@pytest.mark.parametrize("statement", NOT_FOLLOWED)
def test_a_closure_that_reaches_memory_is_never_passed_over_in_silence(statement: str) -> None:
    assert verdict(in_flight=statement) is not Verdict.PROVED


@pytest.mark.parametrize(
    "change",
    [
        "st.note(line);",
        "State::note(&mut st, line);",
        "(st.waits, _) = (false, 1);",
        "if let State { ref mut waits } = st { *waits = false; }",
    ],
)
def test_what_a_loop_over_lines_may_change_is_forgotten(change: str) -> None:
    loop = f"""
    let mut st = State {{ waits: true }};
    for line in std::fs::read_to_string("x")?.lines() {{
        if line.is_empty() {{ continue; }}
        if line.starts_with("#") {{ break; }}
        {change}
    }}
    """
    assert verdict(before=loop, in_flight="if st.waits { stream.synchronize()?; } host[0] = 1.0;") is Verdict.REFUTED


def test_an_exit_that_the_user_writes_in_a_closure_is_a_path() -> None:
    exit_ = 'let _n = std::env::args().nth(1).unwrap_or_else(|| panic!("usage"));'
    assert verdict(in_flight=exit_) is Verdict.REFUTED
    assert verdict(before=exit_) is Verdict.PROVED


def test_a_log_macro_may_be_off_and_is_no_wait() -> None:
    assert verdict(in_flight='log::debug!("{:?}", stream.synchronize()); host[0] = 2.0;') is not Verdict.PROVED


def test_code_goes_on_after_a_debug_assertion_in_a_release_build() -> None:
    assert verdict(in_flight="debug_assert!(false); host[0] = 2.0;") is Verdict.REFUTED


@pytest.mark.parametrize(
    "condition",
    [
        "k.checked_add(10).is_none()",
        "k.saturating_add(10) == 255",
        "k.wrapping_add(6) == 0",
        "3usize.checked_sub(4).is_none()",
        "(1u32 << 31) << 1 == 0",
    ],
)
def test_arithmetic_ends_where_its_type_does(condition: str) -> None:
    assert verdict(before="let k = 250u8;", in_flight=f"if {condition} {{ host[0] = 2.0; }}") is Verdict.REFUTED


@pytest.mark.parametrize("condition", ["k.checked_add(10).is_some()", "k.saturating_sub(300) != 0"])
def test_arithmetic_within_its_type_is_exact(condition: str) -> None:
    wait = f"if {condition} {{ stream.synchronize()?; }} host[0] = 2.0;"
    assert verdict(before="let k = 400usize;", in_flight=wait) is Verdict.PROVED
