"""automatic ordering is switched off and the uses that follow are not ordered without it

## What it does
Follows the calls that switch the library's own ordering off (`disable_event_tracking`, `upgrade_device_ptr`,
`leak`, `drop_async` and others), and proves the uses that follow without it.

## Why is this bad
The rest of the code looks as it did when the library inserted the waits. Memory that was made while tracking was
off stays untracked for ever, even when it is switched on again.

## How to fix
Leave tracking on, or record and wait for events by hand wherever streams share a buffer.

## Limits
It speaks where a concrete unordered pair was found because tracking is off; the bare call is no fault.
"""

from __future__ import annotations

from gpusafe.rules.rule import declare

RULE = declare(
    __name__,
    __doc__,
    checked=False,
    help="order the uses by hand (record an event, wait for it), or leave event tracking on",
    racy="""
    unsafe { ctx.disable_event_tracking() };
    let mut buf = s1.alloc_zeros::<f32>(n)?;
    unsafe { s1.launch_builder(&fill).arg(&mut buf).launch(cfg)? };
    unsafe { s2.launch_builder(&sum).arg(&buf).launch(cfg)? }; // no event orders it
    """,
    fixed="""
    unsafe { s1.launch_builder(&fill).arg(&mut buf).launch(cfg)? };
    s2.join(&s1)?;
    unsafe { s2.launch_builder(&sum).arg(&buf).launch(cfg)? };
    """,
)
