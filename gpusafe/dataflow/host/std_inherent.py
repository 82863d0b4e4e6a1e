"""Methods that std's own types have themselves: they win over a trait's method of the same name.

``impl Bytes for Vec<u8> { fn len(&self) -> usize { self.len() } }`` does not call itself: the method in the body, and
everywhere else, is the vector's own (Rust reference, method call expressions: inherent methods come first).
"""

from __future__ import annotations

from gpusafe.parse.rust import ast


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_VEC_SHARED = _words("as_ptr as_slice capacity is_empty len")
_VEC_EXCLUSIVE = _words(
    """
    append as_mut_ptr as_mut_slice clear dedup drain extend_from_slice insert pop push remove reserve resize resize_with
    retain set_len shrink_to_fit split_off swap_remove truncate
    """
)
_FLOAT = _words(
    """
    abs acos asin atan atan2 ceil clamp copysign cos cosh exp exp2 floor fract hypot is_finite is_infinite is_nan ln
    log log10 log2 max min mul_add powf powi recip round signum sin sin_cos sinh sqrt tan tanh to_bits trunc
    """
)
_INTEGER = _words(
    """
    abs_diff checked_add checked_div checked_mul checked_sub count_ones count_zeros div_ceil ilog2 isqrt leading_zeros
    next_multiple_of overflowing_add pow rem_euclid rotate_left rotate_right saturating_add saturating_mul
    saturating_sub swap_bytes trailing_zeros wrapping_add wrapping_mul wrapping_neg wrapping_sub to_le_bytes to_be_bytes
    to_ne_bytes
    """
)
_INTEGERS = ("i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize")

_OWN: dict[tuple[str, str], frozenset[str]] = {
    ("Vec", "&"): _VEC_SHARED,
    ("Vec", "&mut"): _VEC_EXCLUSIVE,
    ("Vec", "self"): _words("into_boxed_slice"),
    ("Vec", ""): _words("new with_capacity from_raw_parts"),
    ("String", "&"): _words("as_bytes as_str capacity is_empty len"),
    ("String", "&mut"): _words("clear insert pop push push_str remove reserve truncate"),
    ("String", ""): _words("new with_capacity from_utf8"),
    ("str", "&"): _words("as_bytes chars is_empty len lines split trim starts_with ends_with contains"),
    **{(name, "self"): _FLOAT for name in ("f32", "f64")},
    **{(name, "self"): _INTEGER for name in _INTEGERS},
}
"""By type and by how the method takes it: what comes earlier in the search (a trait's `self`, an own `&self`) wins, and
what a type has only through `Deref` (a vector's slice methods) comes after its traits."""


def is_inherent(owner: str, item: ast.Fn) -> bool:
    """Whether std's type ``owner`` has a method of its own that comes before the trait's method ``item``."""
    return item.name in _OWN.get((owner, _receiver(item)), ())


def _receiver(item: ast.Fn) -> str:
    """How a function takes `self`: ``self``, ``&``, ``&mut``, or not at all (an empty string)."""
    first = item.params[0] if item.params else None
    if first is None or not (isinstance(first.pat, ast.PatIdent) and first.pat.name == "self"):
        return ""
    if isinstance(first.type, ast.TypeRef):
        return "&mut" if first.type.mutable else "&"
    return "self"
