"""Control flow of flat PTX: blocks, edges, dominators, natural loops."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from gpusafe.parse.ptx.syntax import Instruction

_ENDS = frozenset({"ret", "exit", "trap"})
_QUIET = frozenset({"mov", "cvta", "cvt", "add", "sub", "shl", "selp", "nanosleep"})


class NotStructured(Exception):
    """The control flow has a form that is not followed; the message is for the user."""


@dataclass(frozen=True, slots=True)
class Flow:
    """Reachable blocks in reverse postorder: block 0 is the entry.

    ``ranges`` are half-open ranges of instructions; the last instruction of a range may be the branch. ``successors``
    are in the order of :func:`targets_of`; ``dominator`` is the immediate one. ``loops`` maps the head of each natural
    loop to its blocks. ``doomed`` blocks do nothing that others see and end in a trap; each way there has its own copy.
    """

    ranges: tuple[tuple[int, int], ...]
    successors: tuple[tuple[int, ...], ...]
    predecessors: tuple[tuple[int, ...], ...]
    dominator: tuple[int, ...]
    loops: dict[int, frozenset[int]]
    doomed: frozenset[int] = frozenset()


def build_flow(code: list[Instruction], labels: dict[str, int]) -> Flow:
    """Blocks and loops. Raises :class:`NotStructured` for irreducible control flow and unknown targets."""
    ranges = _ranges(code, labels)
    of_start = {start: b for b, (start, _) in enumerate(ranges)}
    edges = [_edges(code, labels, ranges, of_start, b) for b in range(len(ranges))]
    _skip_empty(code, ranges, edges)
    doomed = _separate(code, ranges, edges)
    order = _reverse_postorder(edges)
    number = {b: i for i, b in enumerate(order)}
    successors = tuple(tuple(number[s] for s in edges[b]) for b in order)
    predecessors: list[list[int]] = [[] for _ in order]
    for b, following in enumerate(successors):
        for s in dict.fromkeys(following):
            predecessors[s].append(b)
    dominator = _dominators(predecessors)
    loops = _loops(successors, predecessors, dominator)
    return Flow(
        tuple(ranges[b] for b in order),
        successors,
        tuple(map(tuple, predecessors)),
        tuple(dominator),
        loops,
        frozenset(number[b] for b in doomed if b in number),
    )


def targets_of(instruction: Instruction) -> tuple[str, ...] | None:
    """The labels that a branch may go to, None for what is no branch."""
    match instruction.words[0]:
        case "bra":
            return instruction.operands[:1]
        case "brx":
            return instruction.targets
    return None


def _ranges(code: list[Instruction], labels: dict[str, int]) -> list[tuple[int, int]]:
    aimed = {t for i in code for t in targets_of(i) or ()}
    leaders = {0, *(at for name, at in labels.items() if name in aimed)}
    for index, instruction in enumerate(code):
        if targets_of(instruction) is not None or instruction.words[0] in _ENDS:
            leaders.add(index + 1)
    starts = sorted(at for at in leaders if at <= len(code))
    if starts[-1] < len(code) or len(starts) == 1:
        starts.append(len(code))
    ranges = list(pairwise(starts))
    ranges.append((len(code), len(code)))  # the end of the text, where a label may stand
    return ranges


def _edges(
    code: list[Instruction], labels: dict[str, int], ranges: list[tuple[int, int]], of_start: dict[int, int], block: int
) -> list[int]:
    start, end = ranges[block]
    if start == len(code):
        return []
    last = code[end - 1]
    targets = targets_of(last)
    if targets is None:
        if last.words[0] in _ENDS and last.guard is None:
            return []
        return [block + 1]
    if not targets:
        raise NotStructured(f"the branch `{last.text}`, whose targets are not told")
    unknown = [t for t in targets if t not in labels]
    if unknown:
        raise NotStructured(f"a branch to `{unknown[0]}`, which is not here")
    found = [of_start[labels[t]] for t in targets]
    return [*found, block + 1] if last.guard is not None else found


def _skip_empty(code: list[Instruction], ranges: list[tuple[int, int]], edges: list[list[int]]) -> None:
    """Leads ways past blocks that only branch on."""
    for following in edges:
        for at, target in enumerate(following):
            passed = {target}
            while _only_branches(code[slice(*ranges[target])]) and edges[target][0] not in passed:
                target = edges[target][0]
                passed.add(target)
            following[at] = target


def _only_branches(block: list[Instruction]) -> bool:
    return len(block) == 1 and block[0].words[0] == "bra" and block[0].guard is None


def _separate(code: list[Instruction], ranges: list[tuple[int, int]], edges: list[list[int]]) -> set[int]:
    """Gives each way to a block that only traps a copy of the block; the copies.

    A check whose failure ends the thread is then part of the code that it guards, not a way out of the loops around it.
    """
    ends = {b for b, (start, end) in enumerate(ranges) if end > start and _only_traps(code[start:end])}
    copies: set[int] = set()
    for block in range(len(edges)):
        if block in ends:
            continue
        for at, target in enumerate(edges[block]):
            if target in ends:
                ranges.append(ranges[target])
                edges.append([])
                edges[block][at] = len(ranges) - 1
                copies.add(len(ranges) - 1)
    return copies


def _only_traps(block: list[Instruction]) -> bool:
    last = block[-1]
    quiet = all(i.words[0] in _QUIET or (i.words[0] == "ld" and i.has("param")) for i in block[:-1])
    return quiet and last.words[0] == "trap" and last.guard is None


def _reverse_postorder(edges: list[list[int]]) -> list[int]:
    seen, out = {0}, []
    stack = [(0, iter(edges[0]))]
    while stack:
        block, following = stack[-1]
        step = next((s for s in following if s not in seen), None)
        if step is None:
            out.append(block)
            stack.pop()
        else:
            seen.add(step)
            stack.append((step, iter(edges[step])))
    return out[::-1]


def _dominators(predecessors: list[list[int]]) -> list[int]:
    """Immediate dominators (Cooper, Harvey, Kennedy: "A Simple, Fast Dominance Algorithm"); the entry's is itself."""
    found: list[int] = [-1] * len(predecessors)
    found[0] = 0
    changed = True
    while changed:
        changed = False
        for block in range(1, len(predecessors)):
            known = [p for p in predecessors[block] if found[p] >= 0]
            new = known[0]
            for other in known[1:]:
                a = other
                while a != new:
                    while a > new:
                        a = found[a]
                    while new > a:
                        new = found[new]
            if found[block] != new:
                found[block] = new
                changed = True
    return found


def dominates(dominator: list[int] | tuple[int, ...], above: int, block: int) -> bool:
    """Whether every way to ``block`` leads through ``above``."""
    while block > above:
        block = dominator[block]
    return block == above


def _loops(
    successors: tuple[tuple[int, ...], ...], predecessors: list[list[int]], dominator: list[int]
) -> dict[int, frozenset[int]]:
    members: dict[int, set[int]] = {}
    for block, following in enumerate(successors):
        for head in following:
            if head > block:
                continue
            if not dominates(dominator, head, block):
                raise NotStructured("a loop that is entered in more than one place (irreducible control flow)")
            inside = members.setdefault(head, {head})
            stack = [block]
            while stack:
                b = stack.pop()
                if b not in inside:
                    inside.add(b)
                    stack += predecessors[b]
    return {head: frozenset(blocks) for head, blocks in members.items()}
