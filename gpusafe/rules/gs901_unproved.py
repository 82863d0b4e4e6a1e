"""neither proved nor refuted, and why

## What it does
Tells for each kernel and host function that is neither proved nor refuted what stands in the way: a call, a loop, a
value, an operation that is not modelled.

## Why is this bad
It is no fault. It is the part of the program that you still have to check yourself.

## How to fix
Rewrite the part in a form that gpusafe follows, or state what every launch keeps to: `// gpusafe: requires(n <=
out.len())` before a kernel holds for its proof and is checked at each launch in sight.

## Limits
`--strict` turns what is open into exit status 3.
"""

from __future__ import annotations

from gpusafe.results import Level
from gpusafe.rules.rule import declare

RULE = declare(
    __name__,
    __doc__,
    level=Level.NOTE,
    help="state what every launch keeps to (`// gpusafe: requires(..)`), or simplify the part that is named",
    racy="""
    let i = thread::index_1d();
    if i < n {
        *out.add(i as usize) = *out.add(i as usize + offset as usize); // is `offset` ever smaller than `n`?
    }
    """,
    fixed="""
    // gpusafe: requires(offset >= n)
    let i = thread::index_1d();
    if i < n {
        *out.add(i as usize) = *out.add(i as usize + offset as usize);
    }
    """,
)
