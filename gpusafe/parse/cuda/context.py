"""The state of lowering one kernel: scopes, the call that is being inlined, regions, statements."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from gpusafe.ir import kernel as k
from gpusafe.ir.expr import Expr, Type, Var
from gpusafe.parse.cuda import syntax as s
from gpusafe.parse.cuda import terms
from gpusafe.parse.cuda.emit import Emitter
from gpusafe.parse.cuda.program import Program
from gpusafe.parse.cuda.types import CType, Struct
from gpusafe.parse.cuda.values import Operand, Place
from gpusafe.span import Span

MAX_NESTING = 170
MAX_INLINE = 24


class TooDeep(Exception):
    """The kernel nests deeper (after inlining) than is worth following."""


class Unsupported(Exception):
    """A construct that is not modelled; the message is for the user. Caught at the enclosing statement."""


@dataclass(frozen=True, slots=True)
class Pack:
    """The arguments of a parameter pack."""

    items: tuple[Operand | CType, ...]


Binding = Operand | CType | Pack


@dataclass(slots=True)
class Scope:
    """Names in sight; ``namespace`` is where unqualified names of the program are looked up first.

    ``instance`` is the class whose members are in sight; ``this`` its object.
    """

    parent: Scope | None = None
    names: dict[str, Binding] = field(default_factory=dict)
    namespace: str = ""
    instance: ClassInstance | None = None
    this: Place | None = None

    def find(self, name: str) -> Binding | None:
        """What a name means here, None when no local scope knows it."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.parent
        return None

    def chain(self) -> Iterator[Scope]:
        """This scope and the ones around it, inside out."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent

    def inner(self) -> Scope:
        """A new scope inside this one."""
        return Scope(self, {}, self.namespace)


@dataclass(frozen=True, slots=True)
class ClassInstance:
    """A class with its template arguments: what its members' names mean."""

    record: s.Record
    args: tuple[CType | Operand, ...]
    type: Struct
    scope: Scope


@dataclass(slots=True)
class Frame:
    """A function that is being inlined. ``label`` is the block that ``return`` leaves (None: the kernel itself).

    ``instance`` identifies the function with its template arguments (whose static variables it has), ``key`` the call
    with its constant arguments as well. ``calls`` are the places of the calls that lead here, outermost first.
    """

    name: str
    instance: object
    key: object
    label: str | None
    result_type: CType | None = None
    result: Place | None = None
    left_early: bool = False
    assigned: frozenset[str] = frozenset()
    calls: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class LoopLabels:
    """Where ``break`` and ``continue`` lead; ``on_continue`` is a Block to leave, or None for the Loop itself."""

    on_break: str
    on_continue: str | None


@dataclass(slots=True)
class Context:
    """Everything that lowering one kernel needs.

    The callables break the cycle between expressions, calls and statements.
    """

    program: Program
    evaluator: Callable[[Context, s.Expr], Operand]
    executor: Callable[[Context, s.Stmt], None]
    emitter: Emitter = field(default_factory=Emitter)
    scope: Scope = field(default_factory=Scope)
    frames: list[Frame] = field(default_factory=list)
    loops: list[LoopLabels] = field(default_factory=list)
    regions: dict[str, k.Region] = field(default_factory=dict)
    statics: dict[object, Operand] = field(default_factory=dict)
    classes: dict[str, ClassInstance] = field(default_factory=dict)
    settled: set[str] = field(default_factory=set)
    used_labels: set[str] = field(default_factory=set)
    constants: dict[object, Operand | None] = field(default_factory=dict)
    labels: dict[tuple[int, str], str] = field(default_factory=dict)
    jumped: set[str] = field(default_factory=set)
    depth: int = 0
    constant_only: bool = False
    requires: list[Expr] = field(default_factory=list)
    unheld: dict[str, None] = field(default_factory=dict)
    granted: dict[str, None] = field(default_factory=dict)
    tables: dict[str, tuple[Expr, ...] | None] = field(default_factory=dict)
    table_pointers: set[str] = field(default_factory=set)
    declared: dict[str, int] = field(default_factory=dict)
    in_memory: set[int] = field(default_factory=set)
    wanted_in_memory: set[int] = field(default_factory=set)

    def evaluate(self, expr: s.Expr) -> Operand:
        """The value or place of an expression; statements that it needs are emitted."""
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise TooDeep
        try:
            return self.evaluator(self, expr)
        finally:
            self.depth -= 1

    def execute(self, stmt: s.Stmt) -> None:
        """Lower a statement."""
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise TooDeep
        try:
            self.executor(self, stmt)
        finally:
            self.depth -= 1

    def emit(self, stmt: k.Stmt) -> None:
        """Append a statement to the innermost list; it remembers the calls that lead to it."""
        if len(self.frames) > 1 and not stmt.calls:
            object.__setattr__(stmt, "calls", self.frames[-1].calls)  # just made, and in no one else's hands
        self.emitter.emit(stmt)

    @contextmanager
    def without_statements(self) -> Iterator[list[k.Stmt]]:
        """Evaluate a constant: what is emitted inside is dropped (the list tells whether anything was)."""
        before, self.constant_only = self.constant_only, True
        try:
            with self.emitter.collect() as made:
                yield made
        finally:
            self.constant_only = before

    def assign(self, span: Span, var: str, value: Expr) -> None:
        """``var = value``."""
        self.emit(k.Assign(span, var, value))

    def temporary(self, name: str, type_: Type) -> Var:
        """A fresh variable that is assigned once."""
        var = self.emitter.variable(name, type_)
        self.settled.add(var.name)
        return var

    def hold(self, span: Span, name: str, value: Expr) -> Expr:
        """The present value of a term, safe from later assignments."""
        if self.is_settled(value):
            return value
        var = self.temporary(name, value.type)
        self.assign(span, var.name, value)
        return var

    def is_settled(self, value: Expr) -> bool:
        """Whether the term's value cannot change any more."""
        return all(t.name in self.settled for t in terms.walk(value) if isinstance(t, Var))

    def havoc(self, span: Span, name: str, type_: Type, reason: str) -> Var:
        """A variable with a value that is not modelled."""
        var = self.temporary(name, type_)
        self.emit(k.Havoc(span, var.name, type_, reason))
        return var

    def unmodelled(self, span: Span, what: str, *, accesses: bool = True, syncs: bool = True) -> None:
        """Say that something is not modelled."""
        self.emit(k.Unmodelled(span, what, accesses, syncs))

    def grant(self, what: str) -> None:
        """Take something for granted that the proof must list among its assumptions."""
        self.granted[what] = None

    def bind(self, name: str, binding: Binding) -> None:
        """Give a name a meaning in the innermost scope."""
        if name:
            self.scope.names[name] = binding

    @contextmanager
    def inside(self, scope: Scope) -> Iterator[Scope]:
        """Work in another scope for a while."""
        before, self.scope = self.scope, scope
        try:
            yield scope
        finally:
            self.scope = before

    def add_region(self, region: k.Region) -> k.Region:
        """Enter a region under a name that is free."""
        name, count = region.name, 1
        while name in self.regions:
            count += 1
            name = f"{region.name}#{count}"
        made = replace(region, name=name)
        self.regions[name] = made
        return made

    def amend_region(self, name: str, **parts: Any) -> None:
        """Changes what is known about a region."""
        self.regions[name] = replace(self.regions[name], **parts)

    @property
    def frame(self) -> Frame:
        """The function that is being lowered."""
        return self.frames[-1]
