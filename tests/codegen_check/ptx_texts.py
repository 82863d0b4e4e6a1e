"""PTX as rustc writes it, made from lines such as ``"atom.global.add.u32 %r1, [%rd1], 1; @ 7:5"``."""

from __future__ import annotations

from gpusafe.codegen_check.ptx import Function, Unit, read
from gpusafe.span import Span

FILE = "kernel.rs"


def ptx_text(*lines: str, name: str = "k", target: str = "sm_80", module: str = "") -> str:
    """One kernel. What follows ``@`` in a line is its source place, then the calls that it was inlined through."""
    body = []
    for line in lines:
        code, _, places = line.partition(" @ ")
        if places:
            body.append(_loc(places.split()))
        body.append(f"\t{code}" if not code.endswith(":") else code)
    text = "\n".join(body)
    return (
        f".version 7.0\n.target {target}, debug\n.address_size 64\n{module}\n"
        f".visible .entry {name}(\n\t.param .u64 .ptr .align 1 {name}_param_0,\n\t.param .u32 {name}_param_1\n)\n"
        f'{{\n\t.reg .pred \t%p<3>;\n{text}\n}}\n\t.file\t1 "{FILE}"\n\t.file\t2 "core.rs"\n'
        "\t.section\t.debug_info\n\t{\n.b32 $L__sec_end0\n\t}\n"
    )


def _loc(places: list[str]) -> str:
    line, col = places[0].split(":")
    if len(places) == 1:
        return f"\t.loc\t1 {line} {col}                          // {FILE}:{line}:{col}"
    comment = f"core.rs:{line}:{col}" + "".join(f" @[ {FILE}:{p}" for p in places[1:]) + " ]" * (len(places) - 1)
    return f"\t.loc\t2 {line} {col}                         // {comment}"


def kernel_ptx(*lines: str, module: str = "") -> tuple[Unit, Function]:
    """The PTX read, and its kernel."""
    unit = read(ptx_text(*lines, module=module))
    return unit, unit.functions[-1]


def span(line: int, col: int = 1, end_col: int = 60) -> Span:
    """A place in the kernel's file."""
    return Span(FILE, line, col, line, end_col)
