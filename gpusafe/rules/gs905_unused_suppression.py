"""an `allow` that suppresses nothing, or an `expect` that is not met

## What it does
Names the `allow` and `expect` directives that no finding met.

## Why is this bad
It will hide the next fault of that rule at this place, which nobody has looked at.

## How to fix
Remove it. Where the fault that an `expect` stood for is mended, that is good news.

## Limits
An `allow` of a rule that `--ignore` switches off is not reported when its finding was made all the same.
"""

from __future__ import annotations

from gpusafe.results import Level
from gpusafe.rules.rule import declare

RULE = declare(
    __name__,
    __doc__,
    level=Level.WARNING,
    help="remove the directive",
    racy="""
    // gpusafe: allow(GS101): the streams are ordered by the caller
    stream.synchronize()?;
    """,
    fixed="""
    stream.synchronize()?;
    """,
)
