"""neither proved nor refuted, and why

## What it does
Tells for each kernel and host function that is neither proved nor refuted what stands in the way: a call, a loop, a
value, an operation that is not modelled.

## Why is this bad
It is no fault. It is the part of the program that you still have to check yourself.

## How to fix
Rewrite the part in a form that gpusafe follows, or state what you know: `// gpusafe: requires(n <= out.len())` is
checked at each launch, `// gpusafe: assume(injective(perm))` is taken on trust and listed with the verdict.

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
    help="state what you know (`// gpusafe: requires(..)` or `assume(..)`), or simplify the part that is named",
    racy="""
    out[perm[i]] = x[i]; // is `perm` injective?
    """,
    fixed="""
    // gpusafe: assume(injective(perm))
    out[perm[i]] = x[i];
    """,
)
