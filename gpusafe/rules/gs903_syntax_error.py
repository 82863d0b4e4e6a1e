"""a file, or part of one, does not parse

## What it does
Names the first place of a file that is not valid Rust (or CUDA C); the items around it are analysed all the same.

## Why is this bad
What does not parse is not analysed: a fault in it stays unseen.

## How to fix
Correct the syntax. Files that are not meant to compile (templates, test inputs) can be left out of the paths.

## Limits
The parser is tolerant; code that it accepts may still not compile.
"""

from __future__ import annotations

from gpusafe.results import Level
from gpusafe.rules.rule import declare

RULE = declare(
    __name__,
    __doc__,
    level=Level.WARNING,
    help="correct the syntax, or leave the file out of what is checked",
    racy="""
    fn scale(x: &mut [f32] {
    """,
    fixed="""
    fn scale(x: &mut [f32]) {
    """,
)
