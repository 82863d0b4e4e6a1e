"""Barriers and warp collectives that the compiler cloned into the arms of a branch on the thread."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gpusafe.codegen_check.compare.findings import Weaker
from gpusafe.codegen_check.compare.matching import COLLECTIVE, INSTRUCTIONS, Matching
from gpusafe.codegen_check.ptx import Chain, Flow
from gpusafe.codegen_check.ptx.divergence import divergent_blocks
from gpusafe.span import Span
from gpusafe.verdict import Site

_WORDS = {"warp-op": "warp operation", "cluster-arrive": "cluster barrier", "cluster-wait": "cluster barrier"}

Edge = tuple[int, int]


def cloned(matching: Matching, flow: Flow, files: Mapping[str, str]) -> Iterator[Weaker]:
    """Collective operations of which two copies exclude each other by the thread's own choice.

    Copies have one origin: the same place reached through the same calls.
    """
    divergent = divergent_blocks(flow)
    if not divergent:
        return
    for kind in COLLECTIVE:
        for chain, copies in _by_origin(matching, kind).items():
            pair = _excluding(copies, flow, divergent)
            span = _span(matching, copies[0], chain, files)
            if pair is not None and span is not None:
                yield _finding(matching, flow, kind, span, *pair)


def _by_origin(matching: Matching, kind: str) -> dict[Chain, list[int]]:
    found: dict[Chain, list[int]] = {}
    for index, instr in enumerate(matching.function.instrs):
        if instr.chain and INSTRUCTIONS[kind](instr):
            found.setdefault(instr.chain, []).append(index)
    return found


def _span(matching: Matching, index: int, chain: Chain, files: Mapping[str, str]) -> Span | None:
    """The source operation, or the innermost place in the program's own files."""
    group = matching.owner.get(index)
    if group is not None:
        return group.span
    place = next((p for p in chain if p.file in files and p.line > 0), None)
    if place is None:
        return None
    return Span(files[place.file], place.line, max(1, place.col), place.line, max(1, place.col) + 1)


def _excluding(copies: list[int], flow: Flow, divergent: frozenset[int]) -> tuple[int, int, int] | None:
    """Two copies on different arms of one divergent branch, and the block of that branch."""
    edges = {index: _controlled_by(flow, flow.block_of(index), divergent) for index in copies}
    for i, first in enumerate(copies):
        for second in copies[i + 1 :]:
            for block, arm in edges[first]:
                if any(b == block and a != arm for b, a in edges[second]) and not _both(flow, block, arm, second):
                    return first, second, block
    return None


def _both(flow: Flow, block: int, arm: int, other: int) -> bool:
    """Whether the thread that takes ``arm`` comes to the other copy as well, without the branch again."""
    return flow.block_of(other) in flow.reachable(arm, without={block})


def _controlled_by(flow: Flow, block: int, divergent: frozenset[int]) -> set[Edge]:
    """The edges of divergent branches that decide whether a block runs, directly or through other branches."""
    found: set[Edge] = set()
    seen, stack = {block}, [block]
    while stack:
        for b, arm in flow.controlling(stack.pop()):
            if b in divergent:
                found.add((b, arm))
            if b not in seen:
                seen.add(b)
                stack.append(b)
    return found


def _finding(matching: Matching, flow: Flow, kind: str, span: Span, first: int, second: int, block: int) -> Weaker:
    instrs = matching.function.instrs
    branch = flow.branch(block)
    word = _WORDS.get(kind, "barrier")
    shown = (instrs[first], *((branch,) if branch else ()), instrs[second])
    return Weaker(
        f"the compiler cloned this {word} into both arms of a branch on the thread",
        Site(span, f"one {word} here, two in the PTX: not all threads meet at the same one"),
        shown,
        help=(
            "use the barrier intrinsic instead of inline assembly (LLVM does not treat `asm!` as convergent), and "
            "build with `-Z mir-enable-passes=-JumpThreading` before rustc 1.97",
        ),
        lost=kind,
        cloned=True,
    )
