"""What Rust values are to the host executor: cells, aggregates, references, shared ownership.

Integers that are known and not yet of a type are Python ints, typed or unknown ones are terms (gpusafe.ir.expr); known
booleans, floats and strings are Python's. Handles of the GPU APIs are in :mod:`gpusafe.dataflow.host.handles`.
A :class:`Cell` is a place; moving out of it leaves :data:`MOVED` behind, so that the drop at the scope's end sees what
is still owned.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from gpusafe.ir.expr import Expr, Type
from gpusafe.parse.rust import ast
from gpusafe.span import Span

Value: TypeAlias = object


class _Moved:
    """The content of a place that was moved out of, or never initialised."""

    def __repr__(self) -> str:
        return "MOVED"


MOVED = _Moved()


@dataclass(slots=True, eq=False)
class Cell:
    """A place. ``name`` is what the user calls it; ``memory`` the host Memory that a callback knows it by, if any."""

    value: Value
    name: str = ""
    memory: str | None = None


@dataclass(slots=True, eq=False)
class Unknown:
    """A value that is not modelled; ``holds`` are handles that may be inside it."""

    why: str = ""
    type: ast.Type | None = None
    holds: tuple[Value, ...] = ()


@dataclass(slots=True, eq=False)
class TupleVal:
    """A tuple; the empty one is unit."""

    items: list[Cell]


@dataclass(slots=True, eq=False)
class StructVal:
    """A struct of the program (fields in declaration order), or an enum's variant when ``variant`` is set."""

    name: str
    fields: dict[str, Cell]
    variant: str | None = None
    span: Span | None = None


@dataclass(slots=True, eq=False)
class SeqVal:
    """An array, Vec or VecDeque. ``items`` None: contents not known one by one; ``length`` in elements.

    ``memory`` is set when an asynchronous operation touches the contents (a host Memory).
    ``grown``: its length was changed inside a loop that was generalised.
    ``fill``: what all elements were when it was made, where that is one value (what is written later is not followed).
    """

    kind: str
    items: list[Cell] | None
    length: Value
    elem: ast.Type | Type | None = None
    memory: str | None = None
    sample: Callable[[], Value] | None = None
    fill: Value = None


@dataclass(slots=True, eq=False)
class RefVal:
    """``&place`` or ``&mut place``."""

    cell: Cell
    mutable: bool = False


@dataclass(slots=True, eq=False)
class SliceVal:
    """A borrowed stretch of a host sequence: ``start`` and ``length`` in elements."""

    seq: SeqVal
    start: Value
    length: Value
    mutable: bool = False


@dataclass(slots=True, eq=False)
class RcBox:
    """What an Arc or Rc points to."""

    cell: Cell
    strong: int = 1


@dataclass(slots=True, eq=False)
class SharedVal:
    """One Arc or Rc."""

    box: RcBox


@dataclass(slots=True, eq=False)
class ClosureVal:
    """A closure with what it captured: ``captures`` are the cells that its body sees.

    ``owned`` are the captured cells that the closure owns (moved in).
    """

    node: ast.Closure
    captures: dict[str, Cell]
    owned: list[Cell]
    home: object
    block: ast.Block | None = None


@dataclass(slots=True, eq=False)
class FnVal:
    """A function used as a value; ``item`` is the program's function, or ``path`` a foreign one or a constructor."""

    path: tuple[str, ...]
    item: object | None = None


@dataclass(slots=True, eq=False)
class IterVal:
    """An iterator: ``get(i)`` yields the i-th element (called once each, in order).

    ``length`` is the number of elements (int or term), None when not known. ``owner`` is dropped with the iterator.
    ``works_on`` are the closures and sequences that ``get`` uses.
    """

    length: Value | None
    get: Callable[[int], Value]
    owner: Cell | None = None
    position: int = 0
    endless: bool = False
    parallel: bool = False
    elem: ast.Type | Type | None = None
    works_on: tuple[Value, ...] = ()


@dataclass(slots=True, eq=False)
class RangeVal:
    """``low..high``; either side None when open."""

    low: Value | None
    high: Value | None
    inclusive: bool = False


@dataclass(slots=True, eq=False)
class ThreadVal:
    """A join handle: the thread's id and what its closure returned."""

    ident: str
    result: Cell
    joined: bool = False


@dataclass(slots=True, eq=False)
class TypeVal:
    """A value known only to be of a certain (non-handle) library type, such as a string or a file."""

    name: str
    payload: Value = None


@dataclass(slots=True, eq=False)
class BagVal:
    """A hash map or the like: contents by iteration order of insertion; ``keys`` beside them, none in a set."""

    kind: str
    items: list[Cell] = field(default_factory=list)
    keys: list[Value] = field(default_factory=list)


def unit() -> TupleVal:
    """The value ``()``."""
    return TupleVal([])


def some(value: Value) -> StructVal:
    """``Some(value)``."""
    return StructVal("Option", {"0": Cell(value)}, "Some")


def none() -> StructVal:
    """``None``."""
    return StructVal("Option", {}, "None")


def ok(value: Value) -> StructVal:
    """``Ok(value)``."""
    return StructVal("Result", {"0": Cell(value)}, "Ok")


def err(value: Value) -> StructVal:
    """``Err(value)``."""
    return StructVal("Result", {"0": Cell(value)}, "Err")


def is_scalar(value: Value) -> bool:
    """Whether a value is a plain number, boolean, string or term: copied, never dropped."""
    return isinstance(value, (bool, int, float, str, bytes, Expr)) or value is None
