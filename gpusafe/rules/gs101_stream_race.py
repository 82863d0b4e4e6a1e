"""two asynchronous operations touch overlapping memory, one writes, and nothing orders them

## What it does
Looks for two operations on different streams (launches, copies, memsets, constant updates, graph launches) whose
memory ranges overlap, at least one of which writes, with no chain of stream order, events or synchronisation
between them.

## Why is this bad
The call that enqueues an operation returns long before the GPU is done with it. Rust sees the borrow end at the
return; the device may still read or write. Which operation comes first is then up to the scheduler: results change
from run to run.

## How to fix
Make the later stream wait for the earlier work: `later.wait(&earlier.record_event(None)?)?` or
`later.join(&earlier)?` (cudarc), `stream.wait_event(event, ..)` (cust); or put both operations on one stream.

## Limits
Streams that come from outside may be the same or not; then the obligation stays unknown.
"""

from __future__ import annotations

from gpusafe.rules.rule import declare

RULE = declare(
    __name__,
    __doc__,
    help=(
        "order the two: record an event behind the first operation and let the second one's stream wait for "
        "it, or use one stream"
    ),
    racy="""
    unsafe { ctx.disable_event_tracking() };
    let compute = ctx.new_stream()?;
    let copies = ctx.new_stream()?;
    let mut buf = compute.alloc_zeros::<f32>(n)?;
    unsafe { compute.launch_builder(&scale).arg(&mut buf).arg(&count).launch(cfg)? };
    copies.memcpy_dtoh(&buf, &mut host)?; // reads what `scale` may still write
    """,
    fixed="""
    unsafe { ctx.disable_event_tracking() };
    let compute = ctx.new_stream()?;
    let copies = ctx.new_stream()?;
    let mut buf = compute.alloc_zeros::<f32>(n)?;
    unsafe { compute.launch_builder(&scale).arg(&mut buf).arg(&count).launch(cfg)? };
    let done = compute.record_event(None)?;
    copies.wait(&done)?;
    copies.memcpy_dtoh(&buf, &mut host)?;
    """,
)
