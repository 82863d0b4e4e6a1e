"""PTX text: a parser for ISA 6.0 to 9.x, and its lowering to the kernel IR."""

from __future__ import annotations

from collections.abc import Iterator

from gpusafe.ir.kernel import Kernel, Unmodelled
from gpusafe.parse.ptx.kernels import lower_kernel, nowhere
from gpusafe.parse.ptx.lex import PtxError
from gpusafe.parse.ptx.places import Finder
from gpusafe.parse.ptx.reader import read
from gpusafe.parse.ptx.sources import finder
from gpusafe.parse.ptx.syntax import Module
from gpusafe.parse.workspace_model import Workspace
from gpusafe.span import Span


def lower_text(file: str, text: str, find: Finder = nowhere) -> Iterator[Kernel]:
    """The kernels of a PTX text; what is no PTX gives one kernel that is not modelled, with the reason."""
    try:
        module = read(text)
    except PtxError as fault:
        span = Span(file, fault.line, 1, fault.line, 2)
        gap = Unmodelled(span, f"the text is not read as PTX: {fault}")
        yield Kernel(file, file, "ptx", (), (), (gap,), span)
        return
    for function in module.functions:
        if function.kind == "entry" and function.body is not None:
            yield lower_kernel(module, function, file, find)


def lower_sources(workspace: Workspace) -> Iterator[Kernel]:
    """The kernels of all PTX files of a workspace; places are told in the sources where those lie beside."""
    for file in workspace.ptx_files:
        yield from lower_text(file, workspace.sources[file], finder(workspace, file))


__all__ = ["Finder", "Module", "PtxError", "lower_kernel", "lower_sources", "lower_text", "read"]
