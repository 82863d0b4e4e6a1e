"""a call whose effect on device memory or order is not known

## What it does
Names the calls into other crates, through function pointers or across FFI that may touch device memory, launch work
or synchronise, and that no API table describes.

## Why is this bad
It is no fault, but what follows the call is not proved: it may race with what the call did.

## How to fix
Use the API of a known crate, move the wrapper into the workspace so that it is analysed, or add the crate to the
tables.

## Limits
Calls that receive no stream, buffer, event or context are taken to do no GPU work.
"""

from __future__ import annotations

from gpusafe.results import Level
from gpusafe.rules.rule import declare

RULE = declare(
    __name__,
    __doc__,
    level=Level.NOTE,
    help="let gpusafe see the callee (bring it into the workspace), or use an API that it knows",
    racy="""
    vendor::sort(&mut buf, &stream); // what it enqueues, and on which stream, is not known
    stream.memcpy_dtoh(&buf, &mut host)?;
    """,
    fixed="""
    stream.memcpy_dtoh(&buf, &mut host)?;
    vendor::sort(&mut host); // no device memory, no stream: nothing needs to be known
    """,
)
