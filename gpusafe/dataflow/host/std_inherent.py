"""Methods that std's own types have themselves: they win over a trait's method of the same name.

``impl Bytes for Vec<u8> { fn len(&self) -> usize { self.len() } }`` does not call itself: the method in the body, and
everywhere else, is the vector's own (Rust reference, method call expressions: inherent methods come first).
"""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SEQUENCE = _words(
    """
    append as_mut_ptr as_mut_slice as_ptr as_slice capacity chunks chunks_exact chunks_exact_mut chunks_mut clear
    clone_from_slice contains copy_from_slice copy_within dedup drain ends_with extend_from_slice fill first first_mut
    get get_mut get_unchecked get_unchecked_mut insert into_boxed_slice is_empty iter iter_mut join last last_mut leak
    len pop push remove repeat reserve resize resize_with retain reverse rotate_left rotate_right set_len
    shrink_to_fit sort sort_by sort_by_key sort_unstable split_at split_at_mut split_first split_last split_off
    starts_with swap swap_remove to_vec truncate windows with_capacity new
    """
)
_FLOAT = _words(
    """
    abs acos asin atan atan2 ceil clamp copysign cos cosh exp exp2 floor fract hypot is_finite is_infinite is_nan ln
    log log10 log2 max min mul_add powf powi recip round signum sin sin_cos sinh sqrt tan tanh to_bits trunc from_bits
    """
)
_INTEGER = _words(
    """
    abs abs_diff checked_add checked_div checked_mul checked_sub count_ones count_zeros div_ceil ilog2 is_power_of_two
    isqrt leading_zeros next_multiple_of next_power_of_two overflowing_add pow rem_euclid rotate_left rotate_right
    saturating_add saturating_mul saturating_sub swap_bytes trailing_zeros unsigned_abs wrapping_add wrapping_mul
    wrapping_neg wrapping_sub to_le_bytes to_be_bytes to_ne_bytes from_le_bytes
    """
)
_STRING = _words("as_bytes as_str chars clear is_empty len lines pop push push_str split trim with_capacity")
_INTEGERS = ("i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize")

_OWN: dict[str, frozenset[str]] = {
    "Vec": _SEQUENCE,
    "String": _STRING,
    "str": _STRING,
    "f32": _FLOAT,
    "f64": _FLOAT,
    **dict.fromkeys(_INTEGERS, _INTEGER),
}


def is_inherent(owner: str, name: str) -> bool:
    """Whether std's type ``owner`` has a method ``name`` of its own."""
    return name in _OWN.get(owner, ())
