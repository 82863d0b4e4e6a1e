"""Which regions of the kernel a PTX address is made from."""

from __future__ import annotations

import re

from gpusafe.codegen_check.ptx import Function, Instr
from gpusafe.codegen_check.ptx.divergence import reads_of, results_of
from gpusafe.ir.kernel import Kernel


def origins(kernel: Kernel, function: Function, instr: Instr) -> set[str]:
    """The regions of the parameters and statics that a load's or store's address comes from."""
    writers: dict[str, list[Instr]] = {}
    for other in function.instrs:
        for register in results_of(other):
            writers.setdefault(register, []).append(other)
    found: set[str] = set()
    seen: set[str] = set()
    texts = list(instr.operands)
    stack = list(reads_of(instr))
    while stack:
        register = stack.pop()
        if register in seen:
            continue
        seen.add(register)
        for writer in writers.get(register, ()):
            if writer.opcode[0] == "ld" and writer.has("param"):
                match = re.match(rf"\[{re.escape(function.name)}_param_(\d+)\b", writer.operands[1])
                number = int(match[1]) if match else len(kernel.params)
                region = kernel.params[number].region if number < len(kernel.params) else None
                if region:
                    found.add(region)
            elif writer.opcode[0] != "ld":
                texts += writer.operands[1:]
                stack += reads_of(writer)
    for static in kernel.regions:
        if static.param is None and any(is_static(text, static.name.rsplit("::", 1)[-1]) for text in texts):
            found.add(static.name)
    return found


def is_static(text: str, name: str) -> bool:
    """Whether a (mangled) symbol in a text is that of a static of this name."""
    mangled = rf"(?<!\d){len(name)}_?{re.escape(name)}(?![A-Za-z0-9]*[a-z])"
    return re.search(rf"(?<![\w$]){re.escape(name)}(?![\w$])|{mangled}", text) is not None
