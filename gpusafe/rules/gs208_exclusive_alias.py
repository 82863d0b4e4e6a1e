"""two exclusive borrows of one element are live in two threads

## What it does
Asks for two threads whose `&mut` borrows (elements, rows, tiles) overlap, whether or not the values race.

## Why is this bad
The compiler may assume that nobody else touches what a `&mut` covers, and reorders or caches accordingly.

## How to fix
Borrow disjoint parts, or keep raw pointers and prove the accesses themselves disjoint.

## Limits
Borrows made from raw pointers of unknown origin make the kernel unknown.
"""

from __future__ import annotations

from gpusafe.rules.rule import declare

RULE = declare(
    __name__,
    __doc__,
    help="make the borrowed parts disjoint between the threads, or use raw pointers and atomics for the shared part",
    racy="""
    let best = &mut *out.add(i / 2); // two threads hold it
    if i % 2 == 0 {
        *best = *x.add(i);
    }
    """,
    fixed="""
    if i % 2 == 0 {
        let best = &mut *out.add(i / 2);
        *best = *x.add(i);
    }
    """,
)
