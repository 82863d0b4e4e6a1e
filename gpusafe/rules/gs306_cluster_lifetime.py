"""distributed shared memory is used without a cluster barrier, or its owner may exit first

## What it does
Checks that a peer block's shared memory is accessed only behind a cluster barrier (the peer runs and has
initialised it), and that a second one keeps the peer from exiting before the access.

## Why is this bad
A block that has not started has no shared memory, and one that has exited has given it away.

## How to fix
`cluster_sync()` before the first and after the last access to a peer's memory.

## Limits
Cluster shapes that are set only at launch are taken from the launch.
"""

from __future__ import annotations

from gpusafe.rules.rule import declare

RULE = declare(
    __name__,
    __doc__,
    help="put `cluster_sync()` before the first and after the last access to a peer's shared memory",
    racy="""
    LEVEL[tid] = input[idx.get()];
    cluster::cluster_sync();
    let theirs = *cluster::map_shared_rank(&raw const LEVEL as *const u32, peer).add(tid);
    // the peer may end, and its memory with it, before this read
    """,
    fixed="""
    LEVEL[tid] = input[idx.get()];
    cluster::cluster_sync();
    let theirs = *cluster::map_shared_rank(&raw const LEVEL as *const u32, peer).add(tid);
    cluster::cluster_sync();
    """,
)
