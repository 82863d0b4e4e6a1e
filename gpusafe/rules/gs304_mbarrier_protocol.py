"""an mbarrier is used with the wrong count, phase, parity or bytes, or its slot is refilled too early

## What it does
Follows each mbarrier: the arrivals against the count it was initialised with, the parity each wait uses, the
expected bytes against the copies', and who says that a slot may be filled again.

## Why is this bad
A wrong count or parity lets a wait pass one phase early, or never; a slot that is refilled while others read it is
a race.

## How to fix
Initialise with the number of arrivals, flip the parity once a phase, and let consumers arrive on an "empty" barrier
before the producer fills the slot again.

## Limits
Barriers whose address is computed at run time are unknown.
"""

from __future__ import annotations

from gpusafe.rules.rule import declare

RULE = declare(
    __name__,
    __doc__,
    help="make count, bytes and parity agree with the arrivals, and hand slots back through an empty barrier",
    racy="""
    if tid == 0 {
        mbarrier_init(&raw mut FULL, 65); // the block has 64 threads
    }
    thread::sync_threads();
    TILE[tid] = input[idx.get()];
    mbarrier_arrive(&raw const FULL);
    while !mbarrier_try_wait_parity(&raw const FULL, 0) {}
    """,
    fixed="""
    if tid == 0 {
        mbarrier_init(&raw mut FULL, 64);
    }
    thread::sync_threads();
    TILE[tid] = input[idx.get()];
    mbarrier_arrive(&raw const FULL);
    while !mbarrier_try_wait_parity(&raw const FULL, 0) {}
    """,
)
