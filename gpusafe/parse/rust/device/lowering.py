"""The state of lowering one kernel, and what every part of it needs: emitting statements, naming variables.

What the parts need of each other goes through :class:`Hooks`, which gpusafe.parse.rust.device.engine fills in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from gpusafe.ir import kernel as k
from gpusafe.ir.expr import FALSE, Const, Expr, Length, Param, PtrBase, Special, Type, Var
from gpusafe.parse.rust import ast
from gpusafe.parse.rust.device import terms
from gpusafe.parse.rust.device.bodies import Body, Hole, Join, Nest
from gpusafe.parse.rust.device.cubecl import guarded
from gpusafe.parse.rust.device.frames import Frame, Scope, TypeEnv
from gpusafe.parse.rust.device.infer import Infer
from gpusafe.parse.rust.device.program import FnDef, Module, Program
from gpusafe.parse.rust.device.types import Ty
from gpusafe.parse.rust.device.values import Place, Scalar, Unknown, Value
from gpusafe.span import Span

MAX_DEPTH = 40  # inlined calls, one in another
MAX_NESTING = 300  # expressions inside each other, inlined calls included
MAX_STATEMENTS = 25_000  # per kernel, inlining included


class TooBig(Exception):
    """A kernel that grows beyond what is worth lowering (deep recursion, enormous inlining)."""


class Gap(Exception):
    """Something that cannot be lowered; the reason becomes an Unmodelled at the nearest expression."""


@dataclass(frozen=True, slots=True)
class Hooks:
    """The parts of the lowering that others call."""

    expr: Callable[[Lowering, ast.Expr, Ty | None], Value]
    place: Callable[[Lowering, ast.Expr], Place]
    type: Callable[[Lowering, ast.Type, TypeEnv], Ty]
    call: Callable[[Lowering, Value, list[Value], Span, Ty | None], Value]
    call_fn: Callable[..., Value]
    method: Callable[..., Value]
    block: Callable[[Lowering, ast.Block, Ty | None], Value]


@dataclass(frozen=True, slots=True)
class Problem:
    """Something worth a look by the developers: an internal error, a construct that is not modelled."""

    kernel: str
    what: str
    span: Span


@dataclass(eq=False, slots=True)
class Lowering:
    """All state of one kernel's lowering."""

    program: Program
    hooks: Hooks
    dialect: str
    frame: Frame
    scope: Scope
    infer: Infer = field(default_factory=Infer)
    out: Body = field(default_factory=list)
    dead: bool = False
    names: Counter[str] = field(default_factory=Counter)
    temps: set[str] = field(default_factory=set)
    regions: dict[str, k.Region] = field(default_factory=dict)
    region_types: dict[str, Ty] = field(default_factory=dict)
    statics: dict[int, str] = field(default_factory=dict)
    block_modules: dict[int, Module] = field(default_factory=dict)
    constants: dict[int, Place] = field(default_factory=dict)
    evaluating: set[int] = field(default_factory=set)
    lengths: dict[str, Expr] = field(default_factory=dict)
    active: list[FnDef] = field(default_factory=list)
    temporaries: list[Value] = field(default_factory=list)
    hint: str | None = None
    generic: bool = False
    unchecked: bool = False
    mode: str | None = None
    guards: dict[Expr, Expr] = field(default_factory=dict)
    expanding: int = 0
    nesting: int = 0
    emitted: int = 0
    level: int = 0
    domain: int | None = None
    cluster: tuple[int, int, int] | None = None
    asm_regions: dict[str, str] = field(default_factory=dict)

    # -- the other parts ---------------------------------------------------------------------------------------------

    def expr(self, node: ast.Expr, want: Ty | None = None) -> Value:
        """Lower an expression to its value."""
        self.nesting += 1
        if self.nesting > MAX_NESTING:
            raise TooBig("the kernel is nested too deeply with its calls inlined")
        try:
            return self.hooks.expr(self, node, want)
        finally:
            self.nesting -= 1

    def place(self, node: ast.Expr) -> Place:
        """Lower an expression to the place that it denotes (a temporary for other expressions)."""
        return self.hooks.place(self, node)

    def type(self, node: ast.Type, env: TypeEnv | None = None) -> Ty:
        """What a written type means."""
        return self.hooks.type(self, node, env or self.env)

    @property
    def env(self) -> TypeEnv:
        """The names of types in sight."""
        here = self.frame.env
        return here if here.module is self.scope.module else TypeEnv(self.scope.module, here.generics, here.self_ty)

    # -- statements --------------------------------------------------------------------------------------------------

    def at(self, span: Span) -> Span:
        """The place to report: code of the prelude stands for the call that it models."""
        return self.frame.site or span

    def emit(self, item: k.Stmt | Hole | Nest) -> None:
        """Append to the present body; nothing after a jump is reachable."""
        if self.dead:
            return
        self.emitted += 1
        if self.emitted > MAX_STATEMENTS:
            raise TooBig("the kernel is too large with its calls inlined")
        if self.guards and isinstance(item, k.Stmt):
            item = guarded(item, self.guards)
        self.out.append(item)

    @contextmanager
    def body(self) -> Iterator[Body]:
        """Collect what is emitted inside into a body of its own (reachability starts afresh and is restored)."""
        out, dead = self.out, self.dead
        self.out, self.dead = [], dead
        self.level += 1
        try:
            yield self.out
        finally:
            self.out, self.dead = out, dead
            self.level -= 1

    def jump(self, stmt: k.Stmt) -> None:
        """Emit a statement that control does not pass."""
        self.emit(stmt)
        self.dead = True

    def arrive(self, join: Join, value: Value) -> None:
        """End of one path into ``join``, with the value that it brings."""
        if not self.dead:
            hole = Hole()
            self.out.append(hole)
            join.entries.append((hole, value))

    # -- names -------------------------------------------------------------------------------------------------------

    def fresh(self, name: str) -> str:
        """A name that no other variable has: ``i``, ``i#2``, ``i#3``..."""
        self.names[name] += 1
        count = self.names[name]
        return name if count == 1 else f"{name}#{count}"

    def temp(self, name: str | None = None) -> str:
        """A fresh name for a variable that is assigned only where it is made."""
        made = self.fresh(name or self.hint or "v")
        self.temps.add(made)
        return made

    def label(self, name: str) -> str:
        """A fresh label of a block or loop."""
        return self.fresh("'" + name.lstrip("'"))

    # -- values ------------------------------------------------------------------------------------------------------

    def stable(self, term: Expr) -> bool:
        """Whether a term keeps its value whatever is assigned later."""
        return all(v in self.temps for v in terms.variables(term))

    def named(self, name: str, term: Expr, span: Span) -> Expr:
        """``term`` under a name of the user's: a variable, unless the term is as simple as one."""
        term = self.settled(term)
        if isinstance(term, Const | Param | Length | PtrBase | Special) or self.dead:
            return term
        if isinstance(term, Var) and term.name in self.temps:
            return term
        if terms.is_address(term) and self.stable(term):
            return term
        made = self.fresh(name)
        self.temps.add(made)
        self.emit(k.Assign(self.at(span), made, term))
        return Var(term.type, made)

    def havoc(self, type_: Type, reason: str, span: Span, name: str | None = None) -> Expr:
        """A scalar that is not modelled."""
        made = self.temp(name)
        self.emit(k.Havoc(self.at(span), made, type_, reason))
        return Var(type_, made)

    def settled(self, term: Expr) -> Expr:
        """A literal in the type that inference has found for it by now."""
        if isinstance(term, Const) and term.type.kind == "infer":
            known = self.infer.term_type(self.infer.shallow(self.infer.scalar_of(term.type)))
            if known is not None and known.kind == "int":
                return terms.int_const(int(term.value), known)
            if known is not None and known.kind == "float":
                return Const(known, float(term.value))
        return term

    def scalar(self, term: Expr, ty: Ty | None = None) -> Scalar:
        """A scalar value from its term."""
        return Scalar(ty or self.infer.scalar_of(term.type), term)

    def unmodelled(
        self, what: str, span: Span, *, accesses: bool = True, syncs: bool = True, ty: Ty | None = None
    ) -> Value:
        """Say that something is not modelled; its value is unknown."""
        self.emit(k.Unmodelled(self.at(span), what, accesses, syncs))
        return Unknown(ty or self.infer.fresh(), what)

    def fail(self, reason: str, span: Span) -> None:
        """A thread that comes here stops (a panic, a trap)."""
        self.emit(k.Assume(self.at(span), FALSE, reason))
        self.dead = True
