"""the solver's resource limit ended a query

## What it does
Names the questions that the solver did not settle within its budget, which counts resources and not seconds, so
that the same input gives the same answer on every machine.

## Why is this bad
It is no fault, but no proof either.

## How to fix
Fix the geometry (a launch in sight with constant shape), simplify the index arithmetic, or split the kernel.

## Limits
Products of two symbolic values are the usual cause.
"""

from __future__ import annotations

from gpusafe.results import Level
from gpusafe.rules.rule import declare

RULE = declare(
    __name__,
    __doc__,
    level=Level.NOTE,
    help=(
        "bound the geometry (a constant launch shape, or `// gpusafe: requires(blockDim.x == 256)` before the kernel), "
        "or simplify the index arithmetic"
    ),
    racy="""
    out[(i * a + j * b) % (a * b)] = v; // a and b from the host
    """,
    fixed="""
    const A: usize = 64; // constants make it linear
    out[(i * A + j) % (A * B)] = v;
    """,
)
