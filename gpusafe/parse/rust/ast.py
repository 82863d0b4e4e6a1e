"""Rust syntax as typed trees: what the kernel front end and the host executor read.

Built from tree-sitter by gpusafe.parse.rust.build. Parentheses are dropped, macro calls keep their raw argument text
with its place (gpusafe.parse.rust.macros parses the arguments of known macros). Every node has a ``span``.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from gpusafe.span import Span


@dataclass(frozen=True, slots=True)
class Node:
    """Base of all nodes."""

    span: Span


# -- paths, types, patterns ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Path(Node):
    """``a::b::<T>::c``: ``names`` are the segments; ``generics`` the arguments of the last segment that has some.

    A leading ``::`` gives a first name of ``""``. ``<T as Trait>::f`` keeps ``qself``.
    """

    names: tuple[str, ...]
    generics: tuple[Type | Expr, ...] = ()
    qself: Type | None = None
    parent_generics: tuple[Type | Expr, ...] = ()  # arguments of the last but one segment (``Vec::<u8>::new``)

    @property
    def last(self) -> str:
        """The last segment."""
        return self.names[-1]

    def __str__(self) -> str:
        return "::".join(self.names)


@dataclass(frozen=True, slots=True)
class Type(Node):
    """Base of types."""


@dataclass(frozen=True, slots=True)
class TypePath(Type):
    path: Path


@dataclass(frozen=True, slots=True)
class TypeRef(Type):
    inner: Type
    mutable: bool


@dataclass(frozen=True, slots=True)
class TypePtr(Type):
    inner: Type
    mutable: bool


@dataclass(frozen=True, slots=True)
class TypeSlice(Type):
    inner: Type


@dataclass(frozen=True, slots=True)
class TypeArray(Type):
    inner: Type
    length: Expr


@dataclass(frozen=True, slots=True)
class TypeTuple(Type):
    """``()`` is the empty one."""

    items: tuple[Type, ...]


@dataclass(frozen=True, slots=True)
class TypeFn(Type):
    """``fn(A) -> B``, and ``Fn``-like bounds are TypePath inside TypeBounds."""

    params: tuple[Type, ...]
    result: Type | None


@dataclass(frozen=True, slots=True)
class TypeBounds(Type):
    """``impl A + B`` or ``dyn A + B`` (``kind``)."""

    kind: str
    bounds: tuple[Type, ...]


@dataclass(frozen=True, slots=True)
class TypeOther(Type):
    """``_``, ``!``, macro types and whatever else there is; ``text`` as written."""

    text: str


@dataclass(frozen=True, slots=True)
class Pat(Node):
    """Base of patterns."""


@dataclass(frozen=True, slots=True)
class PatIdent(Pat):
    name: str
    mutable: bool = False
    by_ref: bool = False
    sub: Pat | None = None


@dataclass(frozen=True, slots=True)
class PatWild(Pat):
    pass


@dataclass(frozen=True, slots=True)
class PatRest(Pat):
    pass


@dataclass(frozen=True, slots=True)
class PatTuple(Pat):
    items: tuple[Pat, ...]


@dataclass(frozen=True, slots=True)
class PatSlice(Pat):
    items: tuple[Pat, ...]


@dataclass(frozen=True, slots=True)
class PatTupleStruct(Pat):
    path: Path
    items: tuple[Pat, ...]


@dataclass(frozen=True, slots=True)
class PatStruct(Pat):
    path: Path
    fields: tuple[tuple[str, Pat], ...]


@dataclass(frozen=True, slots=True)
class PatPath(Pat):
    """A path of two or more segments, or a single segment that starts with a capital letter (``None``, ``READY``)."""

    path: Path


@dataclass(frozen=True, slots=True)
class PatRef(Pat):
    inner: Pat
    mutable: bool = False


@dataclass(frozen=True, slots=True)
class PatLit(Pat):
    value: Expr


@dataclass(frozen=True, slots=True)
class PatRange(Pat):
    low: Expr | None
    high: Expr | None
    inclusive: bool


@dataclass(frozen=True, slots=True)
class PatOr(Pat):
    items: tuple[Pat, ...]


@dataclass(frozen=True, slots=True)
class PatOther(Pat):
    text: str


# -- expressions -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Expr(Node):
    """Base of expressions."""


@dataclass(frozen=True, slots=True)
class Lit(Expr):
    """``kind``: int float bool str char byte bytestr cstr; ``value`` decoded; ``suffix`` as in ``1u32``."""

    kind: str
    value: int | float | bool | str | bytes
    suffix: str = ""


@dataclass(frozen=True, slots=True)
class PathExpr(Expr):
    path: Path


@dataclass(frozen=True, slots=True)
class Unary(Expr):
    """``op``: ``-``, ``!`` or ``*``."""

    op: str
    operand: Expr


@dataclass(frozen=True, slots=True)
class Binary(Expr):
    """``op`` as written, ``&&`` and ``||`` included."""

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
class Call(Expr):
    func: Expr
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class MethodCall(Expr):
    """``name_span`` is the method's name alone."""

    receiver: Expr
    name: str
    args: tuple[Expr, ...]
    name_span: Span
    generics: tuple[Type | Expr, ...] = ()


