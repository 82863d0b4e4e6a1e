"""the lanes of a warp touch more memory sectors than they need

## What it does
Counts for each access the 32-byte sectors that the 32 lanes of a warp touch, against the fewest that hold the data.

## Why is this bad
Memory moves whole sectors: a stride of 32 elements moves 8 times the data.

## How to fix
Let neighbouring lanes access neighbouring elements; transpose through shared memory where the layout forbids it.

## Limits
Caches may hide the cost; the count is of one execution of the access.
"""

from __future__ import annotations

from gpusafe.results import Level
from gpusafe.rules.rule import declare

RULE = declare(
    __name__,
    __doc__,
    checked=False,
    level=Level.WARNING,
    enabled=False,
    help="let neighbouring lanes touch neighbouring elements",
    racy="""
    let v = x[lane * width + row];
    """,
    fixed="""
    let v = x[row * width + lane];
    """,
)
