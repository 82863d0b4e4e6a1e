"""From expressions of the kernel IR to interned terms."""

from __future__ import annotations

from dataclasses import dataclass, field

from gpusafe.dataflow.terms import Term, Terms
from gpusafe.ir import expr as ir
from gpusafe.ir.expr import PTR, U32, U64
from gpusafe.ir.terms import children


@dataclass(frozen=True, slots=True)
class Bindings:
    """What is known of a launch: terms for special registers, scalar parameters and region lengths.

    Whatever is not bound stays a symbol. ``same_memory`` maps a region to the region whose memory it shares, with the
    byte offset of its start (two arguments of one launch that are views of one buffer).
    """

    specials: dict[str, Term] = field(default_factory=dict)
    params: dict[str, Term] = field(default_factory=dict)
    lengths: dict[str, Term] = field(default_factory=dict)
    same_memory: dict[str, tuple[str, Term]] = field(default_factory=dict)


class Values:
    """Evaluates expressions in an environment of terms."""

    def __init__(self, terms: Terms, bindings: Bindings) -> None:
        self.terms = terms
        self.bindings = bindings

    def special(self, name: str) -> Term:
        """A special register, with what the launch fixes."""
        bound = self.bindings.specials.get(name)
        if bound is not None:
            return bound
        terms = self.terms
        match name:
            case "laneid":
                return terms.binary("%", self.linear(), terms.const(32, U32))
            case "warpid":
                return terms.binary("/", self.linear(), terms.const(32, U32))
        register, _, axis = name.partition(".")
        if register in ("tid", "ctaid") and axis:
            extent = self.special(("n" + register) + "." + axis)
            if extent.const == 1:
                return terms.const(0, U32)
        return terms.make("special", U32, (), name)

    def linear(self) -> Term:
        """The linear index of a thread in its block."""
        terms = self.terms
        x, y, z = (self.special(f"tid.{a}") for a in "xyz")
        nx, ny = (self.special(f"ntid.{a}") for a in "xy")
        rows = terms.binary("+", y, terms.binary("*", ny, z, True), True)
        return terms.binary("+", x, terms.binary("*", nx, rows, True), True)

    def evaluate(self, root: ir.Expr, env: dict[str, Term]) -> Term:
        """The term of an expression; an unassigned variable is an unknown."""
        done: dict[int, Term] = {}
        stack: list[tuple[ir.Expr, bool]] = [(root, False)]
        while stack:
            expr, ready = stack.pop()
            if id(expr) in done:
                continue
            parts = children(expr)
            if ready or not parts:
                done[id(expr)] = self._one(expr, tuple(done[id(p)] for p in parts), env)
            else:
                stack.append((expr, True))
                stack.extend((p, False) for p in parts)
        return done[id(root)]

    def _one(self, expr: ir.Expr, args: tuple[Term, ...], env: dict[str, Term]) -> Term:
        terms = self.terms
        match expr:
            case ir.Const(type=t, value=v):
                return terms.const(v, t)
            case ir.Var(type=t, name=name):
                found = env.get(name)
                return found if found is not None else terms.make("fresh", t, (), (name, "thread", "is not assigned"))
            case ir.Param(type=t, name=name):
                bound = self.bindings.params.get(name)
                return terms.cast(t, bound) if bound is not None else terms.make("param", t, (), name)
            case ir.Length(region=region):
                return self.bindings.lengths.get(region) or terms.make("length", U64, (), region)
            case ir.Special(name=name):
                return self.special(name)
            case ir.Sym(type=t, name=name, low=low, high=high):
                return terms.make("sym", t, (), (name, low, high))
            case ir.Unary(op=op):
                return terms.unary(op.value, args[0])
            case ir.Binary(op=op, nowrap=nowrap):
                return terms.binary(op.value, args[0], args[1], nowrap)
            case ir.Cast(type=t):
                return terms.cast(t, args[0])
            case ir.Select():
                return terms.select(*args)
            case ir.Opaque(type=t, name=name):
                return terms.make("opaque", t, args, name)
            case ir.PtrBase(region=region):
                return terms.make("base", PTR, (), region)
            case ir.PtrAdd():
                return terms.ptradd(args[0], args[1])
            case ir.PtrUnknown(reason=reason):
                return terms.make("ptrunknown", PTR, (), reason)
        raise TypeError(f"not a term of the kernel IR: {type(expr).__name__}")


@dataclass(frozen=True, slots=True)
class Target:
    """One object that a pointer may point into, under a condition; ``region`` None: not known (``reason``)."""

    cond: Term
    region: str | None
    offset: Term
    reason: str = ""


def targets(terms: Terms, pointer: Term) -> list[Target]:
    """Where a pointer may point: one target for each way through its selections."""
    out: list[Target] = []
    zero = terms.const(0, U64)
    stack = [(pointer, terms.true, zero)]
    while stack:
        ptr, cond, offset = stack.pop()
        if cond is terms.false:
            continue
        match ptr.op:
            case "base":
                out.append(Target(cond, str(ptr.data), offset))
            case "ptradd":
                moved = ptr.args[1]
                total = moved if offset is zero else terms.make("sum", U64, (offset, moved))
                stack.append((ptr.args[0], cond, total))
            case "select":
                test, a, b = ptr.args
                stack.append((b, terms.binary("&&", cond, terms.neg(test)), offset))
                stack.append((a, terms.binary("&&", cond, test), offset))
            case "ptrunknown":
                out.append(Target(cond, None, offset, str(ptr.data)))
            case _:
                out.append(Target(cond, None, offset, "a pointer whose origin is not known"))
        if len(out) + len(stack) > 16:
            return [Target(terms.true, None, zero, "a pointer with many possible origins")]
    return out
