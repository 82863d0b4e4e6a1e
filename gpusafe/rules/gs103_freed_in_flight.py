"""memory is freed, dropped or moved out while an operation may still use it

## What it does
Finds the end of life of memory (drop at scope end, `?`, reassignment, an explicit free, a buffer that goes back to
a pool) that an enqueued operation may still read or write: device memory, pinned memory, pageable memory of an
asynchronous copy, and what a host callback captures.

## Why is this bad
The owner goes out of scope when the host is done, not when the device is. The next allocation may get the same
memory, and the operation in flight then reads or destroys somebody else's data.

## How to fix
Synchronize the stream (or an event recorded behind the work) before the owner goes, keep the owner alive until
then, or free in stream order (`drop_async`, `cuMemFreeAsync` on the stream that used it last).

## Limits
Ownership that passes through code outside of the crate is unknown.
"""

from __future__ import annotations

from gpusafe.rules.rule import declare

RULE = declare(
    __name__,
    __doc__,
    help=(
        "keep the owner alive until the work is done: synchronize the stream before it goes out of scope, or "
        "free in stream order"
    ),
    racy="""
    fn upload(stream: &Stream, out: &mut DeviceBuffer<f32>) -> CudaResult<()> {
        let staging = LockedBuffer::new(&1.0f32, out.len())?;
        unsafe { out.async_copy_from(&staging, stream)? };
        Ok(()) // `staging` is unpinned and freed while the copy reads it
    }
    """,
    fixed="""
    fn upload(stream: &Stream, out: &mut DeviceBuffer<f32>) -> CudaResult<()> {
        let staging = LockedBuffer::new(&1.0f32, out.len())?;
        unsafe { out.async_copy_from(&staging, stream)? };
        stream.synchronize()?;
        Ok(())
    }
    """,
)
