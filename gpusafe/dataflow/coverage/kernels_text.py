"""Every kernel of the sources, found in the text alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from gpusafe.dataflow.host.syntax_walk import walk
from gpusafe.parse.cuda import find_sources
from gpusafe.parse.rust import ast
from gpusafe.parse.rust.unread import unread
from gpusafe.parse.workspace_model import Workspace
from gpusafe.span import Span

_KERNEL_ABIS = ("ptx-kernel", "gpu-kernel")
_MACRO_CRATES = ("krnl",)
_NOISE = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:[^\"\\\n]|\\.)*\"|^[ \t]*#(?:[^\\\n]|\\.)*$", re.DOTALL | re.MULTILINE)
_GLOBAL = re.compile(r"\b__global__\b([^;{}]*)([;{])")


@dataclass(frozen=True, slots=True)
class KernelText:
    """One kernel: its name, where it stands, and why it is not read (None: it should be)."""

    name: str
    span: Span
    unread: str | None = None


def rust_kernels(workspace: Workspace) -> tuple[KernelText, ...]:
    """The kernels of the Rust dialects, once each, those that no front end reads too."""
    found: dict[Span, KernelText] = {}
    for kernel in unread(workspace):
        if kernel.kind == "kernel":
            found[kernel.span] = KernelText(kernel.name, kernel.span, kernel.reason)
    seen: set[str] = set()
    for crate in workspace.crates:
        for module in crate.all_modules():
            if module.file.path not in seen:
                seen.add(module.file.path)
                for item in _functions(module.file.items):
                    found.setdefault(item.span, KernelText(item.name, item.span))
    return tuple(sorted(found.values(), key=lambda k: k.span))


def _functions(items: tuple[ast.Item, ...]) -> Iterator[ast.Fn]:
    """The functions with the marks of a kernel, those inside of functions and impls too."""
    for item in items:
        for node in walk(item):
            if isinstance(node, ast.Fn) and (node.body is not None or node.problem) and is_kernel(node):
                yield node


def is_kernel(item: ast.Fn) -> bool:
    """Whether its attributes or its ABI make a function a kernel."""
    return item.abi in _KERNEL_ABIS or any(
        a.path.rsplit("::", 1)[-1] == "kernel" and not a.path.startswith(_MACRO_CRATES) for a in item.attributes
    )


def cuda_kernels(workspace: Workspace) -> dict[tuple[str, int], int]:
    """How many ``__global__`` functions with a body each CUDA C text defines, by its file and first line.

    Those that a preprocessor directive would make are not seen.
    """
    counts: dict[tuple[str, int], int] = {}
    for source in find_sources(workspace):
        text = _NOISE.sub(" ", source.text)
        defined = sum(1 for match in _GLOBAL.finditer(text) if match[2] == "{")
        counts[(source.file, source.line)] = counts.get((source.file, source.line), 0) + defined
    return counts
