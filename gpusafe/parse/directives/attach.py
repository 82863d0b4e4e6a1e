"""Contracts of kernels: what the user requires becomes a condition of the kernel, what cannot is told."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from gpusafe.ir import expr as ir
from gpusafe.ir.kernel import Kernel
from gpusafe.parse.directives.expr import Apply, DirectiveError, Name
from gpusafe.parse.directives.model import Contract, Problem
from gpusafe.parse.directives.read import read
from gpusafe.parse.directives.terms import to_term
from gpusafe.span import Span


def attach(kernels: Iterable[Kernel], sources: Mapping[str, str]) -> tuple[tuple[Kernel, ...], tuple[Problem, ...]]:
    """The kernels with the contracts of their comments and attributes, and the contracts that have no effect.

    A contract without effect is never dropped silently: it is one of the problems, for GS906.
    """
    contracts = {file: read(file, text).contracts for file, text in sources.items() if "gpusafe" in text}
    used: set[tuple[Span, str]] = set()
    problems: dict[tuple[Span, str], Problem] = {}
    attached: list[Kernel] = []
    for kernel in kernels:
        stated = kernel
        for contract in contracts.get(kernel.span.file, ()):
            if not _speaks_of(contract, kernel.span):
                continue
            key = (contract.span, contract.text)
            used.add(key)
            try:
                stated = _stated(contract, stated)
            except DirectiveError as problem:
                problems[key] = Problem(contract.span, f"`{contract.text}` has no effect: {problem}")
        attached.append(stated)
    for contract in (c for found in contracts.values() for c in found):
        key = (contract.span, contract.text)
        if key not in used:
            problems[key] = Problem(contract.span, f"`{contract.text}` has no effect: it does not speak of a kernel")
    return tuple(attached), tuple(problems.values())


def _speaks_of(contract: Contract, function: Span) -> bool:
    before = contract.covers.line <= function.line and contract.covers.end_line == function.end_line
    return function.contains(contract.span) or before


def _stated(contract: Contract, kernel: Kernel) -> Kernel:
    """The kernel with one more contract."""
    match contract.verb, contract.expr:
        case "assume", Apply(("injective" | "monotone") as fact, (Name() as name,)):
            region = _read_only(str(name), kernel)
            if fact == "injective":
                return replace(kernel, injective=(*kernel.injective, region))
            return replace(kernel, monotone=(*kernel.monotone, region))
        case "assume", _:
            return replace(kernel, assumes=(*kernel.assumes, _condition(contract, kernel)))
        case _, Apply(("injective" | "monotone") as fact, _):
            raise DirectiveError(f"a launch cannot be held to `{fact}(..)`; write `assume({contract.text})`")
    return replace(kernel, requires=(*kernel.requires, _condition(contract, kernel)))


def _read_only(name: str, kernel: Kernel) -> str:
    """The region of an array argument that a fact about contents can speak of."""
    region = next((p.region for p in kernel.params if p.name == name), None)
    found = next((r for r in kernel.regions if r.name == region), None)
    if found is None:
        raise DirectiveError(f"there is no array `{name}` here")
    if found.exclusive:
        raise DirectiveError(f"the kernel may write `{name}`, so that what holds of it at the start need not last")
    return found.name


def _condition(contract: Contract, kernel: Kernel) -> ir.Expr:
    scalars = {p.name: ir.Param(p.type, p.name) for p in kernel.params if p.kind == "scalar" and p.type is not None}
    lengths = {p.name: ir.Length(ir.USIZE, p.region) for p in kernel.params if p.region is not None}
    for region in kernel.regions:
        if region.length is None:
            lengths = {name: term for name, term in lengths.items() if term.region != region.name}
    term = to_term(contract.expr, scalars.get, lengths.get)
    if term.type != ir.BOOL:
        raise DirectiveError("it is no condition")
    return term
