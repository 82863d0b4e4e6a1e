"""the guard of a raw device pointer is dropped before the work that uses the pointer is enqueued

## What it does
Follows the raw pointers that `device_ptr`, `device_ptr_mut` and their kin hand out together with a guard, and
checks that the guard lives until the last operation that uses the pointer is enqueued.

## Why is this bad
The guard's drop records the event that later users wait for. Dropped at once (`let (p, _) = ..`, `.0`), it marks
the time *before* your work, and whoever relies on it orders too little.

## How to fix
Bind the guard to a name and keep it until the work is enqueued: `let (p, _guard) = buf.device_ptr(&stream);`.

## Limits
A pointer that is only compared or printed is no fault; pointers that leave the crate are unknown.
"""

from __future__ import annotations

from gpusafe.rules.rule import declare

RULE = declare(
    __name__,
    __doc__,
    help="bind the guard to a name (`let (ptr, _guard) = ..`), and let it live until the work is enqueued",
    racy="""
    let (from, _reads) = source.device_ptr(&first);
    let (to, _) = target.device_ptr_mut(&first); // the guard is gone here: it records an event before the copy
    unsafe { result::memcpy_dtod_async(to, from, bytes, first.cu_stream())? };
    second.memcpy_dtoh(&target, &mut host)?;
    """,
    fixed="""
    let (from, _reads) = source.device_ptr(&first);
    let (to, writes) = target.device_ptr_mut(&first);
    unsafe { result::memcpy_dtod_async(to, from, bytes, first.cu_stream())? };
    drop(writes); // records behind the copy
    second.memcpy_dtoh(&target, &mut host)?;
    """,
)
