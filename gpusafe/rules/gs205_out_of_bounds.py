"""an unchecked access can leave its allocation

## What it does
Proves for each access that Rust does not check (raw pointers, `get_unchecked`, shared arrays by pointer) that the
index is below the length.

## Why is this bad
The hardware checks pages, not buffers: the access hits a neighbouring allocation without any sign.

## How to fix
Guard the access with the length, or use the checked form.

## Limits
Raw pointer parameters carry no length; their footprint becomes a condition that each launch must satisfy (GS114).
"""

from __future__ import annotations

from gpusafe.rules.rule import declare

RULE = declare(
    __name__,
    __doc__,
    help="guard the access with the length (`if i < n`), or index the slice with the bounds check",
    racy="""
    let tile = shared_array![f32; 256];
    *tile.add(thread::thread_idx_x() as usize + 1) = v; // thread 255 writes tile[256]
    """,
    fixed="""
    let tile = shared_array![f32; 256];
    let t = thread::thread_idx_x() as usize;
    if t + 1 < 256 {
        *tile.add(t + 1) = v;
    }
    """,
)
