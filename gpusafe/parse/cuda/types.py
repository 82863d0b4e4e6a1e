"""The types of CUDA C as the lowering needs them: what a value is made of, how large it is."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from gpusafe.ir import expr as ir
from gpusafe.ir.expr import Type


@dataclass(frozen=True, slots=True, kw_only=True)
class CType:
    """Base of types; ``const`` and ``volatile`` qualify the object itself."""

    const: bool = False
    volatile: bool = False


@dataclass(frozen=True, slots=True)
class Scalar(CType):
    """An arithmetic type; ``name`` tells types of one size apart (``__half`` and ``__nv_bfloat16``, ``char``)."""

    type: Type
    name: str = ""


@dataclass(frozen=True, slots=True)
class Void(CType):
    pass


@dataclass(frozen=True, slots=True)
class Pointer(CType):
    to: CType


@dataclass(frozen=True, slots=True)
class Reference(CType):
    to: CType


@dataclass(frozen=True, slots=True)
class Array(CType):
    """``length`` counts elements; None for ``extern T x[]`` and parameters."""

    of: CType
    length: int | None


@dataclass(frozen=True, slots=True)
class Field:
    """A field and its distance from the start of the record, in bytes."""

    name: str
    type: CType
    offset: int


@dataclass(frozen=True, slots=True)
class Struct(CType):
    """A struct, union or vector type with its layout; ``key`` identifies it (name with template arguments)."""

    key: str
    fields: tuple[Field, ...]
    size: int
    align: int
    union: bool = False
    vector: bool = False

    def find(self, name: str) -> Field | None:
        """The field of that name."""
        return next((f for f in self.fields if f.name == name), None)


@dataclass(frozen=True, slots=True)
class Handle(CType):
    """An object of a library that has a meaning but no bytes of interest (a cooperative group, an ``atomic_ref``).

    ``args`` are its template arguments, already resolved (types, integers, words).
    """

    kind: str
    args: tuple[object, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Auto(CType):
    """``auto``: the initialiser decides."""


@dataclass(frozen=True, slots=True)
class Unknown(CType):
    """A type that is not modelled; ``name`` is for the user."""

    name: str


BOOL = Scalar(ir.BOOL)
INT, UINT = Scalar(ir.I32), Scalar(ir.U32)
LONG, ULONG = Scalar(ir.I64), Scalar(ir.U64)
FLOAT, DOUBLE = Scalar(ir.F32), Scalar(ir.F64)
HALF, BFLOAT = Scalar(ir.F16, "half"), Scalar(ir.F16, "bfloat16")
VOID = Void()

_WIDTHS = (8, 16, 32, 64)
_BY_NAME: dict[str, CType] = {
    "void": VOID,
    "bool": BOOL,
    "char": Scalar(ir.I8, "char"),
    "signed char": Scalar(ir.I8),
    "unsigned char": Scalar(ir.U8),
    "short": Scalar(ir.I16),
    "unsigned short": Scalar(ir.U16),
    "int": INT,
    "unsigned int": UINT,
    "unsigned": UINT,
    "long": LONG,
    "unsigned long": ULONG,
    "long long": Scalar(ir.I64, "long long"),
    "unsigned long long": Scalar(ir.U64, "long long"),
    "float": FLOAT,
    "double": DOUBLE,
    "__int128": Scalar(ir.I128),
    "__int128_t": Scalar(ir.I128),
    "__uint128_t": Scalar(ir.U128),
    "unsigned __int128": Scalar(ir.U128),
    "wchar_t": INT,
    "char8_t": Scalar(ir.U8),
    "char16_t": Scalar(ir.U16),
    "char32_t": UINT,
    "uint": UINT,
    "uchar": Scalar(ir.U8),
    "ushort": Scalar(ir.U16),
    "ulong": ULONG,
    "ulonglong": Scalar(ir.U64, "long long"),
    "size_t": ULONG,
    "ssize_t": LONG,
    "ptrdiff_t": LONG,
    "intptr_t": LONG,
    "uintptr_t": ULONG,
    "clock_t": LONG,
    "half": HALF,
    "__half": HALF,
    "nv_half": HALF,
    "__nv_bfloat16": BFLOAT,
    "nv_bfloat16": BFLOAT,
    "__nv_fp8_e4m3": Scalar(ir.U8, "fp8_e4m3"),
    "__nv_fp8_e5m2": Scalar(ir.U8, "fp8_e5m2"),
    "__nv_fp8_storage_t": Scalar(ir.U8),
    "cudaTextureObject_t": Scalar(ir.U64, "texture"),
    "cudaSurfaceObject_t": Scalar(ir.U64, "texture"),
    "cudaError_t": INT,
    "CUtensorMap": Handle("tensor map"),
    **{
        f"{u}int{w}{b}_t": Scalar(Type("int", b, not u))
        for u in ("", "u")
        for w in ("", "_fast", "_least")
        for b in _WIDTHS
    },
}
_VECTOR_BASES = {
    "char": Scalar(ir.I8, "char"),
    "uchar": Scalar(ir.U8),
    "short": Scalar(ir.I16),
    "ushort": Scalar(ir.U16),
    "int": INT,
    "uint": UINT,
    "long": LONG,
    "ulong": ULONG,
    "longlong": Scalar(ir.I64, "long long"),
    "ulonglong": Scalar(ir.U64, "long long"),
    "float": FLOAT,
    "double": DOUBLE,
}
_HALF_VECTORS: dict[str, tuple[Scalar, int]] = {
    "half2": (HALF, 2),
    "__half2": (HALF, 2),
    "nv_bfloat162": (BFLOAT, 2),
    "__nv_bfloat162": (BFLOAT, 2),
}
_MAX_VECTOR_ALIGN = 16


def vector(name: str, base: Scalar, count: int) -> Struct:
    """A built-in vector type (``float4``): fields x y z w, aligned to its size when that is a power of two."""
    step = base.type.bytes
    fields = tuple(Field(n, base, i * step) for i, n in enumerate("xyzw"[:count]))
    align = step if count == 3 else min(step * count, _MAX_VECTOR_ALIGN)
    return Struct(name, fields, step * count, align, vector=True)


_VECTORS: dict[str, Struct] = {
    f"{name}{count}": vector(f"{name}{count}", base, count)
    for name, base in _VECTOR_BASES.items()
    for count in (1, 2, 3, 4)
} | {name: vector(name.strip("_"), base, count) for name, (base, count) in _HALF_VECTORS.items()}
_VECTORS["dim3"] = replace(vector("dim3", UINT, 3))
RANDOM_STATES = frozenset({"curandState", "curandStateXORWOW", "curandStateMRG32k3a", "curandStatePhilox4_32_10"})


def _random_state(name: str, size: int, align: int) -> Struct:
    """A state of cuRAND, whose contents are its own business."""
    return Struct(name, (Field("state", Array(UINT, size // 4), 0),), size, align)


_STATES: dict[str, Struct] = {
    name + suffix: _random_state(name, size, align)
    for name, size, align in (
        ("curandState", 48, 8),
        ("curandStateXORWOW", 48, 8),
        ("curandStateMRG32k3a", 72, 8),
        ("curandStatePhilox4_32_10", 64, 16),
    )
    for suffix in ("", "_t")
}
_STD = ("std::", "cuda::std::", "::")


_EXTENTS: dict[str, Struct] = {
    name: Struct(name, tuple(Field(n, Scalar(ir.U64), 8 * i) for i, n in enumerate(names)), 8 * len(names), 8)
    for name, names in (("cudaExtent", ("width", "height", "depth")), ("cudaPos", ("x", "y", "z")))
}


def builtin_type(name: str) -> CType | None:
    """The type that the language or the CUDA headers give a name, None when they give it none."""
    for prefix in _STD:
        name = name.removeprefix(prefix)
    return _BY_NAME.get(name) or _VECTORS.get(name) or _STATES.get(name) or _EXTENTS.get(name)


def vector_of(base: str, count: int) -> Struct | None:
    """The vector type with that element name (``uchar``) and count."""
    return _VECTORS.get(f"{base}{count}")


def size_of(kind: CType) -> int | None:
    """Size in bytes, None when not known."""
    match kind:
        case Scalar(type=type_):
            return type_.bytes
        case Pointer() | Reference():
            return 8
        case Struct(size=size):
            return size
        case Array(of=of, length=length):
            inner = size_of(of)
            return None if inner is None or length is None else inner * length
        case Void():
            return 1
        case Handle(kind="atomic", args=(CType() as inner, *_)):
            return size_of(inner)
        case _:
            return None


def align_of(kind: CType) -> int:
    """Alignment in bytes (1 when not known)."""
    match kind:
        case Struct(align=align):
            return align
        case Array(of=of):
            return align_of(of)
        case _:
            return size_of(kind) or 1


def struct(key: str, members: list[tuple[str, CType]], union: bool, align: int = 1) -> Struct | None:
    """Lay out a record as C does, None when a member's size is not known."""
    fields: list[Field] = []
    at = 0
    widest = max(align, 1)
    for name, kind in members:
        size, unit = size_of(kind), align_of(kind)
        if size is None:
            return None
        widest = max(widest, unit)
        offset = 0 if union else -(-at // unit) * unit
        fields.append(Field(name, kind, offset))
        at = max(at, offset + size)
    return Struct(key, tuple(fields), max(-(-at // widest) * widest, 1), widest, union)


def plain(kind: CType) -> CType:
    """Without top-level qualifiers."""
    return replace(kind, const=False, volatile=False) if kind.const or kind.volatile else kind


def same(a: CType, b: CType) -> bool:
    """Equality that ignores top-level qualifiers and the spelling of equal scalars (``long``, ``long long``)."""
    a, b = plain(a), plain(b)
    if isinstance(a, Pointer) and isinstance(b, Pointer):
        return same(a.to, b.to)
    if isinstance(a, Scalar) and isinstance(b, Scalar) and a.type.kind == "int":
        return a.type == b.type and (a.name == b.name or "long" in a.name + b.name)
    return a == b


def show(kind: CType) -> str:
    """The type as a user would write it."""
    match kind:
        case Scalar(type=type_, name=name):
            if name and name != "long long":
                return name
            if type_.kind == "float":
                return {16: "half", 32: "float", 64: "double"}.get(type_.bits, f"float{type_.bits}")
            if type_.kind == "bool":
                return "bool"
            words = {8: "char", 16: "short", 32: "int", 64: "long long", 128: "__int128"}[type_.bits]
            return words if type_.signed and type_.bits > 8 else f"{'signed' if type_.signed else 'unsigned'} {words}"
        case Pointer(to=to):
            return f"{show(to)}*"
        case Reference(to=to):
            return f"{show(to)}&"
        case Array(of=of, length=length):
            return f"{show(of)}[{'' if length is None else length}]"
        case Struct(key=key):
            return key
        case Unknown(name=name):
            return name
        case Handle(kind=word):
            return word
        case Void():
            return "void"
        case _:
            return "auto"


def usual(a: Type, b: Type) -> Type:
    """The common type of the usual arithmetic conversions."""
    if "float" in (a.kind, b.kind):
        reals = [t for t in (a, b) if t.kind == "float"]
        return max(reals, key=lambda t: t.bits)
    a, b = promoted(a), promoted(b)
    if a == b:
        return a
    if a.signed == b.signed:
        return a if a.bits > b.bits else b
    unsigned, signed = (b, a) if a.signed else (a, b)
    return unsigned if unsigned.bits >= signed.bits else signed


def promoted(a: Type) -> Type:
    """The type after integer promotion."""
    return ir.I32 if a.kind == "bool" or (a.kind == "int" and a.bits < 32) else a
