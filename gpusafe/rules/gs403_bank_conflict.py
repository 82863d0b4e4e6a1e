"""the lanes of a warp hit one bank of shared memory more than once

## What it does
Counts for each shared access how many different words of one bank the lanes of a warp ask for.

## Why is this bad
A bank serves one word at a time: an n-way conflict takes n times as long.

## How to fix
Pad the rows (`[[f32; 33]; 32]`) or swizzle the index.

## Limits
Wide accesses are served in parts; the count is for the part that is worst.
"""

from __future__ import annotations

from gpusafe.results import Level
from gpusafe.rules.rule import declare

RULE = declare(
    __name__,
    __doc__,
    checked=False,
    level=Level.WARNING,
    enabled=False,
    help="pad the row by one element, or swizzle the index",
    racy="""
    let tile = shared_array![f32; 32 * 32];
    let v = tile[lane * 32 + k];
    """,
    fixed="""
    let tile = shared_array![f32; 32 * 33];
    let v = tile[lane * 33 + k];
    """,
)