@dataclass(frozen=True, slots=True)
class Field(Expr):
    """``name`` is ``"0"`` and so on for tuples."""

    base: Expr
    name: str


@dataclass(frozen=True, slots=True)
class Index(Expr):
    base: Expr
    index: Expr


@dataclass(frozen=True, slots=True)
class Ref(Expr):
    """``&e``, ``&mut e``; ``raw`` for ``&raw const/mut e``."""

    operand: Expr
    mutable: bool
    raw: bool = False


@dataclass(frozen=True, slots=True)
class Cast(Expr):
    operand: Expr
    type: Type


@dataclass(frozen=True, slots=True)
class Range(Expr):
    low: Expr | None
    high: Expr | None
    inclusive: bool


@dataclass(frozen=True, slots=True)
class Tuple(Expr):
    """``()`` is the empty one."""

    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Array(Expr):
    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class ArrayRepeat(Expr):
    value: Expr
    length: Expr


@dataclass(frozen=True, slots=True)
class StructLit(Expr):
    path: Path
    fields: tuple[tuple[str, Expr], ...]
    base: Expr | None = None


@dataclass(frozen=True, slots=True)
class LetCond(Expr):
    """``let PAT = e`` in a condition (``if let``, ``while let``, let chains)."""

    pat: Pat
    value: Expr


@dataclass(frozen=True, slots=True)
class If(Expr):
    cond: Expr
    then: Block
    orelse: Expr | None  # a BlockExpr or another If


@dataclass(frozen=True, slots=True)
class Arm(Node):
    pat: Pat
    guard: Expr | None
    body: Expr
    attributes: tuple[Attribute, ...] = ()


@dataclass(frozen=True, slots=True)
class Match(Expr):
    value: Expr
    arms: tuple[Arm, ...]


@dataclass(frozen=True, slots=True)
class Loop(Expr):
    body: Block
    label: str | None = None


@dataclass(frozen=True, slots=True)
class While(Expr):
    cond: Expr
    body: Block
    label: str | None = None


@dataclass(frozen=True, slots=True)
class For(Expr):
    pat: Pat
    iterable: Expr
    body: Block
    label: str | None = None


@dataclass(frozen=True, slots=True)
class BlockExpr(Expr):
    """``kind``: ``""``, ``unsafe``, ``async``, ``const``, ``try``; ``move`` for ``async move``."""

    block: Block
    kind: str = ""
    label: str | None = None
    move: bool = False


@dataclass(frozen=True, slots=True)
class Closure(Expr):
    params: tuple[Param, ...]
    body: Expr
    move: bool = False
    is_async: bool = False


@dataclass(frozen=True, slots=True)
class Return(Expr):
    value: Expr | None


@dataclass(frozen=True, slots=True)
class Break(Expr):
    label: str | None
    value: Expr | None


@dataclass(frozen=True, slots=True)
class Continue(Expr):
    label: str | None


@dataclass(frozen=True, slots=True)
class Try(Expr):
    operand: Expr


@dataclass(frozen=True, slots=True)
class Await(Expr):
    operand: Expr


@dataclass(frozen=True, slots=True)
class MacroCall(Expr):
    """``path!(text)``; ``text`` is the text between the delimiters, which starts at ``text_span``."""

    path: Path
    text: str
    text_span: Span


@dataclass(frozen=True, slots=True)
class OtherExpr(Expr):
    """Syntax that has no node of its own; ``text`` as written."""

    text: str


# -- statements ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Stmt(Node):
    """Base of statements."""


@dataclass(frozen=True, slots=True)
class Let(Stmt):
    pat: Pat
    type: Type | None
    value: Expr | None
    orelse: Block | None = None
    attributes: tuple[Attribute, ...] = ()


@dataclass(frozen=True, slots=True)
class ExprStmt(Stmt):
    expr: Expr
    attributes: tuple[Attribute, ...] = ()


