"""Parameters of a kernel: what ``ld.param`` gives, and what a launch must pass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from gpusafe.ir import kernel as k
from gpusafe.ir.expr import PTR, U64, Const, Expr, Length, Op, Param, PtrBase, PtrUnknown, Type
from gpusafe.parse.cuda import terms
from gpusafe.parse.ptx import syntax as s
from gpusafe.parse.ptx.pointers import Pointers, results_of, slot_of
from gpusafe.parse.ptx.registers import scalar_type, types_in
from gpusafe.span import Span

_WITH_LENGTH = frozenset({"slice", "slice_mut", "disjoint"})


@dataclass(slots=True)
class Parameters:
    """The parameters of one kernel. ``like``: the kernel that the PTX was made from, which names them."""

    kernel: s.Function
    pointers: Pointers
    types: Mapping[str, Type]
    file: str
    regions: dict[str, k.Region] = field(default_factory=dict)
    scalars: dict[str, Type] = field(default_factory=dict)
    like: k.Kernel | None = None

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
        named = self._named(param, at, type_)
        if named is not None:
            return named
        if slot in self.pointers.slots and type_.bits == 64:
            if len(self._pointers_in(param)) > 1:
                return PtrUnknown(PTR, f"`{param.name}`, a parameter with several pointers inside")
            return PtrBase(PTR, self._region(param))
        own = self.types.get(register)
        if own is not None and own.bits == type_.bits and own.kind == type_.kind == "int":
            type_ = own
        if param.aggregate or at or type_.bytes != param.bytes:
            return Param(type_, f"{slot}:{type_.bits}{'s' if type_.signed else ''}")
        return Param(self.scalars.setdefault(param.name, type_), param.name)

    def _named(self, param: s.Param, at: int, type_: Type) -> Expr | None:
        """What the kernel in source calls a part of a parameter: its memory, its length, a number."""
        if self.like is None or len(self.like.params) != len(self.kernel.params):
            return None
        source = self.like.params[self.kernel.params.index(param)]
        region = next((r for r in self.like.regions if r.name == source.region), None)
        if region is not None and at == 0 and type_.bits == 64:
            self.regions[region.name] = region
            return PtrBase(PTR, region.name)
        if region is not None and at == 8 and source.kind in _WITH_LENGTH and type_.bits == 64:
            return terms.cast(Length(U64, region.name), type_)
        of = source.type
        if source.kind == "scalar" and at == 0 and of is not None and of.kind == type_.kind and of.bits == type_.bits:
            return terms.cast(Param(of, source.name), type_) if of.kind == "int" else Param(of, source.name)
        return None

    def _pointers_in(self, param: s.Param) -> list[str]:
        return [slot for slot in self.pointers.slots if slot.rpartition("+")[0] == param.name]

    def _region(self, param: s.Param) -> str:
        if param.name not in self.regions:
            index = self.kernel.params.index(param)
            span = _line(self.file, param.line)
            self.regions[param.name] = k.Region(param.name, k.Space.GLOBAL, 1, None, span, index)
        return param.name

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
        return k.KernelParam(param.name, "scalar", type_, None, span)


def _line(file: str, line: int) -> Span:
    return Span(file, line, 1, line, 2)


def sized(regions: list[k.Region], sizes: Mapping[str, set[int]]) -> tuple[k.Region, ...]:
    """Regions with the element size that their accesses have."""
    out = []
    for region in regions:
        if region.elem_bytes > 1:
            out.append(region)
            continue
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
