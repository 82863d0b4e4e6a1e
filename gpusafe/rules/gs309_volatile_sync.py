"""threads hand over data through plain or volatile accesses

## What it does
Finds loops that wait for a value that another thread stores, where either side is plain or volatile.

## Why is this bad
Volatile keeps the access in the program, but orders nothing: the flag may arrive before the data. A plain load may
be hoisted out of the loop, which then never ends.

## How to fix
Make the flag an atomic: store with `Release`, load with `Acquire`.

## Limits
Only hand-overs inside of one launch are meant; between launches the stream orders.
"""

from __future__ import annotations

from gpusafe.rules.rule import declare

RULE = declare(
    __name__,
    __doc__,
    help=("make the flag an atomic, stored with release and loaded with acquire at a scope that includes both threads"),
    racy="""
    while read_volatile(flag) == 0 {}
    let v = *data;
    """,
    fixed="""
    while flag.load(Acquire) == 0 {}
    let v = *data;
    """,
)
