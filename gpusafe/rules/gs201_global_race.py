"""two threads access one element of global memory, one writes, and nothing orders them

## What it does
For each pair of accesses to one global region, asks for two different threads of the launch whose accesses overlap,
at least one a write, not both atomic, with no barrier between them that both threads take part in.

## Why is this bad
Which value stays is up to the hardware, and in Rust a data race is undefined even when both threads store the same
value.

## How to fix
Give every thread its own elements (an injective index with a bounds guard), combine with atomics, or split the work
into two launches: no barrier inside a kernel orders different blocks.

## Limits
Index values that are read from memory are unknown, so that a scatter through a table is neither proved nor refuted.
"""

from __future__ import annotations

from gpusafe.rules.rule import declare

RULE = declare(
    __name__,
    __doc__,
    help=(
        "give each thread its own element, use an atomic, or split the kernel where one block needs another "
        "one's result"
    ),
    racy="""
    let i = thread::index_1d() as usize;
    *out.add(i / 2) = *x.add(i); // threads 2k and 2k + 1 write out[k]
    """,
    fixed="""
    let i = thread::index_1d() as usize;
    *out.add(i) = *x.add(i);
    """,
)
