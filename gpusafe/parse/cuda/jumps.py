"""``goto`` forwards, to a label that a block around it has: what is jumped over becomes a Block that is left."""

from __future__ import annotations

from collections.abc import Sequence

from gpusafe.ir import kernel as k
from gpusafe.parse.cuda import syntax as s
from gpusafe.parse.cuda.context import Context, Unsupported


def sequence(x: Context, stmts: Sequence[s.Stmt]) -> None:
    """Lower the statements of one block in order, its labels included."""
    flat = [part for stmt in stmts for part in _parts(stmt)]
    labels = [part for part in flat if isinstance(part, s.Labelled)]
    if not labels:
        for stmt in flat:
            x.execute(stmt)
        return
    frame = id(x.frame)
    ahead = {label.label: x.emitter.fresh(f"to {label.label}") for label in labels}
    for name, block in ahead.items():
        x.labels[frame, name] = block
    made: list[k.Stmt] = []
    for part in flat:
        if isinstance(part, s.Labelled):
            made = _closed(x, part, made)
            del x.labels[frame, part.label]  # from here on it lies behind
            continue
        with x.emitter.collect() as more:
            x.execute(part)
        made += more
    for done in made:
        x.emit(done)


def _parts(stmt: s.Stmt) -> list[s.Stmt]:
    """``a: b: s`` as its labels and the statement."""
    out: list[s.Stmt] = []
    while isinstance(stmt, s.Labelled):
        out.append(stmt)
        stmt = stmt.stmt
    return [*out, stmt]


def _closed(x: Context, label: s.Labelled, before: list[k.Stmt]) -> list[k.Stmt]:
    """What stands before a label, as the block that a ``goto`` leaves; as it is when none does."""
    block = x.labels[id(x.frame), label.label]
    return [k.Block(label.span, block, tuple(before))] if block in x.jumped else before


def goto(x: Context, stmt: s.Goto) -> None:
    """Leave the block that ends at the label; only labels ahead, in a block around this place, are understood."""
    block = x.labels.get((id(x.frame), stmt.label))
    if block is None:
        raise Unsupported(f"`goto {stmt.label}`, which does not lead forwards to a block around it")
    x.jumped.add(block)
    x.emit(k.Break(stmt.span, block))
