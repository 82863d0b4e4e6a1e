"""What expressions evaluate to (values) and what can be read and written (places)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gpusafe.ir.expr import Expr
from gpusafe.parse.cuda import syntax as s
from gpusafe.parse.cuda.types import CType, Handle, Pointer, Struct


@dataclass(frozen=True, slots=True)
class Value:
    """Base of values."""

    type: CType


@dataclass(frozen=True, slots=True)
class Term(Value):
    """A scalar or a pointer."""

    expr: Expr


@dataclass(frozen=True, slots=True)
class Aggregate(Value):
    """A struct by value: the values of its fields in order."""

    type: Struct
    fields: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class AddressOf(Value):
    """A pointer to a variable that lives in registers; ``index`` counts elements from it (0: the variable itself)."""

    type: Pointer
    place: Place


@dataclass(frozen=True, slots=True)
class HandleValue(Value):
    """An object of a library; ``parts`` are what it refers to."""

    type: Handle
    parts: Mapping[str, Value | Place | str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Closure(Value):
    """A lambda: its code, and what its names mean where it was made."""

    code: s.Lambda
    scope: object


@dataclass(frozen=True, slots=True)
class FunctionName(Value):
    """A function used as a value (a template argument, a call target)."""

    name: str
    args: tuple[object, ...] | None = None


@dataclass(frozen=True, slots=True)
class TextValue(Value):
    """A string literal (``printf``)."""

    text: str


@dataclass(frozen=True, slots=True)
class NoValue(Value):
    """The result of a ``void`` call."""


@dataclass(frozen=True, slots=True)
class UnknownValue(Value):
    """A value that is not modelled; ``reason`` is for the user."""

    reason: str


@dataclass(frozen=True, slots=True)
class ListValue(Value):
    """An initialiser list that has not met its type yet, or the arguments of a pack."""

    items: tuple[Value | Place, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """Base of places."""

    type: CType


@dataclass(frozen=True, slots=True)
class VariablePlace(Place):
    """An IR variable."""

    name: str


@dataclass(frozen=True, slots=True)
class MemoryPlace(Place):
    """Bytes in memory, from ``pointer`` on."""

    pointer: Expr


@dataclass(frozen=True, slots=True)
class StructPlace(Place):
    """A struct whose fields are places of their own."""

    type: Struct
    fields: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class FixedPlace(Place):
    """Something that is never written: a constant, a parameter, a name for a value."""

    value: Value


@dataclass(frozen=True, slots=True)
class ElementPlace(Place):
    """An element of a struct in registers at an index that is only known at run time (``(&v.x)[k]``)."""

    whole: StructPlace
    reason: str


@dataclass(frozen=True, slots=True)
class UnknownPlace(Place):
    """A place that is not modelled."""

    reason: str


Operand = Value | Place
