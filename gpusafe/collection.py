"""The garbage collector while trees are built: most of what is made lives on, and looking for cycles costs time."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_RARELY = (100_000, 20, 100)


@contextmanager
def rare_collection() -> Iterator[None]:
    """Collect cycles rarely for as long as this lasts."""
    before = gc.get_threshold()
    gc.set_threshold(*_RARELY)
    try:
        yield
    finally:
        gc.set_threshold(*before)
