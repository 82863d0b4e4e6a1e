"""Which PTX instructions stand for which source operation.

rustc says for every instruction where it comes from and through which calls it was inlined. An instruction belongs to
the operation of its kind with the smallest span around the innermost of these places.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from gpusafe.codegen_check.compare.operations import Operation
from gpusafe.codegen_check.ptx import Function, Instr, Place
from gpusafe.span import Span


def _first(*names: str) -> Callable[[Instr], bool]:
    return lambda i: i.opcode[0] in names


_STRONG = frozenset({"relaxed", "acquire", "release", "acq_rel"})

INSTRUCTIONS: Mapping[str, Callable[[Instr], bool]] = {
    "load": lambda i: i.opcode[0] == "ld" and not i.has("param") and not is_strong(i) and not i.has("volatile"),
    "store": lambda i: i.opcode[0] == "st" and not i.has("param") and not is_strong(i) and not i.has("volatile"),
    "volatile-load": lambda i: i.opcode[0] == "ld" and i.has("volatile"),
    "volatile-store": lambda i: i.opcode[0] == "st" and i.has("volatile"),
    "atomic-load": lambda i: i.opcode[0] == "ld" and is_strong(i),
    "atomic-store": lambda i: i.opcode[0] == "st" and is_strong(i),
    "rmw": _first("atom", "red"),
    "cas": lambda i: i.opcode[0] == "atom" and i.has("cas"),
    "fence": lambda i: i.opcode[0] == "membar" or (i.opcode[0] == "fence" and not _is_proxy(i)),
    "proxy-fence": lambda i: i.opcode[0] == "fence" and _is_proxy(i),
    "barrier": lambda i: i.opcode[0] in ("bar", "barrier") and not i.has("warp") and not i.has("cluster"),
    "warp-barrier": lambda i: i.opcode[0] == "bar" and i.has("warp"),
    "cluster-arrive": lambda i: i.opcode[0] == "barrier" and i.has("cluster", "arrive"),
    "cluster-wait": lambda i: i.opcode[0] == "barrier" and i.has("cluster", "wait"),
    "warp-op": _first("shfl", "vote", "match", "redux", "elect", "activemask"),
    "mbarrier": _first("mbarrier"),
    "async-copy": lambda i: i.opcode[:2] == ("cp", "async") and not _is_control(i),
    "async-control": lambda i: i.opcode[:2] == ("cp", "async") and _is_control(i),
    "asm": lambda i: i.in_asm,
}  # fmt: skip
"""For each kind of operation, which instructions can stand for it."""

SYNCHRONISING = frozenset(INSTRUCTIONS) - {"load", "store", "volatile-load", "volatile-store", "asm"}
"""The kinds for which a missing instruction matters."""

COLLECTIVE = ("barrier", "warp-barrier", "cluster-arrive", "cluster-wait", "warp-op")
"""The kinds that several threads must execute together."""


def is_strong(instr: Instr) -> bool:
    """Whether a load or store says a memory order."""
    return any(part in _STRONG for part in instr.opcode)


def _is_proxy(instr: Instr) -> bool:
    return instr.opcode[1:2] in (("proxy",), ("mbarrier_init",))


def _is_control(instr: Instr) -> bool:
    return any(part in ("commit_group", "wait_group", "wait_all") for part in instr.opcode)


@dataclass(frozen=True, slots=True)
class Group:
    """Operations of one kind at one place (a device function that is inlined twice has its operations twice)."""

    kind: str
    span: Span
    operations: tuple[Operation, ...]
    instrs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Matching:
    """``groups`` by kind and span; ``owner`` gives the group of an instruction by its index."""

    function: Function
    groups: Mapping[tuple[str, Span], Group]
    owner: Mapping[int, Group]

    def group(self, operation: Operation) -> Group:
        """The group of an operation."""
        return self.groups[operation.kind, operation.stmt.span]

    def instrs(self, group: Group) -> tuple[Instr, ...]:
        """A group's instructions."""
        return tuple(self.function.instrs[i] for i in group.instrs)


def match(function: Function, operations: Sequence[Operation], files: Mapping[str, str]) -> Matching:
    """Match a function's instructions with the kernel's operations.

    ``files`` maps the file names in the PTX to the names that spans carry.
    """
    members: dict[tuple[str, Span], list[Operation]] = {}
    for operation in operations:
        members.setdefault((operation.kind, operation.stmt.span), []).append(operation)
    kinds: dict[str, list[Span]] = {}
    for kind, span in members:
        kinds.setdefault(kind, []).append(span)
    found: dict[tuple[str, Span], list[int]] = {key: [] for key in members}
    for index, instr in enumerate(function.instrs):
        for kind, test in INSTRUCTIONS.items():
            if kind in kinds and test(instr):
                for span in _spans_of(instr.chain, kinds[kind], files):
                    found[kind, span].append(index)
    groups = {key: Group(*key, tuple(members[key]), tuple(indices)) for key, indices in found.items()}
    owner = {index: group for group in groups.values() for index in group.instrs}
    return Matching(function, groups, owner)


def _spans_of(chain: Sequence[Place], spans: Sequence[Span], files: Mapping[str, str]) -> list[Span]:
    """The span that an instruction belongs to, if one stands out."""
    for exact in (True, False):
        for place in chain:
            file = files.get(place.file)
            around = [s for s in spans if s.file == file and _contains(s, place, exact)] if file else []
            if around:
                if not exact:
                    return around if len(around) == 1 else []  # which of them, nobody says
                return [min(around, key=lambda s: (s.end_line - s.line, s.end_col - s.col))]
    return []


def _contains(span: Span, place: Place, exact: bool) -> bool:
    if not span.line <= place.line <= span.end_line:
        return False
    if not exact or place.col == 0:
        return not exact
    return (span.line, span.col) <= (place.line, place.col) < (span.end_line, span.end_col)
