"""Control flow of a PTX function: blocks, edges, dominance, and what depends on which branch."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from gpusafe.codegen_check.ptx.model import Function, Instr

_ENDS = frozenset({"ret", "exit", "trap", "brx"})
_DEBUG_LABELS = ("$L__tmp", "$L__func", "$L__info", "$L__sec")


@dataclass(frozen=True, slots=True)
class Flow:
    """The blocks of a function as half-open ranges of its instructions; block 0 is the entry.

    ``post`` holds for each block the blocks on every way from it to the end (itself included); only itself where no way
    leads to the end.
    """

    function: Function
    blocks: tuple[tuple[int, int], ...]
    successors: tuple[tuple[int, ...], ...]
    predecessors: tuple[tuple[int, ...], ...]
    post: tuple[frozenset[int], ...]

    def block_of(self, index: int) -> int:
        """The block of an instruction."""
        return next(b for b, (start, end) in enumerate(self.blocks) if start <= index < end)

    def branch(self, block: int) -> Instr | None:
        """The conditional branch that ends a block with more than one successor."""
        if len(self.successors[block]) < 2:
            return None
        start, end = self.blocks[block]
        return next((i for i in reversed(self.function.instrs[start:end]) if i.opcode[0] == "bra" and i.guard), None)

    def reachable(self, start: int, without: Collection[int] = ()) -> frozenset[int]:
        """Blocks that can follow ``start`` (itself included) on ways that avoid the blocks ``without``."""
        if start in without:
            return frozenset()
        seen, stack = {start}, [start]
        while stack:
            for s in self.successors[stack.pop()]:
                if s not in seen and s not in without:
                    seen.add(s)
                    stack.append(s)
        return frozenset(seen)

    def controlling(self, block: int) -> tuple[tuple[int, int], ...]:
        """The edges (branching block, chosen successor) that decide whether ``block`` runs, directly."""
        found = []
        for b, following in enumerate(self.successors):
            if len(following) > 1:
                for s in following:
                    if block in self.post[s] and (block == b or block not in self.post[b]):
                        found.append((b, s))
        return tuple(found)

    def in_cycle(self, block: int) -> bool:
        """Whether the block can run again."""
        return any(block in self.reachable(s) for s in self.successors[block])


def build_flow(function: Function) -> Flow:
    """Blocks and edges of a function; unknown branch targets are left out."""
    starts = _leaders(function)
    bounds = [*starts[1:], len(function.instrs)] if starts else []
    blocks = tuple(zip(starts, bounds, strict=True)) or ((0, 0),)
    of_start = {start: b for b, (start, _) in enumerate(blocks)}
    successors = tuple(tuple(dict.fromkeys(_following(function, b, blocks, of_start))) for b in range(len(blocks)))
    predecessors: list[list[int]] = [[] for _ in blocks]
    for b, following in enumerate(successors):
        for s in following:
            predecessors[s].append(b)
    return Flow(function, blocks, successors, tuple(map(tuple, predecessors)), _post_dominators(successors))


def _leaders(function: Function) -> list[int]:
    count = len(function.instrs)
    leaders = {0, *(i for name, i in function.labels.items() if i < count and not name.startswith(_DEBUG_LABELS))}
    for i, instr in enumerate(function.instrs):
        if (instr.opcode[0] == "bra" or instr.opcode[0] in _ENDS) and i + 1 < count:
            leaders.add(i + 1)
    return sorted(leaders) if count else []


def _following(
    function: Function, block: int, blocks: tuple[tuple[int, int], ...], of_start: dict[int, int]
) -> Iterable[int]:
    start, end = blocks[block]
    falls = True
    if end > start:
        last = function.instrs[end - 1]
        if last.opcode[0] == "bra":
            target = function.labels.get(last.operands[0]) if last.operands else None
            if target is not None and target in of_start:
                yield of_start[target]
            falls = last.guard is not None
        elif last.opcode[0] == "brx":
            # the targets are in a .branchtargets list: any label may follow
            yield from (of_start[i] for i in function.labels.values() if i in of_start)
            falls = False
        elif last.opcode[0] in _ENDS:
            falls = last.guard is not None
    if falls and block + 1 < len(blocks):
        yield block + 1


def _post_dominators(successors: tuple[tuple[int, ...], ...]) -> tuple[frozenset[int], ...]:
    count = len(successors)
    everything = frozenset(range(count))
    post = [frozenset({b}) if not successors[b] else everything for b in range(count)]
    changed = True
    while changed:
        changed = False
        for b in range(count - 1, -1, -1):
            if successors[b]:
                merged = frozenset.intersection(*(post[s] for s in successors[b])) | {b}
                if merged != post[b]:
                    post[b] = merged
                    changed = True
    ends = {b for b in range(count) if not successors[b]}
    while True:
        more = {b for b in range(count) if b not in ends and ends.intersection(successors[b])}
        if not more:
            return tuple(p if b in ends else frozenset({b}) for b, p in enumerate(post))
        ends |= more