@dataclass(frozen=True, slots=True)
class ItemStmt(Stmt):
    item: Item


@dataclass(frozen=True, slots=True)
class Block(Node):
    """``tail`` is the value expression without a semicolon at the end, if any."""

    stmts: tuple[Stmt, ...]
    tail: Expr | None
    tail_attributes: tuple[Attribute, ...] = ()


# -- items -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Attribute(Node):
    """``#[path(text)]`` or ``#[path = text]``; ``text`` without the outer delimiter or ``=``."""

    path: str
    text: str
    inner: bool = False


@dataclass(frozen=True, slots=True)
class Item(Node):
    """Base of items. ``span`` covers the whole item from its first token after the attributes."""

    name: str
    attributes: tuple[Attribute, ...]
    is_pub: bool

    def attribute(self, name: str) -> Attribute | None:
        """The first attribute whose path is or ends in ``name``."""
        return next((a for a in self.attributes if a.path.rsplit("::", 1)[-1] == name), None)


@dataclass(frozen=True, slots=True)
class Param(Node):
    """A function or closure parameter. ``self`` has a PatIdent ``self`` and the type TypeRef/TypePath of ``Self``."""

    pat: Pat
    type: Type | None


@dataclass(frozen=True, slots=True)
class GenericParam(Node):
    """``kind``: ``type``, ``const`` or ``lifetime``; ``type`` of a const parameter; ``default`` if any."""

    name: str
    kind: str
    type: Type | None = None
    bounds: tuple[Type, ...] = ()
    default: Type | Expr | None = None


@dataclass(frozen=True, slots=True)
class Fn(Item):
    """``abi``: the string of ``extern "..."`` (``"C"`` for a bare extern) or None. ``too_deep``: body not built."""

    generics: tuple[GenericParam, ...]
    params: tuple[Param, ...]
    result: Type | None
    body: Block | None
    abi: str | None = None
    is_unsafe: bool = False
    is_async: bool = False
    is_const: bool = False
    problem: str | None = None  # why the body is not (wholly) built: syntax error inside, too deeply nested


@dataclass(frozen=True, slots=True)
class Struct(Item):
    """Fields in order; tuple structs have ``"0"``, ``"1"``...; ``kind``: struct or union."""

    generics: tuple[GenericParam, ...]
    fields: tuple[tuple[str, Type], ...]
    kind: str = "struct"


@dataclass(frozen=True, slots=True)
class Variant(Node):
    name: str
    fields: tuple[tuple[str, Type], ...]
    discriminant: Expr | None = None


@dataclass(frozen=True, slots=True)
class Enum(Item):
    generics: tuple[GenericParam, ...]
    variants: tuple[Variant, ...]


@dataclass(frozen=True, slots=True)
class Impl(Item):
    """``name`` is the last segment of the self type; ``trait`` None for an inherent impl."""

    generics: tuple[GenericParam, ...]
    self_type: Type
    trait: Path | None
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Trait(Item):
    generics: tuple[GenericParam, ...]
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Mod(Item):
    """``items`` None for ``mod name;``."""

    items: tuple[Item, ...] | None


@dataclass(frozen=True, slots=True)
class UseLeaf(Node):
    """One imported name: ``path`` as written, ``alias`` the name it gets here (``*`` for a glob, ``_`` for none)."""

    path: tuple[str, ...]
    alias: str


@dataclass(frozen=True, slots=True)
class Use(Item):
    leaves: tuple[UseLeaf, ...]


@dataclass(frozen=True, slots=True)
class Const(Item):
    type: Type | None
    value: Expr | None


@dataclass(frozen=True, slots=True)
class Static(Item):
    type: Type | None
    value: Expr | None
    mutable: bool = False


@dataclass(frozen=True, slots=True)
class TypeAlias(Item):
    generics: tuple[GenericParam, ...]
    type: Type | None


@dataclass(frozen=True, slots=True)
class MacroRules(Item):
    """``rules``: pairs of (matcher text, transcriber text)."""

    rules: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class MacroItem(Item):
    """A macro call in item position."""

    call: MacroCall


@dataclass(frozen=True, slots=True)
class ExternBlock(Item):
    """``extern "C" { fn f(); }``: foreign functions (``body`` None)."""

    abi: str
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class OtherItem(Item):
    """An item of no interest (extern crate and the like)."""

    text: str = ""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One parsed file. ``errors`` are the places that do not parse (first few); items around them are still there."""

    path: str
    text: str
    items: tuple[Item, ...]
    attributes: tuple[Attribute, ...] = ()
    errors: tuple[Span, ...] = field(default=())
