"""the host reads or writes memory before the operation that uses it is known to have finished

## What it does
Finds host accesses to pinned, unified or mapped memory, or to either side of an asynchronous copy, that are not
ordered after the device's use of it (reads after the device's write, writes before the device's read ends).

## Why is this bad
An asynchronous copy only *enqueues*: the slice in your hands still holds the old values, or half of the new ones,
and a write to the source of a copy may reach the device instead of what you meant to send.

## How to fix
`stream.synchronize()` or `event.synchronize()` between the operation and the access.

## Limits
Copies into pageable memory that the driver documents as synchronous count as finished on return.
"""

from __future__ import annotations

from gpusafe.rules.rule import declare

RULE = declare(
    __name__,
    __doc__,
    help="wait for the operation first: `stream.synchronize()`, or `synchronize()` of an event recorded behind it",
    racy="""
    unsafe { result.async_copy_to(&mut pinned, &stream)? };
    let sum: f32 = pinned.iter().sum(); // may run before the copy
    stream.synchronize()?;
    """,
    fixed="""
    unsafe { result.async_copy_to(&mut pinned, &stream)? };
    stream.synchronize()?;
    let sum: f32 = pinned.iter().sum();
    """,
)
