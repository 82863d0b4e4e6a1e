"""A sign of life on stderr while a long run works, on terminals only."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from gpusafe.config import Options


@contextmanager
def progress(options: Options) -> Iterator[Callable[[str], None]]:
    """Shows a spinner on a terminal's stderr, unless ``--quiet``; gives what tells it the present step.

    rich is imported only then.
    """
    if options.quiet or not sys.stderr.isatty():
        yield lambda _step: None
        return
    from rich.console import Console

    with Console(stderr=True).status("checking") as status:
        yield status.update
