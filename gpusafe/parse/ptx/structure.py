"""From control flow to structured code: nested blocks and loops that branches leave or repeat.

The dominator tree gives the nesting (N. Ramsey, "Beyond Relooper", ICFP 2022): what a block alone leads to stands
inside it, where several ways meet follows a labelled block. Unlike there, what a loop's exits lead to follows the loop.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from gpusafe.ir import kernel as k
from gpusafe.ir.expr import FALSE, Expr
from gpusafe.parse.cuda import terms
from gpusafe.parse.ptx.flow import Flow, NotStructured
from gpusafe.span import Span

_DEEPEST = 56


@dataclass(eq=False, slots=True)
class Nest:
    """A statement that holds others, while it is being made. ``kind``: if, block or loop."""

    kind: str
    span: Span
    body: list[Code]
    orelse: list[Code] = field(default_factory=list)
    cond: Expr | None = None
    label: str = ""


Code = k.Stmt | Nest


@dataclass(frozen=True, slots=True)
class Ending:
    """How a block ends: under ``conds[i]`` with successor i, else with the last one; no successor: the thread ends."""

    span: Span
    conds: tuple[Expr, ...] = ()


def structure(flow: Flow, block: Callable[[int], tuple[list[k.Stmt], Ending]]) -> tuple[k.Stmt, ...]:
    """Structured statements. ``block`` gives the statements of a block and how it ends."""
    maker = _Maker(flow)
    for number in range(len(flow.ranges) - 1, -1, -1):
        stmts, ending = block(number)
        maker.add(number, stmts, ending)
    return _frozen(maker.code[0])


class _Maker:
    def __init__(self, flow: Flow) -> None:
        self.flow = flow
        self.code: dict[int, list[Code]] = {}
        self.uses: Counter[str] = Counter()
        self.place: dict[int, int] = {}
        self.label: dict[int, str] = {}
        self._lay_out()

    def _lay_out(self) -> None:
        """Which blocks need a label, and after which block each of them stands."""
        flow = self.flow
        around: dict[int, list[int]] = {b: [] for b in range(len(flow.ranges))}
        for head in sorted(flow.loops):  # outer loops first: a head dominates, so it is numbered lower
            for b in flow.loops[head]:
                around[b].append(head)
        first: dict[int, int] = {}
        for b in range(1, len(flow.ranges)):
            if b in flow.doomed:
                continue
            forward = [p for p in flow.predecessors[b] if p < b]
            place = flow.dominator[b]
            left = [head for head in around[place] if b not in flow.loops[head]]
            jumps = len(forward) > 1 or any(flow.successors[p].count(b) > 1 for p in forward)
            if left:
                place = min(left)
                first.setdefault(place, b)
            if left or jumps:
                self.place[b] = place
                self.label[b] = f"b{b}"
        for head, b in first.items():
            self.label[b] = f"l{head}"  # what follows a loop first is where leaving it leads

    def add(self, number: int, stmts: list[k.Stmt], ending: Ending) -> None:
        """Makes the code of a block, with all that it dominates; blocks come in falling order."""
        flow = self.flow
        code: list[Code] = [*stmts, *self._ending(number, ending)]
        own = sorted(b for b, place in self.place.items() if place == number)
        loop = flow.loops.get(number, frozenset({*range(len(flow.ranges))}))
        for b in own:
            if b in loop:
                code = self._followed(code, self.label[b], b, ending.span)
        if number in flow.loops:
            label = f"l{number}"
            _strip(code, label, k.Continue)
            code = [Nest("loop", ending.span, code, label=label)]
            for b in own:
                if b not in loop:
                    inner = self.label[b] == label
                    code = [*code, *self.code.pop(b)] if inner else self._followed(code, self.label[b], b, ending.span)
        self.code[number] = code

    def _followed(self, code: list[Code], label: str, block: int, span: Span) -> list[Code]:
        self.uses[label] -= _strip(code, label, k.Break)
        if self.uses[label]:
            code = [Nest("block", span, code, label=label)]
        return [*code, *self.code.pop(block)]

    def _ending(self, number: int, ending: Ending) -> list[Code]:
        following = self.flow.successors[number]
        if not following:
            return [k.Return(ending.span)]
        code = self._jump(number, following[-1], ending.span)
        for cond, target in reversed(list(zip(ending.conds, following, strict=False))):
            code = [Nest("if", ending.span, self._jump(number, target, ending.span), code, cond)]
        return code

    def _jump(self, number: int, target: int, span: Span) -> list[Code]:
        if target <= number:
            return [k.Continue(span, f"l{target}")]
        if target in self.label:
            self.uses[self.label[target]] += 1
            return [k.Break(span, self.label[target])]
        return self.code.pop(target)


def _strip(code: list[Code], label: str, kind: type[k.Break] | type[k.Continue]) -> int:
    """Takes jumps away that lead to where the code ends anyway; gives how many."""
    removed = 0
    stack = [code]
    while stack:
        body = stack.pop()
        if not body:
            continue
        match body[-1]:
            case k.Break(label=found) | k.Continue(label=found) if found == label and isinstance(body[-1], kind):
                body.pop()
                removed += 1
            case Nest(kind="if", body=then, orelse=orelse):
                stack += (then, orelse)
            case Nest(kind="block", body=inner):
                stack.append(inner)
            case Nest(kind="loop", label=own, body=inner) if kind is k.Break:
                removed += _aim(inner, label, own)
    return removed


def _aim(code: list[Code], label: str, own: str) -> int:
    """Makes jumps out of a loop's body leave that loop alone, where what they led to follows it; gives how many."""
    changed = 0
    stack = [code]
    while stack:
        body = stack.pop()
        for at, item in enumerate(body):
            match item:
                case k.Break(span=span, label=found) if found == label:
                    body[at] = k.Break(span, own)
                    changed += 1
                case Nest(body=inner, orelse=orelse):
                    stack += (inner, orelse)
    return changed


