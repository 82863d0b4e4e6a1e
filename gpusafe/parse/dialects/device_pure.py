"""Device functions of numbers alone: no memory, no synchronisation; their results are opaque.

From cuda-oxide's generated intrinsics (crates/cuda-device/src/generated) and Rust-CUDA's ``intrinsics``: packed and
rounded arithmetic, conversions, dot products, tensor-core products on registers.
"""

from __future__ import annotations

import re

_ROUNDED = r"(rn|rz|rm|rp|rna)"
_PATTERNS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(rf"^(add|sub|mul|div|fma|sqrt|rcp)_{_ROUNDED}(_ftz)?(_sat)?_f(32|64)$"), "same"),
    (re.compile(r"^(cos|sin|ex2|lg2|tanh|rsqrt|sqrt|rcp)_approx(_ftz)?_f(32|64)$"), "same"),
    (re.compile(r"^(abs|neg|add|sub|mul|fma|min|max)(_\w+)?_(bf16x2|f16x2|bf16|f16)$"), "same"),
    (re.compile(r"^(min|max)(_\w+)?_f32$"), "same"),
    (re.compile(r"^cvt_\w+$"), "u32"),
    (re.compile(r"^(dp2a|dp4a)_s32$"), "i32"),
    (re.compile(r"^(dp2a|dp4a)_u32$"), "u32"),
    (re.compile(r"^prmt(_\w+)?$"), "u32"),
    (re.compile(r"^(clock|clock64|globaltimer|gridid|nwarpid)$"), "u64"),
    (re.compile(r"^(swap_bytes|byte_perm|bswap|bitreverse)$"), "same"),
)
_CRATES = ("cuda_device", "cuda_oxide", "cuda_intrinsics", "cuda_std", "libm")


def pure_result(path: tuple[str, ...]) -> str | None:
    """The type of the result of a known pure function (``same``: that of its first argument), else None."""
    if path[0] not in _CRATES:
        return None
    name = path[-1]
    if path[0] == "cuda_std" and "intrinsics" not in path:
        return None
    return next((result for pattern, result in _PATTERNS if pattern.match(name)), None)
