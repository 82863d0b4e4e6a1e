"""two threads of a block access one element of shared memory, one writes, and no barrier orders them

## What it does
Cuts the kernel into the intervals between its barriers, around the back edges of loops too, and asks for two
threads of one block (or cluster) that meet on one element within an interval.

## Why is this bad
Warps of a block run at their own pace. What a neighbour stored is visible only behind a barrier, and what you
overwrite may not have been read yet.

## How to fix
Put `sync_threads()` between the store and the loads of other threads, and a second one before the element is stored
again (loops need both).

## Limits
Shared memory that is reached through pointers of unknown origin makes the kernel unknown.
"""

from __future__ import annotations

from gpusafe.rules.rule import declare

RULE = declare(
    __name__,
    __doc__,
    help=(
        "put a block barrier (`sync_threads()`) between the two accesses; in a loop, also before the next "
        "iteration's store"
    ),
    racy="""
    *tile.add(t) = *x.add(i);
    let left = if t > 0 { *tile.add(t - 1) } else { 0.0 }; // the neighbour may not have stored yet
    """,
    fixed="""
    *tile.add(t) = *x.add(i);
    thread::sync_threads();
    let left = if t > 0 { *tile.add(t - 1) } else { 0.0 };
    """,
)
