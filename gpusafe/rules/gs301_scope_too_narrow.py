"""an atomic, fence or barrier has a scope that does not include every thread that relies on it

## What it does
Holds the scope of each atomic, fence and barrier that a hand-over relies on against the threads that take part in
it.

## Why is this bad
A block-scope atomic may stay in one SM's cache: threads of other blocks, or the host, do not see it in time or at
all.

## How to fix
Widen the scope: `device` between blocks, `system` between device and host.

## Limits
Only hand-overs through flags, locks and counters that the memory model can follow are decided.
"""

from __future__ import annotations

from gpusafe.rules.rule import declare

RULE = declare(
    __name__,
    __doc__,
    help="widen the scope: device between blocks, system against the host",
    racy="""
    atomic_add_block(&done, 1); // counted by the threads of all blocks
    """,
    fixed="""
    atomic_add_device(&done, 1);
    """,
)
