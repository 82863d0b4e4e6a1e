"""work that is proved independent is ordered all the same

## What it does
Finds launches and copies that touch disjoint memory, and that only stream order or a wait keeps apart.

## Why is this bad
They could overlap: copies with kernels, small kernels with each other.

## How to fix
Put them on different streams, and order what depends on them by events.

## Limits
Whether the hardware has room for both is not modelled.
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
    help="put independent work on its own stream, and order by events what depends on it",
    racy="""
    stream.memcpy_htod(&next, &mut b)?; // independent of the launch
    unsafe { stream.launch_builder(&work).arg(&mut a).launch(cfg)? };
    """,
    fixed="""
    copies.memcpy_htod(&next, &mut b)?;
    unsafe { stream.launch_builder(&work).arg(&mut a).launch(cfg)? };
    """,
)
