"""What is remembered of each launch that the executor meets, for the account of what was resolved."""

from __future__ import annotations

from collections.abc import Sequence

from gpusafe.ir.host import LaunchArg, LaunchSeen, LaunchShape
from gpusafe.span import Span


def launch_seen(
    span: Span,
    kernel: str | None = None,
    kernel_name: str = "",
    shape: LaunchShape | None = None,
    args: Sequence[LaunchArg] = (),
    **_: object,
) -> LaunchSeen:
    """The fields of a launch operation, as the account keeps them."""
    geometry = shape is not None and all(size is not None for size in (*shape.grid, *shape.block))
    return LaunchSeen(span, kernel_name, kernel, len(args), geometry, all(a.kind != "unknown" for a in args))
