"""the kernel accesses past the end of the buffer that this launch passes

## What it does
Holds the exact footprint of a kernel under the launch's geometry and scalars against the length of each buffer.

## Why is this bad
Raw pointers carry no length: the threads of the last block write behind the buffer, into whatever lies there.

## How to fix
Guard the access with the length (`if i < n`) and pass the true `n`, or allocate what the grid covers.

## Limits
Kernels on bounds-checked slices trap instead, which is no race; those are not reported here.
"""

from __future__ import annotations

from gpusafe.rules.rule import declare

RULE = declare(
    __name__,
    __doc__,
    help="pass the true length and guard the access with it, or allocate as much as the grid covers",
    racy="""
    let mut out = stream.alloc_zeros::<f32>(1000)?;
    let cfg = LaunchConfig { grid_dim: (4, 1, 1), block_dim: (256, 1, 1), shared_mem_bytes: 0 };
    unsafe { stream.launch_builder(&bump).arg(&mut out).launch(cfg)? }; // touches out[0..1024]
    """,
    fixed="""
    let mut out = stream.alloc_zeros::<f32>(1024)?;
    let cfg = LaunchConfig { grid_dim: (4, 1, 1), block_dim: (256, 1, 1), shared_mem_bytes: 0 };
    unsafe { stream.launch_builder(&bump).arg(&mut out).launch(cfg)? };
    """,
)
