"""Terms: side-effect-free expressions of kernels and of the launch side.

All three front ends lower to these. Integer operations wrap at the width of their type unless ``nowrap`` is set (signed
arithmetic of C, whose overflow is undefined). Operands of a binary operation have one type; comparisons give ``BOOL``.
Pointers are terms too: a base (a region) plus byte offsets, so that `if c { p } else { q }` and `swap(&mut p, &mut q)`
are ordinary values.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum


@dataclass(frozen=True, slots=True)
class Type:
    """A scalar type: ``kind`` is ``int``, ``bool``, ``float`` or ``ptr``; ``bits`` its width (bool: 1, ptr: 64)."""

    kind: str
    bits: int
    signed: bool = False

    @property
    def bytes(self) -> int:
        """Size in memory, in bytes (a bool takes one)."""
        return max(1, self.bits // 8)

    @property
    def low(self) -> int:
        """Smallest value of an integer type."""
        return -(1 << (self.bits - 1)) if self.signed else 0

    @property
    def high(self) -> int:
        """Largest value of an integer type."""
        return (1 << (self.bits - 1)) - 1 if self.signed else (1 << self.bits) - 1


U8, U16, U32, U64, U128 = (Type("int", b) for b in (8, 16, 32, 64, 128))
I8, I16, I32, I64, I128 = (Type("int", b, True) for b in (8, 16, 32, 64, 128))
USIZE, ISIZE = U64, I64
BOOL = Type("bool", 1)
F16, F32, F64 = (Type("float", b) for b in (16, 32, 64))
PTR = Type("ptr", 64)


class Op(Enum):
    """Operators. Division and remainder truncate towards zero as in Rust and C; SHR is arithmetic on signed types."""

    ADD = "+"
    SUB = "-"
    MUL = "*"
    DIV = "/"
    REM = "%"
    AND = "&"
    OR = "|"
    XOR = "^"
    SHL = "<<"
    SHR = ">>"
    MIN = "min"
    MAX = "max"
    EQ = "=="
    NE = "!="
    LT = "<"
    LE = "<="
    GT = ">"
    GE = ">="
    LAND = "&&"
    LOR = "||"
    # unary
    NEG = "neg"
    NOT = "not"  # logical on BOOL, bitwise on integers
    CLZ = "clz"
    CTZ = "ctz"
    POPC = "popc"
    BREV = "brev"
    ABS = "abs"


COMPARISONS = frozenset({Op.EQ, Op.NE, Op.LT, Op.LE, Op.GT, Op.GE})


@dataclass(frozen=True, slots=True)
class Expr:
    """Base of all terms; every term has a ``type``."""

    type: Type


@dataclass(frozen=True, slots=True)
class Const(Expr):
    """A literal: an int for integer types, a bool for BOOL, a float for float types."""

    value: int | bool | float


@dataclass(frozen=True, slots=True)
class Var(Expr):
    """A mutable local variable, private to a thread. Names are unique within a kernel."""

    name: str


@dataclass(frozen=True, slots=True)
class Param(Expr):
    """A scalar kernel parameter (the same for all threads of a launch)."""

    name: str


@dataclass(frozen=True, slots=True)
class Length(Expr):
    """The number of elements of a region (uniform; USIZE). Only slices and views know theirs in the source."""

    region: str


@dataclass(frozen=True, slots=True)
class Special(Expr):
    """A special register, U32.

    ``tid.x`` ``ctaid.x`` ``ntid.x`` ``nctaid.x`` (and y, z); ``laneid`` (linear thread index in the block mod 32);
    ``warpid``; ``cluster_ctarank`` ``cluster_nctarank``; ``dynamic_smem_bytes``.
    """

    name: str


@dataclass(frozen=True, slots=True)
class Sym(Expr):
    """An unknown value of the host side (a function's argument, a length): one fixed value per run of the host path.

    ``low`` and ``high`` bound it where something is known (both inclusive).
    """

    name: str
    low: int | None = None
    high: int | None = None


@dataclass(frozen=True, slots=True)
class Unary(Expr):
    """``op`` applied to ``a``."""

    op: Op
    a: Expr


@dataclass(frozen=True, slots=True)
class Binary(Expr):
    """``a op b``. Shift amounts may have another type than ``a``; everything else has one operand type."""

    op: Op
    a: Expr
    b: Expr
    nowrap: bool = False


@dataclass(frozen=True, slots=True)
class Cast(Expr):
    """A conversion as by Rust's ``as``: truncating, sign- or zero-extending; from bool 0 or 1; to bool ``!= 0``."""

    a: Expr


@dataclass(frozen=True, slots=True)
class Select(Expr):
    """``if cond { a } else { b }`` on values."""

    cond: Expr
    a: Expr
    b: Expr


@dataclass(frozen=True, slots=True)
class Opaque(Expr):
    """A pure function of ``args`` whose value is not modelled (floating point, hashes).

    Equal names with equal arguments give equal values. ``name`` tells the user what it is. An opaque term that the
    concrete interpreter cannot compute makes a replay fail (and so the verdict unknown).
    """

    name: str
    args: tuple[Expr, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class PtrBase(Expr):
    """The address of the first byte of a region."""

    region: str


@dataclass(frozen=True, slots=True)
class PtrAdd(Expr):
    """``ptr`` moved by ``offset`` bytes (any integer type; signed offsets are negative as they stand)."""

    ptr: Expr
    offset: Expr


@dataclass(frozen=True, slots=True)
class PtrUnknown(Expr):
    """A pointer that is not modelled: it may point anywhere. ``reason`` is for the user."""

    reason: str


def const(value: int, type_: Type = USIZE) -> Const:
    """An integer literal of a type."""
    return Const(type_, value)


TRUE = Const(BOOL, True)
FALSE = Const(BOOL, False)
