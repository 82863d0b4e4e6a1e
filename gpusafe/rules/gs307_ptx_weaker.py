"""the compiled PTX orders less, at a narrower scope, or fewer times than the source asks

## What it does
Compiles kernels that were proved in source, and holds the atomics, fences and barriers of the PTX against those of
the source: order, scope and number.

## Why is this bad
The proof speaks of the source. Compilers have emitted atomics without their fences and duplicated barriers; the
machine then runs a program that nobody proved.

## How to fix
Use the form that the compiler translates faithfully (an explicit fence beside a relaxed atomic, inline assembly
that declares its memory effects), or another compiler version.

## Limits
Checked for the targets that were asked for, with the compiler at hand.
"""

from __future__ import annotations

from gpusafe.rules.rule import declare

RULE = declare(
    __name__,
    __doc__,
    help=(
        "write the order so that it survives compilation (an explicit fence, `asm!` without `nomem`), or use "
        "another compiler version"
    ),
    racy="""
    asm!("membar.gl;", options(nomem, nostack)); // `nomem`: stores may move across it
    """,
    fixed="""
    asm!("membar.gl;", options(nostack));
    """,
)
