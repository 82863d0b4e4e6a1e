"""What users state of a kernel beyond its code: facts about the contents of arrays, and whether it can hold at all.

The facts are instantiated on the loads that occur in a query, without quantifiers. A launch passes views of one buffer
as different arrays at times; then an array's name stands for more than the user spoke of, and the fact is left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import z3

from gpusafe.dataflow.terms import Term
from gpusafe.dataflow.values import Values
from gpusafe.ir.kernel import Kernel
from gpusafe.prove.encode import Encoder, Thread
from gpusafe.prove.launch_context import Contract, LaunchContext, declared, of_contract

Z = Any
POSSIBLE_RLIMIT = 300_000


def whole_regions(kernel: Kernel, context: LaunchContext) -> frozenset[tuple[str, int]]:
    """The regions that are an object of their own in this launch, with the size of their elements in bytes."""
    views = context.bindings.same_memory
    shared = {*views, *(base for base, _ in views.values())}
    return frozenset((r.name, r.elem_bytes) for r in kernel.regions if r.name not in shared)


def facts_of_contents(
    enc: Encoder, injective: frozenset[tuple[str, int]], monotone: frozenset[tuple[str, int]]
) -> list[Z]:
    """Different elements of an injective region differ; elements of a monotone one are ordered as their places."""
    out: list[Z] = []
    for i, (x, one) in enumerate(enc.constants):
        for y, two in enc.constants[i + 1 :]:
            key = _element(x)
            if key is None or key != _element(y) or x.type != y.type:
                continue
            if key in injective:
                out.append(
                    z3.Implies(_place(enc, x, one) != _place(enc, y, two), _value(enc, x, one) != _value(enc, y, two))
                )
            if key in monotone:
                before = _place(enc, x, one) <= _place(enc, y, two)
                after = _place(enc, x, one) >= _place(enc, y, two)
                a, b = _value(enc, x, one), _value(enc, y, two)
                out += [z3.Implies(before, a <= b), z3.Implies(after, a >= b)]
    return out


def _element(load: Term) -> tuple[str, int] | None:
    """The region and size of a load of an integer."""
    assert isinstance(load.data, tuple)
    return (str(load.data[0]), load.type.bytes) if load.type.kind == "int" else None


def _place(enc: Encoder, load: Term, thread: Thread) -> Z:
    return enc.encode(load.args[0], thread)


def _value(enc: Encoder, load: Term, thread: Thread) -> Z:
    return enc.encode(load, thread)


def possible(kernel: Kernel, context: LaunchContext) -> bool:
    """Whether what is required and assumed of a kernel can hold in a launch of this context."""
    stated = kernel.requires + kernel.assumes if context.site is None else kernel.assumes
    if not stated:
        return True
    from gpusafe.prove.pairs import solve

    values = Values(context.terms, context.bindings)
    enc = Encoder(context.specials, frozenset(), True)
    enc.shared.intervals.assume(context.premises)
    conds = [*context.premises, *(values.evaluate(c, {}) for c in stated)]
    goal = [enc.encode(c, enc.shared) for c in conds]
    return solve(enc, [*goal, *enc.spread(), *enc.facts, *enc.meanings], POSSIBLE_RLIMIT)[0] != "unsat"


def without_contradictions(kernels: Iterable[Kernel]) -> tuple[tuple[Kernel, ...], tuple[Kernel, ...]]:
    """The kernels, without what no launch at all could meet, and those of which something was dropped for that."""
    out, dropped = [], []
    for kernel in kernels:
        anywhere = of_contract(kernel, Contract(declared(kernel).requires, ()))
        if possible(kernel, anywhere):
            out.append(kernel)
        else:
            out.append(replace(kernel, requires=(), assumes=()))
            dropped.append(kernel)
    return tuple(out), tuple(dropped)
