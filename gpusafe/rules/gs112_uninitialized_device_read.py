"""a kernel or copy reads device memory that nothing has written

## What it does
Tracks which allocations nothing has written yet (`alloc`, `DeviceBuffer::uninitialized`) and which parameters a
kernel reads before it writes them.

## Why is this bad
The values are whatever was there before, perhaps another program's data, and reading them is undefined for most
types.

## How to fix
Use `alloc_zeros`/`zeroed`, or enqueue the copy or kernel that fills the memory first.

## Limits
A kernel that writes only part of a buffer counts as writing what its footprint says; where that is not exact, the
question stays open.
"""

from __future__ import annotations

from gpusafe.rules.rule import declare

RULE = declare(
    __name__,
    __doc__,
    help="fill the memory first (`alloc_zeros`, `memset_zeros`, a copy, or the kernel that writes it)",
    racy="""
    let mut acc = unsafe { stream.alloc::<f32>(n)? };
    unsafe { stream.launch_builder(&accumulate).arg(&mut acc).arg(&x).arg(&count).launch(cfg)? }; // acc[i] += x[i]
    """,
    fixed="""
    let mut acc = stream.alloc_zeros::<f32>(n)?;
    unsafe { stream.launch_builder(&accumulate).arg(&mut acc).arg(&x).arg(&count).launch(cfg)? };
    """,
)
