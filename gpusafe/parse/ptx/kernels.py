"""A kernel of a PTX text in the kernel IR."""

from __future__ import annotations

from dataclasses import replace

from gpusafe.ir import kernel as k
from gpusafe.ir.expr import BOOL, Binary, Const, Expr, Op
from gpusafe.parse.cuda import terms
from gpusafe.parse.cuda.context import Unsupported
from gpusafe.parse.ptx import syntax as s
from gpusafe.parse.ptx.context import Context, Registers
from gpusafe.parse.ptx.expand import Flat, TooLong, expand
from gpusafe.parse.ptx.flow import Flow, NotStructured, build_flow, targets_of
from gpusafe.parse.ptx.instructions import lower
from gpusafe.parse.ptx.parameters import Parameters, sized
from gpusafe.parse.ptx.places import Finder, Places
from gpusafe.parse.ptx.pointers import find_pointers
from gpusafe.parse.ptx.registers import register_types
from gpusafe.parse.ptx.structure import Ending, structure
from gpusafe.span import Span


def nowhere(name: str) -> str | None:
    """Finds no source file."""
    return None


def lower_kernel(
    module: s.Module, kernel: s.Function, file: str, find: Finder = nowhere, like: k.Kernel | None = None
) -> k.Kernel:
    """The kernel IR of an ``.entry``; what goes wrong ends as an Unmodelled statement, never as an exception.

    ``like`` is the kernel that the PTX was made from, where that is in sight: parameters get its names, so that what is
    known of them and of launches holds for the PTX too.
    """
    span = Span(file, kernel.line, 1, max(kernel.line, kernel.end_line), 2)
    try:
        return _Lowering(module, kernel, file, find, like).kernel(span)
    except (TooLong, NotStructured, Unsupported) as reason:
        why = str(reason)
    except Exception as fault:  # a fault of ours costs one kernel, never the run
        why = f"internal fault: {fault!r}"
    gap = k.Unmodelled(span, f"`{kernel.name}`: {why}")
    return k.Kernel(kernel.name, kernel.name, "ptx", (), (), (gap,), span)


class _Lowering:
    def __init__(self, module: s.Module, kernel: s.Function, file: str, find: Finder, like: k.Kernel | None) -> None:
        self.like = like
        self.source = kernel
        flat = expand(module, kernel)
        self.code = flat.code
        self.flow: Flow = build_flow(flat.code, flat.labels)
        symbols = {v.name: v for v in (*module.variables, *flat.variables) if v.space != "param"}
        pointers = find_pointers(kernel, flat.code, symbols)
        types = register_types(flat.code, flat.registers, pointers)
        self.places = Places(file, module.files, find)
        for instruction in flat.code:
            self.places.learn(instruction.loc)
        self.params = Parameters(kernel, pointers, types, file, like=like)
        here = Span(file, kernel.line, 1, kernel.line, 2)
        self.registers = Registers(Context(), types, pointers, symbols, here)

    def kernel(self, span: Span) -> k.Kernel:
        """All of it."""
        body = structure(self.flow, self._block)
        regions = sized([*self.params.regions.values(), *self.registers.regions.values()], self.registers.sizes)
        if self.like is not None:
            known = {r.name for r in regions}
            unused = tuple(r for r in self.like.regions if r.param is not None and r.name not in known)
            return replace(self.like, dialect="ptx", regions=(*regions, *unused), body=body)
        return k.Kernel(
            self.source.name,
            self.source.name,
            "ptx",
            self.params.declared(),
            regions,
            body,
            span,
            _contract(self.source),
        )

    def _block(self, number: int) -> tuple[list[k.Stmt], Ending]:
        start, end = self.flow.ranges[number]
        r = self.registers
        conds: tuple[Expr, ...] = ()
        at = r.span
        with r.x.emitter.collect() as made:
            for i in self.code[start:end]:
                at = r.span = self.places.of(i)
                targets = targets_of(i)
                if targets is not None:
                    conds = self._conditions(i)
                    continue
                values = self.params.load(i)
                if values is None:
                    lower(r, i)
                    continue
                for name, value in values:
                    r.set(name, value)
        return made, Ending(at, conds)

    def _conditions(self, i: s.Instruction) -> tuple[Expr, ...]:
        """When a branch goes to each of its targets; it goes to the last one otherwise."""
        r = self.registers
        guard: Expr | None = r.get(i.guard, BOOL) if i.guard is not None else None
        if guard is not None and i.negated:
            guard = terms.negate(guard)
        if i.words[0] == "bra":
            return () if guard is None else (guard,)
        index = r.get(i.operands[0])
        last = len(i.targets) - (0 if guard is not None else 1)
        found = [Binary(BOOL, Op.EQ, index, Const(index.type, n)) for n in range(last)]
        return tuple(found if guard is None else (terms.binary(Op.LAND, guard, c) for c in found))


def _contract(kernel: s.Function) -> k.LaunchContract:
    numbers = kernel.directives
    most = numbers.get("maxntid")
    exact = numbers.get("reqntid")
    cluster = numbers.get("reqnctapercluster")
    product = 1
    for n in most or ():
        product *= n
    return k.LaunchContract(
        block=_three(exact) if exact else None,
        max_threads=product if most else None,
        cluster=_three(cluster) if cluster and all(cluster) else None,
    )


def _three(numbers: tuple[int, ...]) -> tuple[int, int, int]:
    padded = (*numbers, 1, 1, 1)
    return padded[0], padded[1], padded[2]


__all__ = ["Flat", "lower_kernel", "nowhere"]
