"""one launch receives overlapping memory through two arguments and writes at least one of them

## What it does
Compares the memory ranges behind the arguments of each launch with what the kernel does to each parameter.

## Why is this bad
The kernel was proved under the assumption that its parameters do not overlap. If they do, one thread reads what
another one writes, and the compiler may have cached loads (`ld.global.nc`) that are no longer valid.

## How to fix
Pass disjoint ranges (`split_at_mut`), or write an in-place kernel that takes the buffer once.

## Limits
Overlap is a question of ranges: halves of one buffer are proved disjoint; raw pointers from outside stay unknown.
"""

from __future__ import annotations

from gpusafe.rules.rule import declare

RULE = declare(
    __name__,
    __doc__,
    help="pass disjoint ranges (`split_at_mut`), or give the kernel the buffer once",
    racy="""
    let all = buf.slice(..);
    unsafe { stream.launch_builder(&blur).arg(&all).arg(&mut buf.slice_mut(1..)).launch(cfg)? };
    """,
    fixed="""
    let mut out = stream.alloc_zeros::<f32>(n)?;
    unsafe { stream.launch_builder(&blur).arg(&buf).arg(&mut out).launch(cfg)? };
    """,
)
