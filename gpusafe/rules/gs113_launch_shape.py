"""the launch's geometry or shared memory does not satisfy what the kernel's proof needs

## What it does
Discharges the conditions of the kernel's proof at each launch: dimensions, block size, dynamic shared memory,
divisibility; and that a kernel with a barrier of the whole grid is launched cooperatively.

## Why is this bad
A kernel that indexes by `threadIdx.x` alone is free of races in a 1-D block and races with itself in a 2-D one. Too
little shared memory lets threads write past its end.

## How to fix
Launch the shape that the kernel is written for, or let the kernel compute its index from all dimensions.

## Limits
Shapes that depend on values from outside are checked for all values; where that fails, the launch is unknown.
"""

from __future__ import annotations

from gpusafe.rules.rule import declare

RULE = declare(
    __name__,
    __doc__,
    help="launch the shape that the kernel's index arithmetic expects, or make the kernel handle this one",
    racy="""
    // the kernel: int i = blockIdx.x * blockDim.x + threadIdx.x; out[i] += 1.0f;
    let cfg = LaunchConfig { grid_dim: (8, 1, 1), block_dim: (16, 16, 1), shared_mem_bytes: 0 };
    unsafe { stream.launch_builder(&bump).arg(&mut out).launch(cfg)? }; // 16 threads an element
    """,
    fixed="""
    let cfg = LaunchConfig { grid_dim: (8, 1, 1), block_dim: (256, 1, 1), shared_mem_bytes: 0 };
    unsafe { stream.launch_builder(&bump).arg(&mut out).launch(cfg)? };
    """,
)
