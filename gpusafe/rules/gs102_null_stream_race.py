"""work on the legacy NULL stream and work on a non-blocking stream touch overlapping memory unordered

## What it does
The same as GS101, for the case in which one of the operations runs on the legacy default stream
(synchronous-looking copies such as `DeviceBuffer::copy_from`, memsets, or a launch on the NULL stream) and the
other on a `NON_BLOCKING` stream.

## Why is this bad
The NULL stream waits for *blocking* streams only. A stream made with `CU_STREAM_NON_BLOCKING`, which is what most
wrappers make, is not ordered with it in either direction, although the copy looks synchronous in the source.

## How to fix
Use the asynchronous form on the same stream (`async_copy_from(.., &stream)`, `stream.memcpy_htod(..)`), or
synchronize the stream before the NULL-stream operation.

## Limits
A stream whose flags are not known makes the obligation unknown.
"""

from __future__ import annotations

from gpusafe.rules.rule import declare

RULE = declare(
    __name__,
    __doc__,
    help="use the asynchronous form on the kernel's own stream, or synchronize that stream first",
    racy="""
    unsafe { ctx.disable_event_tracking() };
    let work = ctx.new_stream()?; // a non-blocking one
    let mut buf = work.alloc_zeros::<f32>(n)?;
    unsafe { work.launch_builder(&scale).arg(&mut buf).arg(&count).launch(cfg)? };
    ctx.default_stream().memcpy_dtoh(&buf, &mut host)?; // the NULL stream does not wait for `work`
    """,
    fixed="""
    unsafe { ctx.disable_event_tracking() };
    let work = ctx.new_stream()?;
    let mut buf = work.alloc_zeros::<f32>(n)?;
    unsafe { work.launch_builder(&scale).arg(&mut buf).arg(&count).launch(cfg)? };
    work.synchronize()?;
    ctx.default_stream().memcpy_dtoh(&buf, &mut host)?;
    """,
)