def _frozen(code: list[Code]) -> tuple[k.Stmt, ...]:
    """The finished statements. Raises :class:`NotStructured` where they nest too deeply."""
    return _freeze(code, 0)


def _freeze(code: list[Code], depth: int) -> tuple[k.Stmt, ...]:
    if depth > _DEEPEST:
        raise NotStructured("control flow that nests too deeply")
    out: list[k.Stmt] = []
    waiting = code[::-1]
    while waiting:
        item = waiting.pop()
        if not isinstance(item, Nest):
            out.append(item)
        elif item.kind != "if":
            made = k.Loop if item.kind == "loop" else k.Block
            out.append(made(item.span, item.label, _freeze(item.body, depth + 1)))
        else:
            assert item.cond is not None
            cond, then, orelse = item.cond, item.body, item.orelse
            if not then or (_leaves(orelse) and not _leaves(then)) or _fails(orelse) is not None:
                cond, then, orelse = terms.negate(cond), orelse, then
            failing = _fails(then)
            if failing is not None:
                out.append(k.Assume(item.span, terms.negate(cond), failing))
                waiting += orelse[::-1]
            elif _leaves(then):  # what stands beside a jump may as well follow it
                out.append(k.If(item.span, cond, _freeze(then, depth + 1)))
                waiting += orelse[::-1]
            elif then:
                out.append(k.If(item.span, cond, _freeze(then, depth + 1), _freeze(orelse, depth + 1)))
    return tuple(out)


def _leaves(code: list[Code]) -> bool:
    return bool(code) and isinstance(code[-1], k.Break | k.Continue | k.Return)


def _fails(code: list[Code]) -> str | None:
    """Why threads that come here stop at once, where that is all that happens."""
    stop = next((s for s in code if isinstance(s, k.Assume) and s.cond == FALSE), None)
    quiet = all(isinstance(s, k.Assign | k.Return) or s is stop for s in code)
    return stop.reason if stop is not None and quiet else None
