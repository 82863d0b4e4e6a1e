"""a verified kernel does not compile or assemble for a requested target

## What it does
Runs the compiler, and ptxas where it is present, on each verified kernel for each requested target.

## Why is this bad
The kernel fails when it is loaded, on the machine of whoever has that GPU.

## How to fix
Use instructions that the target has, or leave it out of `--targets`.

## Limits
Kernels that depend on crates outside of the analysed program are skipped, with the reason.
"""

from __future__ import annotations

from gpusafe.rules.rule import declare

RULE = declare(
    __name__,
    __doc__,
    help="use what the target supports, or leave the target out of `--targets`",
    racy="""
    // with --targets sm_75
    asm!("barrier.cluster.arrive;"); // needs sm_90
    """,
    fixed="""
    // with --targets sm_90
    asm!("barrier.cluster.arrive;");
    """,
)
