"""Exit statuses."""

from __future__ import annotations

CLEAN = 0
FINDINGS = 1
USAGE = 2
"""A wrong command line or configuration; also an internal error, which is never mistaken for findings."""
INCOMPLETE = 3
"""Under ``--strict``: something could not be analysed or settled."""
INTERRUPTED = 130
BROKEN_PIPE = 141
