"""the kernel writes memory that the launch passes by shared borrow

## What it does
Holds what the kernel does to each parameter against how the launch passes it: `&buf` and read-only views promise
that nothing is written.

## Why is this bad
Libraries order by the borrow. cudarc records only a *read* event for `&slice`, so a later reader on another stream
does not wait for the write; other threads may hold the same `&buf` and launch at the same time.

## How to fix
Pass the output as `&mut buf`.

## Limits
It is a warning unless an unordered use was found (then that is GS101): with a single stream the fault is latent.
"""

from __future__ import annotations

from gpusafe.results import Level
from gpusafe.rules.rule import declare

RULE = declare(
    __name__,
    __doc__,
    level=Level.WARNING,
    help="pass what the kernel writes by `&mut`",
    racy="""
    let mut out = stream.alloc_zeros::<f32>(n)?;
    unsafe { stream.launch_builder(&scale).arg(&out).arg(&count).launch(cfg)? }; // `scale` writes `out`
    """,
    fixed="""
    let mut out = stream.alloc_zeros::<f32>(n)?;
    unsafe { stream.launch_builder(&scale).arg(&mut out).arg(&count).launch(cfg)? };
    """,
)
