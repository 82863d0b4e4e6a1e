"""Independent units of work on an existing Dask cluster: the same results as here, whatever becomes of its workers.

Needs the extra ``gpusafe[dask]``, and the same version of gpusafe where the workers run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from gpusafe import __version__
from gpusafe.errors import GpusafeError, UsageError

if TYPE_CHECKING:
    from distributed import Client

W = TypeVar("W")
R = TypeVar("R")
SECONDS = 10  # to reach the scheduler


def in_order(work: Sequence[W], run: Callable[[W], R], lost: Callable[[W, str], R], scheduler: str) -> list[R]:
    """``run`` of every unit, in the order of ``work``, by the workers of the cluster at ``scheduler``.

    ``run`` must be importable where the workers are and depend on its unit alone. A unit whose worker dies is given
    to another one; one that kills worker after worker is ``lost``, with the reason in words. Raises UsageError where
    Dask is not installed, GpusafeError where the cluster cannot be reached or runs another version of gpusafe.
    """
    with _client(scheduler) as client:
        futures = client.map(_run, work, run=run, version=__version__, pure=False)
        return [_result(future, unit, lost) for future, unit in zip(futures, work, strict=True)]


def _client(scheduler: str) -> Client:
    try:
        from distributed import Client
    except ImportError:
        raise UsageError("a Dask cluster needs the extra: pip install 'gpusafe[dask]'") from None
    try:
        return Client(scheduler, timeout=SECONDS, set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, TimeoutError) as problem:
        raise GpusafeError(f"no Dask scheduler answers at {scheduler}: {problem}") from None


def _run(unit: Any, run: Callable[[Any], Any], version: str) -> Any:
    """On the worker: a unit, if this is the gpusafe that asked."""
    if version != __version__:
        raise GpusafeError(f"a worker runs gpusafe {__version__}, not {version}: install the same version everywhere")
    return run(unit)


def _result(future: Any, unit: W, lost: Callable[[W, str], R]) -> R:
    from distributed import KilledWorker

    try:
        found: R = future.result()
    except KilledWorker:
        return lost(unit, "the workers of the cluster that worked on it died")
    return found
