"""an atomic and a plain access meet on one element without order

## What it does
The same question as GS201 and GS202, for pairs in which one side is atomic and the other one is not.

## Why is this bad
An atomic orders itself only against other atomics: the plain side may see half of the updates, be cached, or be
torn.

## How to fix
Make both sides atomic (a relaxed load is enough for a value), or put a barrier between the phases.

## Limits
Atomics at a scope that does not include both threads count as not atomic to each other (GS301 names those).
"""

from __future__ import annotations

from gpusafe.rules.rule import declare

RULE = declare(
    __name__,
    __doc__,
    help="make the plain access atomic too, or separate the two with a barrier or a second launch",
    racy="""
    atomic_fetch_add_u32_device(count, Ordering::Relaxed, 1);
    *progress.add(i) = *count; // a plain read beside the atomics
    """,
    fixed="""
    *progress.add(i) = atomic_fetch_add_u32_device(count, Ordering::Relaxed, 1);
    """,
)
