"""Closed forms of variables that a loop changes, in the loop's iteration number."""

from __future__ import annotations

from dataclasses import dataclass

from gpusafe.dataflow.arith import clip
from gpusafe.dataflow.terms import Term, Terms, postorder
from gpusafe.ir.expr import Type

TABLE_LIMIT = 80  # a shift or doubling runs out of bits after 64 steps
VARYING = frozenset({"head", "iter", "load", "atomic", "shuffle", "fresh"})


@dataclass(frozen=True, slots=True)
class Closed:
    """A variable at the head of iteration k: its value, how it was found, and for ``additive`` the step term.

    ``exact`` is False where the value is an unknown. ``signed``: the step is an addition of signed numbers, which C++
    leaves undefined where it overflows.
    """

    value: Term
    kind: str
    step: Term | None = None
    sign: int = 1
    exact: bool = True
    signed: bool = False


def mentions(term: Term, ops: frozenset[str], memo: dict[int, bool]) -> bool:
    """Whether one of these operators occurs in a term."""
    for t in postorder([term]):
        if t.id not in memo:
            memo[t.id] = t.op in ops or any(memo[a.id] for a in t.args)
    return memo[term.id]


def _step(terms: Terms, head: Term, end: Term) -> tuple[Term, int] | None:
    """``end == head + step`` (or minus, sign -1), where the step does not change in the loop."""
    if end.op == "cast" and end.args[0].type.kind == "int" and end.args[0].type.bits == end.type.bits:
        end = end.args[0]  # `i = (int)((unsigned)i + step)`: the same where nothing overflows
    if end.type.kind != "int" or end.op not in ("+", "-"):
        return None
    a, b = (
        x.args[0] if x.op == "cast" and x.args[0] is head and x.type.bits == head.type.bits else x for x in end.args
    )
    if end.op == "+" and b is head:
        a, b = b, a
    if a is not head or mentions(b, VARYING, {}):
        return None
    if end.op == "-":
        return b, -1
    if b.const is not None:
        signed = Type("int", b.type.bits, True)
        value = clip(b.const, signed)
        if value < 0 and not b.type.signed:
            return terms.const(-value, b.type), -1
    return b, 1


def _wrapped(terms: Terms, init: Term, stepped: tuple[Term, int], k: Term) -> Term:
    """``init + sign * k * step``, of which the machine keeps the lower bits."""
    step, sign = stepped
    moved = terms.binary("*", k, terms.natural(step), True)
    return terms.cast(init.type, terms.binary("+" if sign > 0 else "-", terms.natural(init), moved, True))


def _table(terms: Terms, head: Term, end: Term, init: Term, k: Term) -> Term | None:
    """The values of a variable that starts at a constant and follows a function of itself alone."""
    if init.const is None or init.type.kind != "int":
        return None
    if any(
        (t.op in VARYING and t is not head) or (t.op not in ("const", "head") and not t.args) for t in postorder([end])
    ):
        return None
    values = [init.const]
    current = init
    while len(values) < TABLE_LIMIT:
        now = current
        current = terms.substitute([end], lambda t, now=now: now if t is head else None)[end]  # type: ignore[misc]
        if current.const is None:
            return None
        if current.const == values[-1]:
            return terms.table(k, tuple(values), False, init.type)
        if current.const == values[0]:
            return terms.table(k, tuple(values), True, init.type)
        values.append(current.const)
    return None


def close(
    terms: Terms,
    heads: dict[str, Term],
    ends: dict[str, Term],
    inits: dict[str, Term],
    k: Term,
    unknown: dict[str, Term],
    banned: frozenset[str],
) -> dict[str, Closed]:
    """Closed forms of all variables of a loop.

    ``heads`` are the symbols that stood for the variables at the head, ``ends`` their values at the end of an
    iteration, ``inits`` before the loop; ``unknown`` the terms to use where there is no closed form; ``banned`` the
    variables whose steps may overflow.
    """
    out: dict[str, Closed] = {}
    first = terms.binary("==", k, terms.const(0, k.type))
    for var in heads:
        found = _simple(terms, var, heads, ends, inits, k, banned)
        if found is not None:
            out[var] = found
    by_head = {head: var for var, head in heads.items()}
    previous = terms.binary("-", k, terms.const(1, k.type), True)
    for var in heads:  # the value of an expression over the others, one iteration ago
        if var in out:
            continue
        used = [by_head[t] for t in postorder([ends[var]]) if t in by_head]
        if used and all(u in out and out[u].exact for u in used):
            here = terms.substitute([ends[var]], lambda t: out[by_head[t]].value if t in by_head else None)[ends[var]]
            before = terms.substitute([here], lambda t: previous if t is k else None)[here]
            out[var] = Closed(terms.select(first, inits[var], before), "dependent")
        elif not used:
            before = terms.substitute([ends[var]], lambda t: previous if t is k else None)[ends[var]]
            out[var] = Closed(terms.select(first, inits[var], before), "dependent")
    for var in heads:
        if var not in out:
            out[var] = Closed(terms.select(first, inits[var], unknown[var]), "unknown", exact=False)
    return out


def _simple(
    terms: Terms,
    var: str,
    heads: dict[str, Term],
    ends: dict[str, Term],
    inits: dict[str, Term],
    k: Term,
    banned: frozenset[str],
) -> Closed | None:
    head, end, init = heads[var], ends[var], inits[var]
    if end is head:
        return Closed(init, "invariant")
    stepped = _step(terms, head, end)
    if stepped is not None and var not in banned:
        step, sign = stepped
        return Closed(
            terms.induction(init, step, k, sign),
            "additive",
            step,
            sign,
            signed=end.op in ("+", "-") and end.type.signed,
        )
    if stepped is not None and init.type.bits < k.type.bits:
        return Closed(_wrapped(terms, init, stepped, k), "wrapped")
    if end.op == "ptradd" and end.args[0] is head and not mentions(end.args[1], VARYING, {}):
        moved = terms.binary("*", k, terms.cast(k.type, end.args[1]), True)
        return Closed(terms.ptradd(init, moved), "pointer")
    table = _table(terms, head, end, init, k)
    if table is not None:
        return Closed(table, "table")
    for other, symbol in heads.items():
        if end is symbol and ends[other] is head:
            even = terms.binary("==", terms.binary("%", k, terms.const(2, k.type)), terms.const(0, k.type))
            return Closed(terms.select(even, init, inits[other]), "swap")
    return None
