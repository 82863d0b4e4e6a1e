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
    let ready = ctx.new_event(None)?;
    s2.wait(&ready)?; // never recorded: returns at once
    unsafe { s1.launch_builder(&fill).arg(&mut buf).launch(cfg)? };
    ready.record(&s1)?;
    unsafe { s2.launch_builder(&sum).arg(&buf).launch(cfg)? };
    """,
    fixed="""
    unsafe { s1.launch_builder(&fill).arg(&mut buf).launch(cfg)? };
    ready.record(&s1)?;
    s2.wait(&ready)?;
    unsafe { s2.launch_builder(&sum).arg(&buf).launch(cfg)? };
    """,
)
