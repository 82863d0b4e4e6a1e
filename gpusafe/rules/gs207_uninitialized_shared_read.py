"""shared memory is read before any thread has written it

## What it does
Asks for a read of a shared element that no thread of the block has stored to before it.

## Why is this bad
Shared memory starts with whatever the last block left there.

## How to fix
Store to every element that is read, with the guard inside the value (`if i < n { x[i] } else { 0.0 }`), then the
barrier.

## Limits
Writes whose coverage cannot be expressed leave the question open.
"""

from __future__ import annotations

from gpusafe.rules.rule import declare

RULE = declare(
    __name__,
    __doc__,
    help="let every thread store its element (a neutral value where there is no input) before the barrier",
    racy="""
    if i < n {
        *tile.add(t) = *x.add(i);
    }
    thread::sync_threads();
    let other = *tile.add(t ^ 1); // never written where i >= n
    """,
    fixed="""
    *tile.add(t) = if i < n { *x.add(i) } else { 0.0 };
    thread::sync_threads();
    let other = *tile.add(t ^ 1);
    """,
)
