"""a barrier, stream wait or synchronize whose removal keeps every proof

## What it does
Takes each synchronisation out and proves the rest again.

## Why is this bad
A barrier costs every thread of the block the slowest one's time; a synchronize leaves the GPU idle.

## How to fix
Remove it.

## Limits
Only in units that are proved as they stand; timing and error checks that rely on it are not seen.
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
    help="remove it, if nothing outside of this code relies on it",
    racy="""
    tile[t] = x[i];
    sync_threads();
    out[i] = tile[t] * 2.0; // each thread reads its own element only
    """,
    fixed="""
    tile[t] = x[i];
    out[i] = tile[t] * 2.0;
    """,
)
