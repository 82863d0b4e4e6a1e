"""the target of an asynchronous copy is used before its wait, or by other threads without a barrier behind it

## What it does
Follows cp.async, bulk copies and wgmma from their issue to the wait that completes them, and on to the threads that
use the result.

## Why is this bad
The copy runs beside the thread; and a wait covers only the copies of the thread that waits.

## How to fix
Commit, wait for the group, then a block barrier before other threads read.

## Limits
Waits for a number of groups that is not constant are unknown.
"""

from __future__ import annotations

from gpusafe.rules.rule import declare

RULE = declare(
    __name__,
    __doc__,
    help=(
        "wait for the copy (`cp_async_wait_group`, the mbarrier) and then put a block barrier before other threads read"
    ),
    racy="""
    __pipeline_memcpy_async(&tile[t], &x[i], 4);
    __pipeline_commit();
    float v = tile[t]; // not waited for
    """,
    fixed="""
    __pipeline_memcpy_async(&tile[t], &x[i], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    float v = tile[t];
    """,
    language="cpp",
)
