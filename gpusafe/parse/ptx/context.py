"""The state of lowering one kernel: the statements made so far, and what names in PTX stand for."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from gpusafe.ir import kernel as k
from gpusafe.ir.expr import BOOL, I32, I64, PTR, U32, U64, Const, Expr, Opaque, PtrBase, PtrUnknown, Special, Type, Var
from gpusafe.ir.terms import wrap
from gpusafe.parse.cuda import terms
from gpusafe.parse.cuda.context import Unsupported
from gpusafe.parse.ptx.cursor import integer
from gpusafe.parse.ptx.pointers import Pointers, address_of
from gpusafe.parse.ptx.syntax import Variable
from gpusafe.span import Span

_AXES = re.compile(r"(tid|ctaid|ntid|nctaid)\.[xyz]\Z")
_SAME = {"laneid": "laneid", "cluster_ctarank": "cluster_ctarank", "cluster_nctarank": "cluster_nctarank",
         "dynamic_smem_size": "dynamic_smem_bytes"}  # fmt: skip
_WIDE = frozenset({"clock64", "globaltimer", "gridid", "current_graph_exec"})
_SPACES = {"global": k.Space.GLOBAL, "shared": k.Space.SHARED, "const": k.Space.CONSTANT, "local": k.Space.LOCAL}
_NUMBER = re.compile(r"-?\d")


@dataclass(slots=True)
class Emitter:
    """A stack of lists of statements."""

    lists: list[list[k.Stmt]] = field(default_factory=lambda: [[]])

    @contextmanager
    def collect(self) -> Iterator[list[k.Stmt]]:
        """Statements made inside go to the list that this gives."""
        made: list[k.Stmt] = []
        self.lists.append(made)
        try:
            yield made
        finally:
            self.lists.pop()


@dataclass(slots=True)
class Context:
    """What the handlers of instructions ask of their context (as gpusafe.parse.cuda.ptx does)."""

    emitter: Emitter = field(default_factory=Emitter)
    count: int = 0

    def emit(self, stmt: k.Stmt) -> None:
        """Adds a statement."""
        self.emitter.lists[-1].append(stmt)

    def temporary(self, name: str, type_: Type) -> Var:
        """A variable of its own."""
        self.count += 1
        return Var(type_, f"{name} #{self.count}")

    def havoc(self, span: Span, name: str, type_: Type, reason: str) -> Expr:
        """A value that is not modelled."""
        var = self.temporary(name, type_)
        self.emit(k.Havoc(span, var.name, type_, reason))
        return var


@dataclass(slots=True)
class Registers:
    """What names mean: registers, variables in memory, special registers, numbers. ``span`` is where we are."""

    x: Context
    types: dict[str, Type]
    pointers: Pointers
    symbols: dict[str, Variable]
    span: Span
    regions: dict[str, k.Region] = field(default_factory=dict)
    sizes: dict[str, set[int]] = field(default_factory=dict)  # bytes of the accesses that a name of memory is base of
    access: int = 1  # bytes that the instruction at hand accesses

    def type_of(self, name: str) -> Type | None:
        """The type of a register, None for what is none."""
        return self.types.get(name)

    def get(self, name: str, type_: Type | None = None) -> Expr:
        """The value of a name or number, converted when a type is given; addresses stay what they are."""
        value = self._value(name, type_)
        return value if type_ is None or value.type == PTR else convert(value, type_)

    def number(self, name: str, type_: Type) -> Expr:
        """The value of a name as a number, an address too."""
        value = self.get(name, type_)
        return convert(terms.cast(value, U64), type_) if value.type == PTR else value

    def _value(self, name: str, type_: Type | None) -> Expr:
        if name.startswith("!"):
            return terms.negate(self.get(name[1:], BOOL))
        known = self.types.get(name)
        if known is not None:
            return Var(known, name)
        if name in self.symbols:
            return self._symbol(self.symbols[name])
        if _NUMBER.match(name):
            return _literal(name, type_)
        if name.startswith("%"):
            return self._special(name[1:])
        base, plus, offset = name.partition("+")
        if plus and base in self.symbols:
            return terms.move(self._symbol(self.symbols[base]), Const(I64, integer(offset)))
        if name == "WARP_SZ":
            return Const(U32, 32)
        raise Unsupported(f"`{name}`")

    def _special(self, name: str) -> Expr:
        if _AXES.match(name):
            return Special(U32, name)
        if name in _SAME:
            return Special(U32, _SAME[name])
        if name.startswith("lanemask_"):
            return Opaque(U32, name, (Special(U32, "laneid"),))
        return self.x.havoc(self.span, name, U64 if name in _WIDE else U32, f"`%{name}`")

    def _symbol(self, variable: Variable) -> Expr:
        if variable.space == "param":
            raise Unsupported(f"the address of the parameter `{variable.name}`")
        open_ = variable.space == "shared" and (variable.count is None or variable.extern)
        name = "dynamic shared memory" if open_ else variable.name
        if name not in self.regions:
            self.regions[name] = self._region(name, variable, open_)
        return PtrBase(PTR, name)

    def _region(self, name: str, variable: Variable, open_: bool) -> k.Region:
        at = Span(self.span.file, variable.line, 1, variable.line, 2)
        if open_:
            space = k.Space.DYNAMIC_SHARED
            length: Expr | None = terms.cast(Special(U32, "dynamic_smem_bytes"), U64)
        else:
            space = _SPACES.get(variable.space, k.Space.GLOBAL)
            length = Const(U64, variable.count * variable.elem_bytes) if variable.count is not None else None
        constant = space is k.Space.CONSTANT
        blank = space in (k.Space.SHARED, k.Space.DYNAMIC_SHARED)
        return k.Region(
            name, space, 1, length, at, None, constant, False, not blank, variable.nonzero or variable.extern
        )

    def set(self, name: str, value: Expr) -> None:
        """Writes a register."""
        if name == "_":
            return
        type_ = self.types.get(name)
        if type_ is None:
            raise Unsupported(f"a result in `{name}`")
        self.x.emit(k.Assign(self.span, name, convert(value, type_)))

    def clobber(self, name: str, reason: str) -> None:
        """A register that gets a value which is not modelled."""
        type_ = self.types.get(name)
        if type_ is None:
            return
        if type_ == PTR:
            self.x.emit(k.Assign(self.span, name, PtrUnknown(PTR, reason)))
        else:
            self.x.emit(k.Havoc(self.span, name, type_, reason))

    def pointer(self, name: str, offset: int) -> Expr:
        """The address ``[name+offset]``."""
        value = self._value(name, U64)
        for _, origin in self.pointers.sure(name):
            self.sizes.setdefault(origin, set()).add(self.access)
        base = value if value.type == PTR else terms.pointer_at(value)
        return terms.move(base, Const(I64, offset))

    def pointer_of(self, operand: str) -> Expr:
        """The address of a memory operand."""
        found = address_of(operand)
        if found is None:
            raise Unsupported(f"the address `{operand}`")
        return self.pointer(*found)


def _literal(text: str, type_: Type | None) -> Expr:
    if text[:2] in ("0f", "0F", "0d", "0D") and len(text) in (10, 18):
        bits = int(text[2:], 16)
        wide = len(text) == 18
        if type_ is not None and type_.kind == "int":
            return Const(type_, wrap(bits, type_))
        value = (
            struct.unpack(">d", bits.to_bytes(8, "big"))[0] if wide else struct.unpack(">f", bits.to_bytes(4, "big"))[0]
        )
        return Const(Type("float", 64 if wide else 32), value)
    if "." in text:
        return Const(Type("float", 64), float(text))
    number = -integer(text[1:]) if text[0] == "-" else integer(text)
    if type_ is not None and type_.kind == "bool":
        return Const(BOOL, number != 0)
    if type_ is not None and type_.kind == "int":
        return Const(type_, wrap(number, type_))
    return Const(I64 if abs(number) >> 31 else I32, number) if abs(number) < 1 << 63 else Const(U64, number)


def convert(value: Expr, type_: Type) -> Expr:
    """The bits of a value in a register of another type; between numbers and floats they are not modelled."""
    if value.type == type_:
        return value
    if PTR in (value.type, type_):
        return terms.cast(value, type_)
    if value.type.kind == "float" and isinstance(value, Const) and type_.kind == "int":
        return Opaque(type_, f"the bits of {value.value!r}", ())
    if "float" in (value.type.kind, type_.kind):
        return Opaque(type_, "bits", (value,))
    return terms.cast(value, type_)
