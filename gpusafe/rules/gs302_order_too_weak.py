"""a hand-over lacks the release or the acquire that it needs

## What it does
Follows flags, locks and last-block counters: data written before a store to the flag must be released by it, and
the reader must acquire the flag before it reads the data.

## Why is this bad
The hardware may make the flag visible before the data; the reader then sees the flag set and reads old values.

## How to fix
Store the flag with `Release` (or a fence before it) and load it with `Acquire` (or a fence behind it), both at a
scope that includes both threads.

## Limits
Protocols beyond bounded hand-overs are unknown.
"""

from __future__ import annotations

from gpusafe.rules.rule import declare

RULE = declare(
    __name__,
    __doc__,
    help="publish with release and take with acquire (or put a fence on each side of the flag)",
    racy="""
    *data = v;
    flag.store(1, Relaxed);
    // the reader
    while flag.load(Relaxed) == 0 {}
    let v = *data;
    """,
    fixed="""
    *data = v;
    flag.store(1, Release);
    // the reader
    while flag.load(Acquire) == 0 {}
    let v = *data;
    """,
)
