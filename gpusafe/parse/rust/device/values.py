"""Values of the partial evaluation: trees whose leaves are IR terms.

A scalar is a term. Tuples, structs, enums, slices and arrays are trees; references to local variables, closures,
functions and iterators exist only here and leave no trace in the IR.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpusafe.ir.expr import Expr
from gpusafe.parse.rust import ast
from gpusafe.parse.rust.device.types import NEVER as NEVER_TY
from gpusafe.parse.rust.device.types import UNIT, AdtTy, ArrayTy, FnTy, PtrTy, Ty

if TYPE_CHECKING:
    from gpusafe.parse.rust.device.frames import Frame, Scope, TypeEnv
    from gpusafe.parse.rust.device.program import FnDef, TraitDef, VariantDef


@dataclass(frozen=True, slots=True)
class Value:
    """Base of values; ``ty`` is the Rust type."""

    ty: Ty


@dataclass(frozen=True, slots=True)
class Scalar(Value):
    """An integer, float, bool, char or thin pointer."""

    term: Expr


@dataclass(frozen=True, slots=True)
class Fat(Value):
    """A slice reference or pointer: address of the first element, and number of elements."""

    ptr: Expr
    len: Expr


@dataclass(frozen=True, slots=True)
class LocalRef(Value):
    """A reference or pointer to a local variable or a part of it."""

    place: Place


@dataclass(frozen=True, slots=True)
class Agg(Value):
    """A struct (fields by name) or tuple (``"0"``, ``"1"``...)."""

    fields: tuple[tuple[str, Value], ...] = ()

    def get(self, name: str) -> Value | None:
        """The field of that name."""
        return next((v for n, v in self.fields if n == name), None)

    def replace(self, name: str, value: Value) -> Agg:
        """A copy with one field changed."""
        return Agg(self.ty, tuple((n, value if n == name else v) for n, v in self.fields))


@dataclass(frozen=True, slots=True)
class EnumVal(Value):
    """A value of an enum.

    ``tag`` is BOOL for an enum of two variants (true: the second), else an ISIZE with the discriminant. ``payloads``
    holds the fields of the variants that this value may have, by the variant's number.
    """

    ty: AdtTy
    tag: Expr
    payloads: tuple[tuple[int, tuple[Value, ...]], ...] = ()

    def payload(self, index: int) -> tuple[Value, ...] | None:
        """The fields of a variant, None when this value cannot be that variant."""
        return next((p for i, p in self.payloads if i == index), None)


@dataclass(frozen=True, slots=True)
class ArrayVal(Value):
    """An array by elements."""

    ty: ArrayTy
    items: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class RepeatVal(Value):
    """``[item; N]``."""

    ty: ArrayTy
    item: Value


@dataclass(frozen=True, slots=True)
class ArrayMem(Value):
    """An array that lives in a region of this thread."""

    ty: ArrayTy
    ptr: Expr


@dataclass(frozen=True, slots=True)
class FnVal(Value):
    """A function of the program or the prelude.

    ``env`` holds the generic arguments of its impl; ``given`` the turbofish, to be read in ``given_env``.
    """

    fn: FnDef
    env: TypeEnv
    given: tuple[ast.Type | ast.Expr, ...] = ()
    given_env: TypeEnv | None = None


@dataclass(frozen=True, slots=True)
class TypeFn(Value):
    """A function of a type that has no source here (``u32::max``, ``AtomicU32::from_ptr``), or of a trait."""

    of: Ty
    name: str
    given: tuple[ast.Type | ast.Expr, ...] = ()
    trait: TraitDef | None = None


@dataclass(frozen=True, slots=True)
class CtorVal(Value):
    """A tuple struct or tuple variant used as a function."""

    ty: AdtTy
    variant: VariantDef | None


@dataclass(frozen=True, slots=True)
class ForeignFn(Value):
    """A function of another crate, by its path."""

    path: tuple[str, ...]
    given: tuple[ast.Type | ast.Expr, ...] = ()


@dataclass(frozen=True, slots=True)
class ClosureVal(Value):
    """A closure with the scope that it captures."""

    closure: ast.Closure
    scope: Scope
    frame: Frame


@dataclass(frozen=True, slots=True)
class Unknown(Value):
    """A value that is not modelled."""

    reason: str


@dataclass(frozen=True, slots=True)
class Diverges(Value):
    """The value of an expression that does not come back (``return``, ``panic!``)."""


NEVER = Diverges(NEVER_TY)
UNIT_VALUE = Agg(UNIT)


def tuple_value(ty: Ty, items: tuple[Value, ...]) -> Agg:
    """A tuple of values."""
    return Agg(ty, tuple((str(i), v) for i, v in enumerate(items)))


# -- places ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Place:
    """Base of places: something that can be read, assigned or borrowed. ``ty`` is the type of its content."""

    ty: Ty


@dataclass(eq=False, slots=True)
class Slot:
    """A local variable: its present tree (whose scalars are IR variables when ``mutable``)."""

    name: str
    ty: Ty
    value: Value | None
    mutable: bool
    level: int = 0  # how deep in branches and loops it was declared
    moved: bool = False
    moved_level: int = 0


@dataclass(frozen=True, slots=True)
class LocalPlace(Place):
    """A local variable, or a part of it: field names, ``v0`` + field number for payloads of variant 0, ``[i]``."""

    slot: Slot
    path: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MemPlace(Place):
    """Memory; ``len`` counts the elements when ``ty`` is a slice. ``unchecked``: indexing it checks no bounds."""

    ptr: Expr
    len: Expr | None = None


@dataclass(frozen=True, slots=True)
class ValuePlace(Place):
    """A temporary."""

    value: Value


@dataclass(frozen=True, slots=True)
class ChoicePlace(Place):
    """One of several places: number ``choice`` (a USIZE term) of ``options``."""

    choice: Expr
    options: tuple[Place, ...]


def pointee(ty: Ty) -> Ty | None:
    """What a pointer type points to."""
    return ty.inner if isinstance(ty, PtrTy) else None


FN_TY = FnTy()
