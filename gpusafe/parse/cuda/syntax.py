"""CUDA C syntax as typed trees, after the preprocessor. Every node has a ``span`` in the file that the user wrote."""

from __future__ import annotations

from dataclasses import dataclass, field

from gpusafe.ir.expr import Type
from gpusafe.span import Span


@dataclass(frozen=True, slots=True)
class Node:
    """Base of all nodes."""

    span: Span


# -- types -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TypeNode(Node):
    """Base of types as written."""


@dataclass(frozen=True, slots=True)
class TypeName(TypeNode):
    """A named type; ``name`` with its qualifiers (``cg::thread_block``), ``unsigned long long`` normalised to words."""

    name: str
    args: tuple[TypeNode | Expr, ...] | None = None
    const: bool = False
    volatile: bool = False


@dataclass(frozen=True, slots=True)
class TypePointer(TypeNode):
    inner: TypeNode
    const: bool = False
    volatile: bool = False


@dataclass(frozen=True, slots=True)
class TypeReference(TypeNode):
    inner: TypeNode


@dataclass(frozen=True, slots=True)
class TypeArray(TypeNode):
    """``length`` None: ``[]``."""

    inner: TypeNode
    length: Expr | None


@dataclass(frozen=True, slots=True)
class TypeFunction(TypeNode):
    """A function type: pointers to functions are not modelled."""

    result: TypeNode


@dataclass(frozen=True, slots=True)
class TypeAuto(TypeNode):
    """``auto``; ``decltype(e)`` keeps its expression."""

    of: Expr | None = None


@dataclass(frozen=True, slots=True)
class TypeInline(TypeNode):
    """A struct, union or enum that is defined where it is used."""

    item: Record | Enumeration


# -- expressions -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Expr(Node):
    """Base of expressions."""


@dataclass(frozen=True, slots=True)
class Integer(Expr):
    value: int
    type: Type


@dataclass(frozen=True, slots=True)
class Floating(Expr):
    value: float
    type: Type


@dataclass(frozen=True, slots=True)
class Boolean(Expr):
    value: bool


@dataclass(frozen=True, slots=True)
class NullPointer(Expr):
    pass


@dataclass(frozen=True, slots=True)
class Text(Expr):
    """A string literal."""

    value: str


@dataclass(frozen=True, slots=True)
class This(Expr):
    pass


@dataclass(frozen=True, slots=True)
class Name(Expr):
    """``a``, ``ns::a``, ``f<T, 3>``; ``scope_args`` are the arguments of the class in ``Tile<4>::size``."""

    name: str
    args: tuple[TypeNode | Expr, ...] | None = None
    scope_args: tuple[TypeNode | Expr, ...] | None = None


@dataclass(frozen=True, slots=True)
class Unary(Expr):
    """``op``: ``- + ! ~ * & ++ --``; ``postfix`` for ``i++``."""

    op: str
    operand: Expr
    postfix: bool = False


@dataclass(frozen=True, slots=True)
class Binary(Expr):
    """``&&`` and ``||`` included; ``,`` is Comma."""

    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Assign(Expr):
    """``op`` is ``=`` or a compound one such as ``+=``."""

    op: str
    target: Expr
    value: Expr


@dataclass(frozen=True, slots=True)
class Conditional(Expr):
    cond: Expr
    yes: Expr
    no: Expr


@dataclass(frozen=True, slots=True)
class Comma(Expr):
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Call(Expr):
    func: Expr
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Launch(Expr):
    """``kernel<<<config>>>(args)``."""

    func: Expr
    config: tuple[Expr, ...]
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Index(Expr):
    base: Expr
    indices: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Member(Expr):
    base: Expr
    name: str
    arrow: bool
    args: tuple[TypeNode | Expr, ...] | None = None


@dataclass(frozen=True, slots=True)
class Cast(Expr):
    """``style``: ``c``, or the word before ``_cast``."""

    type: TypeNode
    operand: Expr
    style: str = "c"


@dataclass(frozen=True, slots=True)
class Construct(Expr):
    """``float4{1, 2}``, ``T(x)`` where the syntax shows that T is a type."""

    type: TypeNode
    args: tuple[Expr, ...]
    braces: bool = False
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Braces(Expr):
    """An initialiser list; ``names`` for designated ones."""

    items: tuple[Expr, ...]
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SizeOf(Expr):
    """``kind``: ``sizeof`` or ``alignof``."""

    kind: str
    of: TypeNode | Expr


@dataclass(frozen=True, slots=True)
class PackCount(Expr):
    """``sizeof...(pack)``."""

    name: str


@dataclass(frozen=True, slots=True)
class PackExpansion(Expr):
    """``pattern...`` among arguments."""

    pattern: Expr


@dataclass(frozen=True, slots=True)
class Lambda(Expr):
    """``default``: how names that are not listed are captured (``=``, ``&`` or none)."""

    params: tuple[Parameter, ...]
    body: Compound
    captures: tuple[str, ...] = ()
    default: str = ""
    by_reference: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class AsmOperand(Node):
    constraint: str
    value: Expr
    symbol: str = ""


@dataclass(frozen=True, slots=True)
class Asm(Expr):
    template: str
    outputs: tuple[AsmOperand, ...]
    inputs: tuple[AsmOperand, ...]
    clobbers: tuple[str, ...]
    is_volatile: bool = False


@dataclass(frozen=True, slots=True)
class BadExpr(Expr):
    """Syntax that is not understood; ``what`` says it to the user."""

    what: str


