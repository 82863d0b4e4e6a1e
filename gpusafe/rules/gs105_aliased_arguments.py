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
    let image = DeviceBuffer::from_slice(&[0.0f32; 4096])?;
    // in and out are one buffer
    unsafe { launch!(module.blur<<<16, 256, 0, stream>>>(image.as_device_ptr(), image.as_device_ptr(), n))? };
    """,
    fixed="""
    let image = DeviceBuffer::from_slice(&[0.0f32; 4096])?;
    let out = DeviceBuffer::from_slice(&[0.0f32; 4096])?;
    unsafe { launch!(module.blur<<<16, 256, 0, stream>>>(out.as_device_ptr(), image.as_device_ptr(), n))? };
    """,
)
