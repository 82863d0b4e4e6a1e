"""Whether what was written before covers what an operation reads: a byte of the read that no earlier write holds."""

from __future__ import annotations

import re
from typing import Any

from gpusafe.dataflow.effects import Access
from gpusafe.ir.host import HostPath
from gpusafe.prove.host.kernel_ranges import KernelRanges, Piece
from gpusafe.prove.host.overlap import RLIMIT
from gpusafe.prove.host.terms import Encoder

PREFIX = "a!"
OF_THREADS = re.compile(re.escape(PREFIX) + r"(tid|ctaid|loop|q\d)")  # indices, turns of loops, quotients of them


def hole(path: HostPath, read: Access, writes: list[Access], ranges: KernelRanges) -> int | None:
    """The offset of a byte that is read and that no write before can have written, where that is certain.

    It is where the launch and the path fix all sizes, and each turn of the path's loops is on the path. A launch that
    wrote before may have written all that its argument reaches.
    """
    if path.generalised or not path.complete:
        return None
    encoder = ranges.encoder = ranges.encoder or Encoder()
    parts = ranges.pieces(encoder, read, PREFIX)
    if parts is None:
        return None
    given = ranges.assumes(encoder, read)
    written = [Piece(encoder.encode(w.range.start), ranges.size(encoder, w)) for w in writes]
    fixed = _fixed(encoder, [x for w in written for x in (w.start, w.size)])
    for part in parts if fixed else ():
        if part.certain and _fixed(encoder, [part.start, part.size, *part.conditions, *given]):
            byte = _outside(encoder, part, written, given)
            if byte is not None:
                return byte
    return None


def _fixed(encoder: Encoder, terms: list[Any]) -> bool:
    """Whether terms speak of nothing that host or memory leave open: only of the kernel's own threads."""
    z3 = encoder.z3
    todo, seen = [t for t in terms if not isinstance(t, int)], set()
    while todo:
        term = todo.pop()
        if term.get_id() in seen:
            continue
        seen.add(term.get_id())
        todo += term.children()
        name = term.decl().name() if z3.is_app(term) else ""
        if z3.is_app(term) and term.decl().kind() == z3.Z3_OP_UNINTERPRETED and not OF_THREADS.match(name):
            return False
    return True


def _outside(encoder: Encoder, part: Piece, written: list[Piece], given: list[Any]) -> int | None:
    z3 = encoder.z3
    byte = z3.Int("byte that is read", encoder.ctx)
    solver = z3.Solver(ctx=encoder.ctx)
    solver.set("rlimit", RLIMIT)
    solver.add(byte >= part.start, byte < part.start + part.size, *part.conditions, *given, *encoder.facts)
    solver.add(*[z3.Or(byte < w.start, byte >= w.start + w.size) for w in written])
    if solver.check() != z3.sat:
        return None
    return int(solver.model().eval(byte, model_completion=True).as_long())
