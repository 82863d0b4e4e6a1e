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
    cp_async(&mut tile[t], &x[i]);
    cp_async_commit();
    sum += tile[t ^ 1]; // not waited for
    """,
    fixed="""
    cp_async(&mut tile[t], &x[i]);
    cp_async_commit();
    cp_async_wait_group::<0>();
    sync_threads();
    sum += tile[t ^ 1];
    """,
)
