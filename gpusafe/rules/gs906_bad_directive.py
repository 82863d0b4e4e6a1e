"""a gpusafe comment or attribute that cannot be read, or that lacks its reason

## What it does
Names directives with an unknown verb or rule, a contract that does not parse, that has no effect or that no launch
could meet, an `allow` without a reason or of a rule that a lint level forbids to accept, and directives that no
statement or item follows.

## Why is this bad
It has no effect, though it reads as if it had.

## How to fix
Write `// gpusafe: allow(GS101): reason`, or before a kernel `// gpusafe: requires(n <= out.len())`.

## Limits
Only comments that begin with `gpusafe:` are looked at.
"""

from __future__ import annotations

from gpusafe.results import Level
from gpusafe.rules.rule import declare

RULE = declare(
    __name__,
    __doc__,
    level=Level.WARNING,
    help="write `// gpusafe: allow(GS101): reason`, or `// gpusafe: requires(condition)` before a kernel",
    racy="""
    // gpusafe: allow(GS101)
    copies.memcpy_dtoh(&buf, &mut host)?;
    """,
    fixed="""
    // gpusafe: allow(GS101): a preview, which may show a state in between
    copies.memcpy_dtoh(&buf, &mut host)?;
    """,
)
