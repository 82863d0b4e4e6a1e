"""What the names in an ``asm`` statement stand for: its operands, its own registers, special registers, numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from gpusafe.ir.expr import BOOL, U32, U64, Const, Expr, Opaque, Special, Type
from gpusafe.parse.cuda import syntax as s
from gpusafe.parse.cuda import terms
from gpusafe.parse.cuda import types as t
from gpusafe.parse.cuda.context import Context, Unsupported
from gpusafe.parse.cuda.convert import convert, expression
from gpusafe.parse.cuda.places import ir_type, read, unknown, write
from gpusafe.parse.cuda.render import render
from gpusafe.parse.cuda.values import Operand, Place, Term, UnknownValue, Value
from gpusafe.span import Span

_SPECIAL = {
    **{f"{r}.{a}": f"{r}.{a}" for r in ("tid", "ctaid", "ntid", "nctaid") for a in "xyz"},
    "laneid": "laneid",
    "cluster_ctarank": "cluster_ctarank",
    "cluster_nctarank": "cluster_nctarank",
    "dynamic_smem_size": "dynamic_smem_bytes",
}
_UNKNOWN_SPECIAL = frozenset(
    ["warpid", "nwarpid", "smid", "nsmid", "gridid", "clock", "clock_hi", "clock64", "globaltimer", "globaltimer_lo"]
)
_LANE_MASKS = frozenset(["lanemask_eq", "lanemask_le", "lanemask_lt", "lanemask_ge", "lanemask_gt"])
_OPERAND = re.compile(r"%(\d+)\Z")
_SYMBOL = re.compile(r"%\[(\w+)\]\Z")


def ptx_type(word: str) -> Type | None:
    """The IR type of ``u32``, ``b64``, ``f32``, ``pred``; None when it is none."""
    if word == "pred":
        return BOOL
    found = re.fullmatch(r"([busf])(8|16|32|64|128)", word)
    if found is not None:
        kind, bits = found.group(1), int(found.group(2))
        return Type("float", bits) if kind == "f" else Type("int", bits, kind == "s")
    if word in ("f16x2", "bf16x2"):
        return U32
    return Type("float", 16) if word in ("bf16", "f16") else None


@dataclass(slots=True)
class Registers:
    """Names of one asm statement. Outputs are written as soon as an instruction sets them."""

    x: Context
    span: Span
    operands: list[s.AsmOperand]
    outputs: int
    places: list[Operand] = field(default_factory=list)
    inputs: dict[int, Expr] = field(default_factory=dict)
    values: dict[str, Expr] = field(default_factory=dict)
    written: set[int] = field(default_factory=set)

    @staticmethod
    def of(x: Context, asm: s.Asm) -> Registers:
        """Evaluate the operands: outputs as places, inputs as values."""
        made = Registers(x, asm.span, [*asm.outputs, *asm.inputs], len(asm.outputs))
        for operand in asm.outputs:
            made.places.append(x.evaluate(operand.value))
        for index, operand in enumerate(asm.inputs, start=len(asm.outputs)):
            value = read(x, x.evaluate(operand.value), operand.span, render(operand.value))
            if isinstance(value, Term):
                made.inputs[index] = value.expr
            elif isinstance(value, UnknownValue):
                made.inputs[index] = expression(x, unknown(x, t.ULONG, asm.span, "operand", value.reason))
        return made

    def index(self, name: str) -> int | None:
        """The number of the operand that ``%0`` or ``%[name]`` means."""
        numbered = _OPERAND.match(name)
        if numbered is not None:
            number = int(numbered.group(1))
            return number if number < len(self.operands) else None
        named = _SYMBOL.match(name)
        if named is not None:
            return next((i for i, o in enumerate(self.operands) if o.symbol == named.group(1)), None)
        return None

    def get(self, name: str, type_: Type | None = None) -> Expr:
        """The value of a name or number, converted when a type is given."""
        value = self._value(name)
        return value if type_ is None or value.type.kind == "ptr" else _as(value, type_)

    def _value(self, name: str) -> Expr:
        index = self.index(name)
        if index is not None:
            if index < self.outputs:
                value = read(self.x, self.places[index], self.span, name)
                return expression(self.x, value)
            if index in self.inputs:
                return self.inputs[index]
            raise Unsupported("an operand of inline assembly")
        if name in self.values:
            return self.values[name]
        special = name.lstrip("%\0")
        if special in _SPECIAL:
            return Special(U32, _SPECIAL[special])
        if special in _LANE_MASKS:
            return Opaque(U32, special, (Special(U32, "laneid"),))
        if special in _UNKNOWN_SPECIAL:
            wide = special.endswith("64") or special == "globaltimer"
            return self.x.havoc(self.span, special, U64 if wide else U32, f"`%{special}`")
        try:
            number = int(name.rstrip("U"), 0)
        except ValueError:
            raise Unsupported(f"`{name}` in inline assembly") from None
        return Const(Type("int", 64, True), number)

    def set(self, name: str, value: Expr) -> None:
        """Write a register or an output operand."""
        index = self.index(name)
        if index is None:
            if name != "_":
                self.values[name] = self.x.hold(self.span, name, value)
            return
        if index >= self.outputs:
            raise Unsupported("inline assembly that writes an input")
        self.written.add(index)
        place = self.places[index]
        kind = place.type
        made: Value = Term(t.Scalar(value.type), value)
        if isinstance(kind, t.Scalar) and kind.type != value.type:
            made = Term(kind, _as(value, kind.type))
        elif not isinstance(kind, t.Scalar):
            made = convert(self.x, made, kind, self.span)
        write(self.x, place, made, self.span)

    def clobber(self, name: str, reason: str) -> None:
        """A register that gets a value which is not modelled."""
        index = self.index(name)
        if index is None:
            self.values[name] = self.x.havoc(self.span, name, U64, reason)
        elif index < self.outputs:
            self.written.add(index)
            place = self.places[index]
            if isinstance(place, Place):
                if isinstance(place.type, (t.Scalar, t.Pointer)):
                    ir_type(place.type)
                write(self.x, place, unknown(self.x, place.type, self.span, name, reason), self.span)

    def pointer(self, name: str, offset: int) -> Expr:
        """The address ``[name + offset]``."""
        value = self._value(name)
        base = value if value.type.kind == "ptr" else terms.pointer_at(value)
        return terms.move(base, terms.integer(offset, Type("int", 64, True)))


def _as(value: Expr, type_: Type) -> Expr:
    """The bits of a value in a register of another type: between numbers and floats they are not modelled."""
    if value.type == type_:
        return value
    if "float" in (value.type.kind, type_.kind):
        return Opaque(type_, "bits", (value,))
    return terms.cast(value, type_)
