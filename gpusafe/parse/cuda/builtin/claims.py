"""What a source states for provers: GPUVerify's ``__requires`` and kin, ``__builtin_assume``.

A condition that cannot be modelled is left out, which no proof minds; a counterexample may be one that the source
excludes, so that the kernel is marked (``Kernel.unheld``).
"""

from __future__ import annotations

from collections.abc import Callable

from gpusafe.ir import kernel as k
from gpusafe.ir.expr import Expr, Op, Opaque, Special, Var
from gpusafe.parse.cuda import terms
from gpusafe.parse.cuda import types as t
from gpusafe.parse.cuda.builtin.site import CallSite
from gpusafe.parse.cuda.context import Context, Unsupported
from gpusafe.parse.cuda.convert import expression
from gpusafe.parse.cuda.places import to_bool, truth
from gpusafe.parse.cuda.render import render
from gpusafe.parse.cuda.values import NoValue, Operand, Term

Builtin = Callable[[Context, CallSite], Operand]
NOTHING = NoValue(t.VOID)
_LISTS_AT_TOP = 2  # the emitter's own list and the one of the kernel's body
_OF_THREADS = ("tid.", "ctaid.", "laneid", "warpid")


def _said(x: Context, site: CallSite) -> Operand:
    """A claim for another prover (GPUVerify's assertions and invariants): it does nothing when the kernel runs."""
    return NOTHING


def _requires(x: Context, site: CallSite) -> Operand:
    """``__requires(c)`` of GPUVerify: what its user states about every launch, at the start of a kernel.

    In a device function it is a claim about the callers.
    """
    if len(x.frames) > 1:
        return NOTHING
    cond = _of_launch(x, site)
    if cond is None:
        x.unheld[render(site.args[0]) if site.args else site.last] = None
    else:
        x.requires.append(cond)
    return NOTHING


def _of_launch(x: Context, site: CallSite) -> Expr | None:
    """The condition over what a launch passes, None when it is about more than that."""
    try:
        with x.without_statements() as made:
            cond = truth(site.value(x, 0))
    except Unsupported:
        return None
    if made or len(x.emitter.lists) != _LISTS_AT_TOP:
        return None
    return _at_entry(x, cond)


def _at_entry(x: Context, cond: Expr) -> Expr | None:
    """The condition with variables replaced by what they got at the start of the body."""
    body = x.emitter.lists[-1]
    if not all(isinstance(stmt, (k.Assign, k.Havoc, k.Load)) for stmt in body):
        return None
    while True:
        parts = list(terms.walk(cond))
        if any(isinstance(p, Opaque) or (isinstance(p, Special) and p.name.startswith(_OF_THREADS)) for p in parts):
            return None
        var = next((p for p in parts if isinstance(p, Var)), None)
        if var is None:
            return cond
        given = [stmt for stmt in body if getattr(stmt, "var", None) == var.name]
        if len(given) != 1 or not isinstance(given[0], k.Assign) or not x.is_settled(given[0].value):
            return None
        cond = terms.replaced(cond, var, given[0].value)


def _assume(x: Context, site: CallSite) -> Operand:
    """``__assume(c)``, ``__builtin_assume(c)``: no thread gets here for which the condition is false."""
    try:
        with x.emitter.collect() as made:
            cond = truth(site.value(x, 0))
    except Unsupported:
        x.unheld[render(site.args[0]) if site.args else site.last] = None
        return NOTHING
    if not all(isinstance(stmt, (k.Assign, k.Havoc)) for stmt in made):  # what it reads is no access of the kernel
        x.unheld[render(site.args[0])] = None
        return NOTHING
    for stmt in made:
        x.emit(stmt)
    x.emit(k.Assume(site.span, cond, f"`{site.last}`"))
    return NOTHING


def _implies(x: Context, site: CallSite) -> Operand:
    """``__implies(a, b)``."""
    first, second = (to_bool(expression(x, site.value(x, index))) for index in (0, 1))
    return Term(t.BOOL, terms.binary(Op.LOR, terms.negate(first), second))


def _is_power(x: Context, site: CallSite) -> Operand:
    """``__is_pow2(n)``: no two bits are set."""
    n = expression(x, site.value(x, 0))
    low = terms.binary(Op.SUB, n, terms.integer(1, n.type))
    return Term(t.BOOL, terms.binary(Op.EQ, terms.binary(Op.AND, n, low), terms.integer(0, n.type)))


def _of_another(x: Context, site: CallSite) -> Operand:
    raise Unsupported(f"`{site.last}`, a value of the other thread")


_CLAIMS = (
    "__assert", "__global_assert", "__invariant", "__global_invariant", "__function_wide_invariant",
    "__candidate_assert", "__candidate_invariant", "__candidate_global_invariant", "__ensures", "__global_ensures",
    "__requires_fresh_array", "__function_wide_candidate_invariant", "__candidate_ensures", "__candidate_requires",
)  # fmt: skip
CLAIMS: dict[str, Builtin] = {
    "__requires": _requires,
    "__assume": _assume,
    "__builtin_assume": _assume,
    "__implies": _implies,
    "__is_pow2": _is_power,
    **dict.fromkeys(("__other_int", "__other_bool", "__other_ptr_base"), _of_another),
    **dict.fromkeys(_CLAIMS, _said),
}