# -- statements ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Stmt(Node):
    """Base of statements."""


@dataclass(frozen=True, slots=True)
class Variable(Node):
    """A declared variable. ``flags``: the words among static extern const constexpr __shared__ __device__ ... .

    ``direct`` tells ``T x(a, b)`` and ``T x{..}`` from ``T x = a``.
    """

    name: str
    type: TypeNode
    init: Expr | None
    flags: frozenset[str]
    direct: bool = False
    bindings: tuple[str, ...] = ()  # structured binding ``auto [a, b] = ...``


@dataclass(frozen=True, slots=True)
class Declare(Stmt):
    variables: tuple[Variable, ...]


@dataclass(frozen=True, slots=True)
class Define(Stmt):
    """A type, alias or function declaration among statements."""

    item: Item


@dataclass(frozen=True, slots=True)
class Evaluate(Stmt):
    expr: Expr


@dataclass(frozen=True, slots=True)
class Compound(Stmt):
    stmts: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class Goto(Stmt):
    label: str


@dataclass(frozen=True, slots=True)
class Labelled(Stmt):
    """``label: stmt``, the target of a ``goto``."""

    label: str
    stmt: Stmt


@dataclass(frozen=True, slots=True)
class If(Stmt):
    init: Stmt | None
    cond: Expr | Variable
    then: Stmt
    orelse: Stmt | None
    constexpr: bool = False


@dataclass(frozen=True, slots=True)
class While(Stmt):
    cond: Expr | Variable
    body: Stmt


@dataclass(frozen=True, slots=True)
class DoWhile(Stmt):
    body: Stmt
    cond: Expr


@dataclass(frozen=True, slots=True)
class For(Stmt):
    init: Stmt | None
    cond: Expr | None
    step: Expr | None
    body: Stmt


@dataclass(frozen=True, slots=True)
class RangeFor(Stmt):
    variable: Variable
    over: Expr
    body: Stmt


@dataclass(frozen=True, slots=True)
class Case(Node):
    """``value`` None: ``default``."""

    value: Expr | None
    stmts: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class Switch(Stmt):
    value: Expr
    cases: tuple[Case, ...]


@dataclass(frozen=True, slots=True)
class Break(Stmt):
    pass


@dataclass(frozen=True, slots=True)
class Continue(Stmt):
    pass


@dataclass(frozen=True, slots=True)
class Return(Stmt):
    value: Expr | None


@dataclass(frozen=True, slots=True)
class Empty(Stmt):
    pass


@dataclass(frozen=True, slots=True)
class BadStmt(Stmt):
    """A statement that is not understood; ``what`` says it to the user."""

    what: str


# -- items -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Item(Node):
    """Base of what stands outside functions. ``scope`` is the namespace (or class) as ``a::b``."""

    name: str
    scope: str


@dataclass(frozen=True, slots=True)
class Parameter(Node):
    """``pack`` for ``T... xs``."""

    name: str
    type: TypeNode
    default: Expr | None = None
    pack: bool = False


@dataclass(frozen=True, slots=True)
class TemplateParameter(Node):
    """``type`` None: a type parameter, else the type of a value parameter."""

    name: str
    type: TypeNode | None
    default: TypeNode | Expr | None = None
    pack: bool = False


CONVERSION = "operator cast"
"""The name of functions that convert an object to the type of their result."""


@dataclass(frozen=True, slots=True)
class Function(Item):
    """A function; ``body`` None: only declared.

    ``flags``: the words before it. ``args``: those of an explicit specialisation or instantiation
    (``is_instantiation``). ``bounds``: the arguments of ``__launch_bounds__``. ``cluster``: of ``__cluster_dims__``.
    ``initializers``: a constructor's. ``problem``: why the body cannot be read.
    """

    template: tuple[TemplateParameter, ...] | None
    params: tuple[Parameter, ...]
    result: TypeNode | None
    body: Compound | None
    flags: frozenset[str]
    args: tuple[TypeNode | Expr, ...] | None = None
    is_instantiation: bool = False
    bounds: tuple[Expr, ...] = ()
    cluster: tuple[Expr, ...] = ()
    initializers: tuple[tuple[str, tuple[Expr, ...]], ...] = ()
    problem: str | None = None
    is_const: bool = False


@dataclass(frozen=True, slots=True)
class Record(Item):
    """A struct, class or union. ``args``: those of a specialisation.

    ``align`` is the alignment that the source asks for; ``odd`` says why the layout is not the usual one.
    """

    kind: str
    template: tuple[TemplateParameter, ...] | None
    fields: tuple[Variable, ...]
    items: tuple[Item, ...] = ()
    bases: tuple[TypeNode, ...] = ()
    args: tuple[TypeNode | Expr, ...] | None = None
    complete: bool = True
    align: Expr | None = None
    odd: str | None = None


@dataclass(frozen=True, slots=True)
class Enumeration(Item):
    members: tuple[tuple[str, Expr | None], ...]
    base: TypeNode | None = None
    scoped: bool = False


@dataclass(frozen=True, slots=True)
class Alias(Item):
    """``typedef`` and ``using X = T``."""

    type: TypeNode
    template: tuple[TemplateParameter, ...] | None = None


@dataclass(frozen=True, slots=True)
class Globals(Item):
    """Variables outside functions (``name`` is the first one's)."""

    variables: tuple[Variable, ...] = field(default=())
    template: tuple[TemplateParameter, ...] | None = None


@dataclass(frozen=True, slots=True)
class NamespaceAlias(Item):
    target: str
