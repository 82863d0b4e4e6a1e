"""Whose fault a missing order is: the innermost function that is common to both operations.

The function that contains both operations (in one call of it) is where the order could have been made; what runs deeper
cannot know of the other side.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpusafe.ir.host import Frame, HostPath
from gpusafe.span import Span


@dataclass(frozen=True, slots=True)
class Owner:
    """A function (name and whole span) that an obligation belongs to, and its depth in the frames of both sides."""

    function: str
    span: Span
    depth: int


@dataclass(frozen=True, slots=True)
class Attribution:
    """Precomputed for one path: places of the operations, and how much of the call stack neighbours share.

    ``places[i]`` numbers the chain of places of op ``i`` (equal for equal chains, whatever the iteration).
    ``shared[i]`` is the number of frames that ops ``i`` and ``i + 1`` have in common.
    """

    path: HostPath
    places: tuple[int, ...]
    shared: tuple[int, ...]

    def owner(self, first: int, second: int) -> Owner:
        """The innermost function whose one call holds both operations."""
        first, second = min(first, second), max(first, second)
        a, b = self.path.ops[first].frames, self.path.ops[second].frames
        depth = shared_frames(a, b)
        if depth > 1 and first != second:
            depth = max(1, min(depth, *self.shared[first:second]))
        frame = b[depth - 1]
        return Owner(frame.function, frame.function_span, depth - 1)


def attribution(path: HostPath) -> Attribution:
    """Look at a path once."""
    numbers: dict[tuple[Span, ...], int] = {}
    places = []
    for op in path.ops:
        chain = tuple(frame.at for frame in op.frames)
        places.append(numbers.setdefault(chain, len(numbers)))
    shared = tuple(shared_frames(a.frames, b.frames) for a, b in zip(path.ops, path.ops[1:], strict=False))
    return Attribution(path, tuple(places), shared)


def shared_frames(a: tuple[Frame, ...], b: tuple[Frame, ...]) -> int:
    """How many frames from the root on are the same call (at least one: both are in the root)."""
    depth = 0
    for one, other in zip(a, b, strict=False):
        if (one.function, one.function_span, one.call) != (other.function, other.function_span, other.call):
            break
        depth += 1
        if one.at != other.at:
            break
    return max(1, depth)
