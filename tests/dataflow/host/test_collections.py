"""What collections do with the buffers in them, and that no owner gets lost unseen."""

from __future__ import annotations

import pytest

from tests.dataflow.host.walking import CUDARC, lines

TWO = (
    "fn main() { let ctx = CudaContext::new(0).unwrap(); unsafe { ctx.disable_event_tracking() }; "
    "let s = ctx.new_stream().unwrap(); "
    "let x = s.alloc_zeros::<f32>(8).unwrap(); let y = s.alloc_zeros::<f32>(8).unwrap(); "
)


def after(body: str) -> list[str]:
    """What the path does from the last ``synchronize`` mark on."""
    return lines(CUDARC + TWO + body + " }")


def order(body: str) -> list[str]:
    """Which buffer is freed before ``synchronize`` and which after it."""
    return [x.replace("s free free ", "") for x in after(body) if "free" in x or x == "sync s"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("let mut v = vec![x, y]; v.swap(0, 1); v.pop(); s.synchronize();", ["x", "sync s", "y"]),
        ("let mut v = vec![x, y]; v.reverse(); v.truncate(1); s.synchronize();", ["x", "sync s", "y"]),
        ("let mut v = vec![x, y]; v.rotate_left(1); v.pop(); s.synchronize();", ["x", "sync s", "y"]),
        ("let mut v = vec![x, y]; v.drain(1..); s.synchronize();", ["y", "sync s", "x"]),
        ("let mut v = vec![x, y]; v.retain(|b| b.len() > 9); s.synchronize();", ["x", "y", "sync s"]),
        ("let mut v = vec![x]; let mut w = vec![y]; v.append(&mut w); drop(w); s.synchronize();", ["sync s", "x", "y"]),
        ("let z = Some(x).or(Some(y)); s.synchronize();", ["y", "sync s", "x"]),
        ("let z = Some(x).and(Some(y)); s.synchronize();", ["x", "sync s", "y"]),
        ("let z = Some(x).unwrap_or(y); s.synchronize();", ["y", "sync s", "x"]),
        ("let z = vec![x, y].into_iter().last(); s.synchronize();", ["x", "sync s", "y"]),
        ("let mut m = HashMap::new(); m.insert(1, x); m.insert(1, y); s.synchronize();", ["x", "sync s", "y"]),
        ("let mut m = HashMap::new(); m.insert(1, x); m.insert(2, y); m.remove(&2); s.synchronize();",
         ["y", "sync s", "x"]),
        ("struct B { b: CudaSlice<f32>, n: u8 } { let one = B { b: x, n: 1 }; let two = B { b: y, ..one }; } "
         "s.synchronize();", ["y", "x", "sync s"]),
        ("std::mem::forget(x); s.synchronize();", ["sync s", "y"]),
    ],
)  # fmt: skip
def test_buffers_go_when_rust_drops_them(body: str, expected: list[str]) -> None:
    assert order(body) == expected


@pytest.mark.parametrize(
    "body",
    [
        "let mut v = vec![x, y]; v.sort_by_key(|b| b.len());",
        "let mut m = HashMap::new(); m.insert(1, x); m.insert(2, y); m.retain(|k, _| *k > 1);",
        "let mut v = vec![x, y]; v.some_method_of_a_crate(); ",
    ],
)
def test_what_is_not_followed_is_said(body: str) -> None:
    assert any(x.startswith("gap") for x in after(body))


def test_a_clone_of_an_rc_is_no_copy() -> None:
    found = after("let a = std::rc::Rc::new(x); let b = a.clone(); drop(a); s.synchronize();")
    assert not [x for x in found if "copy" in x]
    assert found.index("sync s") < found.index("s free free x")
