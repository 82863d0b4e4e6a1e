"""objects of different devices or contexts meet in one operation

## What it does
Follows which context every buffer, stream, event and module belongs to, and checks that those of one operation
agree.

## Why is this bad
A pointer of one device means nothing on another without peer access; the launch fails, or reads unrelated memory.

## How to fix
Allocate on the context whose stream runs the work, or copy between the devices explicitly.

## Limits
Contexts that come from outside are unknown; two `CudaContext::new` with one ordinal are the same primary context.
"""

from __future__ import annotations

from gpusafe.rules.rule import declare

RULE = declare(
    __name__,
    __doc__,
    help=("use objects of one context: allocate on the device whose stream runs the work, or copy between the devices"),
    racy="""
    let first = CudaContext::new(0)?.default_stream();
    let second = CudaContext::new(1)?.default_stream();
    let mut table = first.alloc_zeros::<u32>(256)?;
    first.synchronize()?;
    second.memcpy_htod(&[7u32; 256], &mut table)?; // a buffer of the other device
    """,
    fixed="""
    let second = CudaContext::new(1)?.default_stream();
    let mut table = second.alloc_zeros::<u32>(256)?;
    second.memcpy_htod(&[7u32; 256], &mut table)?;
    """,
)
