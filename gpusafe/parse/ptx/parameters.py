"""Parameters of a kernel: what ``ld.param`` gives, and what a launch must pass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from gpusafe.ir import kernel as k
from gpusafe.ir.expr import PTR, Const, Expr, Op, Param, PtrBase, Type
from gpusafe.parse.cuda import terms
from gpusafe.parse.ptx import syntax as s
from gpusafe.parse.ptx.pointers import Pointers, results_of, slot_of
from gpusafe.parse.ptx.registers import scalar_type, types_in
from gpusafe.span import Span


@dataclass(slots=True)
class Parameters:
    """The parameters of one kernel. ``inside`` are the aggregates that hold pointers."""

    kernel: s.Function
    pointers: Pointers
    types: Mapping[str, Type]
    file: str
    regions: dict[str, k.Region] = field(default_factory=dict)
    scalars: dict[str, Type] = field(default_factory=dict)
    inside: dict[str, None] = field(default_factory=dict)

    def load(self, i: s.Instruction) -> list[tuple[str, Expr]] | None:
        """Registers and values of an ``ld.param`` from the kernel's own parameters; None for anything else."""
        found = slot_of(self.kernel, i)
        kinds = types_in(i)
        if found is None or not kinds:
            return None
        name, offset = found
        param = next(p for p in self.kernel.params if p.name == name)
        out = []
        for index, register in enumerate(results_of(i)):
            at = offset + index * kinds[-1].bytes
            out.append((register, self._part(param, at, kinds[-1], register)))
        return out

    def _part(self, param: s.Param, at: int, type_: Type, register: str) -> Expr:
        slot = f"{param.name}+{at}"
        if slot in self.pointers.slots and type_.bits == 64:
            return PtrBase(PTR, self._region(param, at))
        own = self.types.get(register)
        if own is not None and own.bits == type_.bits and own.kind == type_.kind == "int":
            type_ = own
        if param.aggregate or at or type_.bytes != param.bytes:
            return Param(type_, f"{slot}:{type_.bits}{'s' if type_.signed else ''}")
        return Param(self.scalars.setdefault(param.name, type_), param.name)

    def _region(self, param: s.Param, at: int) -> str:
        own = not param.aggregate and at == 0
        name = param.name if own else f"{param.name}+{at}"
        if not own:
            self.inside[param.name] = None
        if name not in self.regions:
            index = self.kernel.params.index(param) if own else None
            span = _line(self.file, param.line)
            self.regions[name] = k.Region(name, k.Space.GLOBAL, 1, None, span, index)
        return name

    def declared(self) -> tuple[k.KernelParam, ...]:
        """The parameters as launches pass them."""
        return tuple(map(self._declared, self.kernel.params))

    def _declared(self, param: s.Param) -> k.KernelParam:
        span = _line(self.file, param.line)
        if param.name in self.regions:
            return k.KernelParam(param.name, "pointer", None, param.name, span)
        type_ = self.scalars.get(param.name) or scalar_type(param.type)
        if param.aggregate or type_ is None:
            return k.KernelParam(param.name, "opaque", None, None, span)
        if f"{param.name}+0" in self.pointers.slots:
            return k.KernelParam(param.name, "opaque", None, None, span)
        return k.KernelParam(param.name, "scalar", type_, None, span)


def _line(file: str, line: int) -> Span:
    return Span(file, line, 1, line, 2)


def sized(regions: list[k.Region], sizes: Mapping[str, set[int]]) -> tuple[k.Region, ...]:
    """Regions with the element size that their accesses have."""
    out = []
    for region in regions:
        found = sizes.get(region.name) or sizes.get(f"{region.name}+0") or {1}
        size = min(found)
        length = region.length
        if isinstance(length, Const):
            size = size if int(length.value) % size == 0 else 1
            length = Const(length.type, int(length.value) // size)
        elif length is not None:
            length = terms.binary(Op.DIV, length, Const(length.type, size))
        out.append(replace(region, elem_bytes=size, length=length))
    return tuple(out)
