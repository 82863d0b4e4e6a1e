"""Drops are where Rust puts them."""

from __future__ import annotations

from tests.dataflow.host.walking import CUST, lines

HEAD = CUST + (
    "struct Pair { "
    "a: DeviceBuffer<f32>, b: DeviceBuffer<f32> }\nfn new() -> DeviceBuffer<f32> { unsafe { "
    "DeviceBuffer::uninitialized(4).unwrap() } }\n"
)


def drops(body: str, items: str = "") -> list[str]:
    """The order of drops and of the marks (synchronizations of the context) in ``main``."""
    found = lines(HEAD + items + "fn main() { let _c = cust::quick_init().unwrap(); " + body + " }")
    return [x.replace(" context", "") for x in found if x.startswith(("free", "sync", "gap"))]


MARK = "cust::context::CurrentContext::synchronize().unwrap();"
mark = "sync device 0"


def test_variables_are_dropped_in_reverse_order() -> None:
    assert drops("let a = new(); let b = new();") == ["free b", "free a"]


def test_shadowing_does_not_drop() -> None:
    assert drops(f"let a = new(); let a = (a, 1); {MARK}") == [mark, "free a"]
    assert drops(f"let a = new(); let b = 1; let a = 2; {MARK}") == [mark, "free a"]


def test_assignment_drops_the_old_value() -> None:
    assert drops(f"let mut a = new(); a = new(); {MARK}") == ["free a", mark, "free a"]


def test_an_underscore_drops_at_once_but_a_named_one_does_not() -> None:
    assert drops(f"let _ = new(); {MARK}") == ["free a buffer".replace("a buffer", ""), mark]
    assert drops(f"let _x = new(); {MARK}") == [mark, "free _x"]


def test_temporaries_live_to_the_end_of_their_statement() -> None:
    assert drops(f"let n = new().len(); {MARK}") == ["free ", mark]


def test_a_borrowed_temporary_lives_as_long_as_its_variable() -> None:
    assert drops(f"let r = &new(); {MARK}") == [mark, "free "]


def test_moved_values_are_dropped_by_their_new_owner() -> None:
    items = "fn eat(x: DeviceBuffer<f32>) { let y = 1; }"
    assert drops(f"let a = new(); eat(a); {MARK}", items) == ["free a", mark]


def test_a_partial_move_leaves_the_rest() -> None:
    body = f"let p = Pair {{ a: new(), b: new() }}; {{ let q = p.a; }} {MARK}"
    assert drops(body) == ["free a", mark, "free b"]


def test_fields_are_dropped_in_declaration_order_after_the_own_drop() -> None:
    items = f"impl Drop for Pair {{ fn drop(&mut self) {{ {MARK} }} }}"
    assert drops("let p = Pair { b: new(), a: new() };", items) == [mark, "free a", "free b"]


def test_explicit_drop_and_forget() -> None:
    assert drops(f"let a = new(); let b = new(); drop(a); {MARK}") == ["free a", mark, "free b"]
    assert drops(f"let a = new(); std::mem::forget(a); {MARK}") == [mark]
    assert drops(f"let a = std::mem::ManuallyDrop::new(new()); {MARK}") == [mark]


def test_the_last_arc_drops() -> None:
    body = f"let a = Arc::new(new()); let b = a.clone(); drop(a); {MARK} drop(b); {MARK}"
    assert drops(body) == [mark, "free a", mark]


def test_elements_of_a_vec_go_with_it_and_alone() -> None:
    assert drops(f"let mut v = vec![new(), new()]; v.pop(); {MARK}") == ["free v[1]", mark, "free v[0]"]
    assert drops(f"let v = vec![new()]; for x in v {{ {MARK} }} {MARK}") == [mark, "free v[0]", mark]


def test_option_take_and_replace() -> None:
    assert drops(f"let mut o = Some(new()); o.take(); {MARK}") == ["free o", mark]
    assert drops(f"let mut o = Some(new()); o = None; {MARK}") == ["free o", mark]
    assert drops(f"let mut o = Some(new()); if let Some(x) = o {{ {MARK} }} {MARK}") == [mark, "free o", mark]


def test_swapping_references_is_not_swapping_contents() -> None:
    body = "let (a, b) = (new(), new()); { let (mut x, mut y) = (&a, &b); std::mem::swap(&mut x, &mut y); } drop(a);"
    assert drops(body) == ["free a", "free b"]
    assert drops("let (mut a, mut b) = (new(), new()); std::mem::swap(&mut a, &mut b); drop(a);") == [
        "free b",
        "free a",
    ]


def test_a_closure_owns_what_it_moved() -> None:
    assert drops(f"let a = new(); let f = move || a.len(); f(); {MARK} drop(f); {MARK}") == [mark, "free a", mark]
    assert drops(f"let a = new(); let f = || a.len(); f(); drop(f); {MARK}") == [mark, "free a"]


def test_an_early_return_drops_what_is_alive() -> None:
    items = (
        f"fn run(x: usize) -> Option<usize> {{ let a = new(); if x > 3 {{ return None; }} "
        f"let b = new(); {MARK} Some(x) }}"
    )
    assert drops("run(5);", items) == ["free a"]
    assert drops("run(1);", items) == [mark, "free b", "free a"]


def test_panics_unwind() -> None:
    assert drops("let a = new(); panic!();") == ["free a"]
    assert drops("let a = new(); std::process::exit(1);") == []


def test_a_mutex_drops_what_is_in_it() -> None:
    assert drops(f"let a = std::sync::Mutex::new(new()); a.lock().unwrap().len(); {MARK}") == [mark, "free "]


def test_a_boxed_trait_object_runs_its_own_method() -> None:
    items = f"""
trait Stage {{ fn run(&self); }}
impl Stage for Pair {{ fn run(&self) {{ {MARK} }} }}
"""
    assert drops("let s: Box<dyn Stage> = Box::new(Pair { a: new(), b: new() }); s.run();", items) == [
        mark, "free a", "free b",
    ]  # fmt: skip
