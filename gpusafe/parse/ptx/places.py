"""Where an instruction comes from: the source line that ``.loc`` tells, else its line in the PTX."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gpusafe.parse.ptx.syntax import Instruction, Loc, Position
from gpusafe.span import Span

Finder = Callable[[str], str | None]
"""From the name of a source file in ``.file`` to the path that the user knows it by; None where it is not in sight."""


class Places:
    """Spans of the instructions of one PTX text.

    Of an inlined instruction the innermost place in a file in sight counts, so that code of the standard library or of
    a header is told by its call.
    """

    def __init__(self, file: str, files: Mapping[int, str], find: Finder) -> None:
        self.file = file
        self.known = {number: found for number, name in files.items() if (found := find(name)) is not None}
        self.callers: dict[Position, Position] = {}

    def learn(self, loc: Loc | None) -> None:
        """Remembers where a place was inlined into."""
        if loc is not None and loc.inlined_at is not None:
            self.callers.setdefault(loc.place, loc.inlined_at)

    def of(self, instruction: Instruction) -> Span:
        """The place of an instruction."""
        loc = instruction.loc
        if loc is not None:
            self.learn(loc)
            place: Position | None = loc.place
            following = loc.inlined_at
            for _ in range(32):
                if place is None:
                    break
                file, line, col = place
                if file in self.known and line > 0:
                    return Span(self.known[file], line, max(1, col), line, max(1, col) + 1)
                place, following = following, self.callers.get(following) if following is not None else None
        return Span(self.file, instruction.line, 1, instruction.line, 2)
