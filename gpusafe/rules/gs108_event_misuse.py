"""a wait on an event that does not cover the work it is meant to

## What it does
Finds waits on an event that is not recorded yet (they wait for nothing), that was recorded before the work was
enqueued, or that was recorded again since on another stream or at another time, where a later access relies on the
wait.

## Why is this bad
`wait` takes the event's state at the time of the call. The code reads as if it ordered; the device runs both sides
at once.

## How to fix
Enqueue the work, then record, then wait, in this order on the host; use one event for each hand-over.

## Limits
Events that reach the function from outside have an unknown record.
"""

from __future__ import annotations

from gpusafe.rules.rule import declare

RULE = declare(
    __name__,
    __doc__,
    help="enqueue the work, then record the event, then wait for it, in this order",
    racy="""
    second.wait_event(ready, StreamWaitEventFlags::DEFAULT)?; // not recorded yet: waits for nothing
    launch!(module.fill<<<8, 256, 0, first>>>(middle.as_device_ptr(), n))?;
    ready.record(&first)?;
    launch!(module.sum<<<8, 256, 0, second>>>(out.as_device_ptr(), middle.as_device_ptr(), n))?;
    """,
    fixed="""
    launch!(module.fill<<<8, 256, 0, first>>>(middle.as_device_ptr(), n))?;
    ready.record(&first)?;
    second.wait_event(ready, StreamWaitEventFlags::DEFAULT)?;
    launch!(module.sum<<<8, 256, 0, second>>>(out.as_device_ptr(), middle.as_device_ptr(), n))?;
    """,
)
