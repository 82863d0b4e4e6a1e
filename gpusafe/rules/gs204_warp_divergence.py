"""a warp collective runs with a mask that is not the set of lanes executing it

## What it does
Proves for each shuffle, vote, match and warp barrier that the lanes of its mask are those that execute it together,
and that no lane reads from one that does not take part.

## Why is this bad
A named lane that does not arrive hangs the warp on recent hardware and gives garbage on older one; a shuffle from a
lane outside of the mask is undefined.

## How to fix
Compute the mask before the branch (`ballot` of the condition), or run the collective with all lanes and select
afterwards.

## Limits
Masks that come from memory are unknown.
"""

from __future__ import annotations

from gpusafe.rules.rule import declare

RULE = declare(
    __name__,
    __doc__,
    help="run the collective outside of the branch, or compute its mask with a ballot of the branch's condition",
    racy="""
    if (lane < 16) {
        v += __shfl_down_sync(0xffffffff, v, 8); // lanes 16 to 31 are in the mask but not here
    }
    """,
    fixed="""
    float w = __shfl_down_sync(0xffffffff, v, 8);
    if (lane < 16) {
        v += w;
    }
    """,
    language="cpp",
)
