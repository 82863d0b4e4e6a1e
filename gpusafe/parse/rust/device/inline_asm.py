"""Inline PTX (``asm!`` and cuda-oxide's ``ptx_asm!``): the instructions mean what they mean in CUDA C."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, cast

from gpusafe.ir import kernel as k
from gpusafe.ir.expr import BOOL, I64, PTR, U32, U64, Const, Expr, Op, Opaque, PtrBase, Special, Type, Var
from gpusafe.parse.cuda.context import Unsupported
from gpusafe.parse.cuda.ptx import arithmetic, barriers, copies, mbarriers, memory, warps
from gpusafe.parse.cuda.ptx.text import Instruction, instructions
from gpusafe.parse.rust import ast
from gpusafe.parse.rust.device import terms
from gpusafe.parse.rust.device.asm_text import Asm, AsmOperand, parse_asm
from gpusafe.parse.rust.device.bodies import Nest
from gpusafe.parse.rust.device.global_asm import declared
from gpusafe.parse.rust.device.lowering import Lowering
from gpusafe.parse.rust.device.operators import cast_value
from gpusafe.parse.rust.device.places import read, write
from gpusafe.parse.rust.device.scalars import term_of
from gpusafe.parse.rust.device.specials import special_register
from gpusafe.parse.rust.device.types import Ty
from gpusafe.parse.rust.device.values import NEVER, UNIT_VALUE, Place, Scalar, Unknown, Value
from gpusafe.span import Span

_TABLES = (
    memory.INSTRUCTIONS,
    barriers.INSTRUCTIONS,
    copies.INSTRUCTIONS,
    mbarriers.INSTRUCTIONS,
    warps.INSTRUCTIONS,
)
_SILENT = frozenset({"nanosleep", "prefetch", "prefetchu", "griddepcontrol", "pmevent", "applypriority", "discard"})
_INDEX = re.compile(r"%(\d+)\Z")
_SYMBOL = re.compile(r"%\[(\w+)\]\Z")
_LONGEST = 60


def asm_value(lw: Lowering, node: ast.MacroCall, want: Ty | None) -> Value:
    """``asm!(..)``."""
    asm = parse_asm(node)
    if asm is None:
        return lw.unmodelled("inline assembly", node.span)
    registers = _Registers(lw, lw.at(node.span), asm)
    pure = {"nomem", "pure"} <= asm.options or "register_only" in asm.options
    try:
        _run(lw, registers, instructions(asm.template))
    except Unsupported as gap:
        lw.unmodelled(f"inline assembly: {gap}", node.span, accesses=not pure, syncs=not pure)
    registers.finish()
    if "noreturn" in asm.options:
        lw.dead = True
        return NEVER
    return UNIT_VALUE


def _run(lw: Lowering, registers: _Registers, code: list[Instruction]) -> None:
    adapter = cast(Any, _Emitter(lw))
    if mbarriers.is_wait_loop(code):
        mbarriers.wait_loop(adapter, cast(Any, registers), code)
        return
    for instruction in code:
        if instruction.words[0] == "bra" or instruction.label is not None:
            raise Unsupported("a branch")
        if instruction.guard is None:
            _one(adapter, registers, instruction)
            continue
        condition = registers.get(instruction.guard, BOOL)
        if instruction.negated:
            condition = terms.negate(condition)
        before = dict(registers.values)
        with lw.body() as body:
            _one(adapter, registers, instruction)
        for name, value in registers.values.items():
            old = before.get(name)
            if old is not None and old != value and old.type == value.type:
                registers.values[name] = terms.select(condition, value, old)
        if body:
            lw.emit(Nest("if", registers.span, body, cond=condition))


def _one(adapter: Any, registers: _Registers, instruction: Instruction) -> None:
    word = instruction.words[0]
    for table in _TABLES:
        handler = table.get(word)
        if handler is not None and handler(adapter, cast(Any, registers), instruction):
            return
    if word == "mapa" or (word == "ld" and instruction.has("param")):
        raise Unsupported(f"the PTX instruction `{instruction.opcode}`")
    if word in _SILENT or arithmetic.compute(adapter, cast(Any, registers), instruction):
        return
    shown = " ".join((instruction.opcode, ", ".join(instruction.operands))).replace("\0", "")
    raise Unsupported(f"the PTX instruction `{shown[:_LONGEST]}`")


@dataclass(eq=False, slots=True)
class _Emitter:
    """What the handlers of gpusafe.parse.cuda.ptx ask of their context."""

    lw: Lowering

    def emit(self, stmt: k.Stmt) -> None:
        self.lw.emit(stmt)

    def temporary(self, name: str, type_: Type) -> Var:
        return Var(type_, self.lw.temp())

    def havoc(self, span: Span, name: str, type_: Type, reason: str) -> Expr:
        return self.lw.havoc(type_, reason, span)

    def hold(self, span: Span, name: str, value: Expr) -> Expr:
        return value if self.lw.stable(value) else self.lw.named("v", value, span)


@dataclass(eq=False, slots=True)
class _Registers:
    """Names of one asm statement: its operands, its own registers, symbols, special registers, numbers."""

    lw: Lowering
    span: Span
    asm: Asm
    values: dict[str, Expr] = field(default_factory=dict)
    held: dict[int, Expr] = field(default_factory=dict)
    written: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        for number, operand in enumerate(self.asm.operands):
            if operand.value is not None and operand.kind != "sym":
                value = self.lw.expr(operand.value)
                self.held[number] = term_of(self.lw, value, operand.value.span)

    def _number(self, name: str) -> int | None:
        found = _INDEX.match(name)
        if found is not None and int(found[1]) < len(self.asm.operands):
            return int(found[1])
        symbol = _SYMBOL.match(name)
        if symbol is not None:
            return next((i for i, o in enumerate(self.asm.operands) if o.symbol == symbol[1]), None)
        return None

    def get(self, name: str, type_: Type | None = None) -> Expr:
        """The value of a name or number, converted when a type is given."""
        value = self._value(name)
        if type_ is None or value.type == PTR:
            return value
        return _as(value, type_)

    def _value(self, name: str) -> Expr:
        number = self._number(name)
        if number is not None:
            if number not in self.held:
                raise Unsupported("an operand that is read before it is written")
            return self.held[number]
        if name in self.values:
            return self.values[name]
        bare = name.lstrip("%\0")
        region = declared(self.lw, bare, self.span)
        if region is not None:
            return PtrBase(PTR, region)
        special = special_register(self.lw, bare)
        if special is not None:
            return special
        if bare.startswith("lanemask_"):
            return Opaque(U32, bare, (Special(U32, "laneid"),))
        if bare.startswith(("clock", "globaltimer", "smid", "warpid", "nwarpid", "nsmid", "gridid")):
            return self.lw.havoc(U64 if bare.endswith("64") or bare == "globaltimer" else U32, f"`%{bare}`", self.span)
        try:
            return Const(I64, int(name.rstrip("U"), 0))
        except ValueError:
            raise Unsupported(f"`{bare}`") from None

    def set(self, name: str, value: Expr) -> None:
        """Write a register or an output operand."""
        number = self._number(name)
        if number is None:
            if name != "_":
                self.values[name] = value
            return
        self.held[number] = value
        self.written.add(number)

    def clobber(self, name: str, reason: str) -> None:
        """A register that gets a value which is not modelled."""
        self.set(name, self.lw.havoc(U64, reason, self.span))

    def pointer(self, name: str, offset: int) -> Expr:
        """The address ``[name + offset]``."""
        value = self._value(name)
        base = value if value.type == PTR else terms.int_to_ptr(value)
        return terms.ptr_add(base, terms.int_const(offset, I64))

    def finish(self) -> None:
        """Give the output operands their values."""
        for number, operand in enumerate(self.asm.operands):
            if operand.target is None or operand.kind not in ("out", "inout"):
                continue
            place = self.lw.place(operand.target)
            write(self.lw, place, self._result(number, operand, place), operand.target.span)

    def _result(self, number: int, operand: AsmOperand, place: Place) -> Value:
        ty = place.ty
        if number not in self.written and operand.kind == "out":
            known = read(self.lw, place, self.span)
            return Unknown(known.ty, "the result of inline assembly")
        value = self.held[number]
        type_ = self.lw.infer.term_type(ty)
        if type_ is not None and type_.kind in ("int", "float", "bool") and value.type != PTR:
            return Scalar(ty, _as(value, type_))
        if type_ is not None and type_.kind == "infer":
            return self.lw.scalar(value)
        return cast_value(self.lw, self.lw.scalar(value), ty, self.span)


def _as(value: Expr, type_: Type) -> Expr:
    """The bits of a value in a register of another type: between numbers and floats they are not modelled."""
    if value.type == type_:
        return value
    if value.type.kind == "infer" and isinstance(value, Const) and type_.kind == "int":
        return terms.int_const(int(value.value), type_)
    if "float" in (value.type.kind, type_.kind):
        return Opaque(type_, "bits", (value,))
    if type_ == BOOL and value.type.kind == "int":
        return terms.binary(Op.NE, value, terms.int_const(0, value.type))
    return terms.cast(value, type_)
