"""ordinary and async-proxy accesses meet without the proxy fence

## What it does
Finds shared or global memory that is accessed both by ordinary instructions and through the async proxy (TMA, bulk
copies, tensor cores) where no `fence.proxy.async` lies between the two.

## Why is this bad
The two proxies have their own paths to memory; a barrier alone does not make one see the other's writes.

## How to fix
Let the writing threads execute the proxy fence before the barrier behind which the async operation is issued.

## Limits
Only copies and fences that the front end recognises take part.
"""

from __future__ import annotations

from gpusafe.rules.rule import declare

RULE = declare(
    __name__,
    __doc__,
    help=(
        "execute `fence.proxy.async` in the threads that wrote, before the barrier that precedes the "
        "asynchronous operation"
    ),
    racy="""
    TILE[tid] = 0;
    if tid == 0 {
        mbarrier_init(&raw mut FULL, 64);
        fence_proxy_async_shared_cta(); // only thread 0's own stores
    }
    thread::sync_threads();
    let token = if tid == 0 {
        cp_async_bulk_tensor_1d_g2s(&raw mut TILE as *mut u8, map, 0, &raw mut FULL);
        mbarrier_arrive_expect_tx(&raw const FULL, 1, 256)
    } else {
        mbarrier_arrive(&raw const FULL)
    };
    """,
    fixed="""
    TILE[tid] = 0;
    fence_proxy_async_shared_cta();
    if tid == 0 {
        mbarrier_init(&raw mut FULL, 64);
        fence_proxy_async_shared_cta();
    }
    thread::sync_threads();
    let token = if tid == 0 {
        cp_async_bulk_tensor_1d_g2s(&raw mut TILE as *mut u8, map, 0, &raw mut FULL);
        mbarrier_arrive_expect_tx(&raw const FULL, 1, 256)
    } else {
        mbarrier_arrive(&raw const FULL)
    };
    """,
)
