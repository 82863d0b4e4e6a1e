"""not all threads of a barrier's scope reach the same barrier

## What it does
Proves for each barrier that its conditions, loop bounds and earlier returns are the same for all threads of its
scope (block, cluster, grid, or the named barrier's count).

## Why is this bad
The threads that arrive wait for the others for ever, or meet another barrier of the kernel and go on with half of
the data.

## How to fix
Move the barrier out of the condition, and turn an early `return` before a barrier into a condition around the work.

## Limits
Conditions on values read from memory are not uniform unless the memory is read-only and the index is.
"""

from __future__ import annotations

from gpusafe.rules.rule import declare

RULE = declare(
    __name__,
    __doc__,
    help=(
        "let every thread reach the barrier: move it out of the condition, and guard the work instead of "
        "returning early"
    ),
    racy="""
    if i >= n {
        return;
    }
    *tile.add(t) = *x.add(i);
    thread::sync_threads(); // the threads with i >= n never come
    """,
    fixed="""
    if i < n {
        *tile.add(t) = *x.add(i);
    }
    thread::sync_threads();
    """,
)
