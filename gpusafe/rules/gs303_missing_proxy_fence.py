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
    tile[t] = v;
    sync_threads();
    if t == 0 { bulk_store(dst, &tile); } // the async proxy may not see the stores
    """,
    fixed="""
    tile[t] = v;
    fence_proxy_async_shared();
    sync_threads();
    if t == 0 { bulk_store(dst, &tile); }
    """,
)
