"""Names that need no import (std's prelude of edition 2021, https://doc.rust-lang.org/std/prelude/)."""

from __future__ import annotations

STD_CRATES = frozenset({"std", "core", "alloc"})

PRIMITIVES = frozenset(
    {
        *(
            "bool",
            "char",
            "str",
            "u8",
            "u16",
            "u32",
            "u64",
            "u128",
            "usize",
            "i8",
            "i16",
            "i32",
            "i64",
            "i128",
            "isize",
        ),
        *("f16", "f32", "f64", "f128"),
    }
)

PRELUDE: dict[str, tuple[str, ...]] = {
    **{name: ("std", "marker", name) for name in ("Copy", "Send", "Sized", "Sync", "Unpin")},
    **{name: ("std", "ops", name) for name in ("Drop", "Fn", "FnMut", "FnOnce")},
    **{name: ("std", "mem", name) for name in ("drop", "size_of", "size_of_val", "align_of", "align_of_val")},
    **{name: ("std", "boxed", name) for name in ("Box",)},
    **{name: ("std", "borrow", name) for name in ("ToOwned",)},
    **{name: ("std", "clone", name) for name in ("Clone",)},
    **{name: ("std", "cmp", name) for name in ("PartialEq", "PartialOrd", "Eq", "Ord")},
    **{name: ("std", "convert", name) for name in ("AsRef", "AsMut", "Into", "From", "TryFrom", "TryInto")},
    **{name: ("std", "default", name) for name in ("Default",)},
    **{
        name: ("std", "iter", name)
        for name in ("Iterator", "Extend", "IntoIterator", "DoubleEndedIterator", "ExactSizeIterator", "FromIterator")
    },
    **{name: ("std", "future", name) for name in ("Future", "IntoFuture")},
    **{name: ("std", "option", "Option", name) for name in ("Some", "None")},
    **{name: ("std", "result", "Result", name) for name in ("Ok", "Err")},
    "Option": ("std", "option", "Option"),
    "Result": ("std", "result", "Result"),
    "String": ("std", "string", "String"),
    "ToString": ("std", "string", "ToString"),
    "Vec": ("std", "vec", "Vec"),
}
"""``drop`` to ``align_of_val`` have been there since edition 2024 (Rust 1.80 for ``size_of`` and kin)."""
