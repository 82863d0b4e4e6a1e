"""which stream runs an operation depends on the host thread, and data crosses threads without an edge

## What it does
Treats the per-thread default stream, thread-local streams and streams inside parallel iterators as one stream for
each host thread, and checks data that one thread's work writes and another thread's work uses.

## Why is this bad
Joining a host thread orders the *host* calls. The work that the thread enqueued on its own stream is not done by
then.

## How to fix
Synchronize the stream (or record an event and wait for it) before the data leaves the thread.

## Limits
Thread pools outside of the crate are unknown.
"""

from __future__ import annotations

from gpusafe.rules.rule import declare

RULE = declare(
    __name__,
    __doc__,
    help="synchronize the thread's stream, or hand an event over with the data, before another thread uses it",
    racy="""
    let worker = std::thread::spawn(move || {
        let stream = theirs.per_thread_stream();
        unsafe { stream.launch_builder(&scale).arg(&mut buf).arg(&count).launch(cfg) }.unwrap();
        buf
    });
    let buf = worker.join().unwrap();
    ctx.per_thread_stream().memcpy_dtoh(&buf, &mut host)?; // another stream, no edge
    ctx.synchronize()?;
    """,
    fixed="""
    let worker = std::thread::spawn(move || {
        let stream = theirs.per_thread_stream();
        unsafe { stream.launch_builder(&scale).arg(&mut buf).arg(&count).launch(cfg) }.unwrap();
        stream.synchronize().unwrap();
        buf
    });
    let buf = worker.join().unwrap();
    ctx.per_thread_stream().memcpy_dtoh(&buf, &mut host)?;
    ctx.synchronize()?;
    """,
)
