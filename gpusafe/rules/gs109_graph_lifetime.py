"""a captured graph outlives the memory whose addresses it holds, or captures what must not be captured

## What it does
Remembers which memory the operations between `begin_capture` and `end_capture` use, and checks that it is alive and
in place at every replay; finds operations that a capture forbids.

## Why is this bad
A graph stores addresses, not borrows. `drop(buf); graph.launch()` is safe Rust and reads freed memory on the
device.

## How to fix
Keep the buffers next to the graph (in one struct, dropped after it), and capture again when a buffer is replaced.

## Limits
Graphs that are built node by node through raw handles are unknown.
"""

from __future__ import annotations

from gpusafe.rules.rule import declare

RULE = declare(
    __name__,
    __doc__,
    help="keep every captured buffer alive and in place as long as the graph is replayed",
    racy="""
    stream.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED)?;
    unsafe { stream.launch_builder(&scale).arg(&mut scratch).arg(&count).launch(cfg)? };
    let graph = stream.end_capture(flags)?.unwrap();
    drop(scratch);
    graph.launch()?; // writes freed memory
    stream.synchronize()?;
    """,
    fixed="""
    stream.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED)?;
    unsafe { stream.launch_builder(&scale).arg(&mut scratch).arg(&count).launch(cfg)? };
    let graph = stream.end_capture(flags)?.unwrap();
    graph.launch()?;
    stream.synchronize()?;
    drop(scratch);
    """,
)
