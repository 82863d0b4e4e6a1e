"""Where the CUDA C of a workspace is: ``.cu`` files, and string literals of its Rust files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from gpusafe.parse.cuda.lex import Kind, tokenize
from gpusafe.parse.cuda.literals import string_value
from gpusafe.parse.cuda.preprocess import Includes
from gpusafe.parse.cuda.strings import KERNEL_WORD, kernel_literals
from gpusafe.parse.cuda.unit import CudaModule, lower_source
from gpusafe.parse.workspace_model import Workspace

_HEADERS = (".h", ".hpp", ".cuh", ".inl", ".inc", ".cu")
_MAX_HEADER = 2_000_000
_LEVELS_UP = 2  # `#include "../common.h"` of a file or folder that is checked alone


@dataclass(frozen=True, slots=True)
class CudaSource:
    """A translation unit.

    ``line`` and ``col`` say where its text starts in ``file``, ``line_starts`` where each of its lines starts (None:
    they follow each other in the file). ``origin`` names it: the constant that holds it, or the file.
    """

    file: str
    text: str
    line: int
    col: int
    origin: str
    line_starts: tuple[tuple[int, int], ...] | None = None


def find_sources(workspace: Workspace) -> tuple[CudaSource, ...]:
    """All translation units with kernels, in the order of files; a header that is included belongs to its includer."""
    included = _included(workspace)
    out: list[CudaSource] = []
    for file in workspace.cuda_files:
        text = workspace.sources.get(file, "")
        if KERNEL_WORD in text and not (file.endswith(".cuh") and file in included):
            out.append(CudaSource(file, text, 1, 1, file))
    for file, text in workspace.sources.items():
        if file.endswith(".rs") and KERNEL_WORD in text:
            for literal in kernel_literals(text):
                starts = literal.line_starts
                out.append(CudaSource(file, literal.text, literal.line, literal.col, literal.name, starts))
    return tuple(dict.fromkeys(out))


def lower_sources(
    workspace: Workspace, defines: Mapping[str, str] | None = None
) -> Iterator[tuple[CudaSource, CudaModule]]:
    """Every translation unit of the workspace with its kernels."""
    includes = includes_of(workspace)
    for source in find_sources(workspace):
        yield source, lower(source, defines=defines, includes=includes)


def lower(
    source: CudaSource, *, defines: Mapping[str, str] | None = None, includes: Includes | None = None
) -> CudaModule:
    """The kernels of one translation unit."""
    return lower_source(
        source.file,
        source.text,
        line=source.line,
        col=source.col,
        defines=defines,
        includes=includes,
        line_starts=source.line_starts,
    )


def includes_of(workspace: Workspace) -> Includes:
    """Finds what ``#include`` names: next to the file that asks, else a file of the tree whose path ends like it."""
    known = {os.path.normpath(f): f for f in workspace.sources}
    by_name: dict[str, list[str]] = {}
    for file in workspace.cuda_files:
        by_name.setdefault(os.path.basename(file), []).append(file)

    def find(asking: str, name: str) -> tuple[str, str] | None:
        beside = os.path.normpath(os.path.join(os.path.dirname(asking), name))
        if beside in known:
            return known[beside], workspace.sources[known[beside]]
        wanted = "/" + os.path.normpath(name).lstrip("./")
        for file in by_name.get(os.path.basename(name), ()):
            if file.endswith(wanted):
                return file, workspace.sources[file]
        return _header(workspace, beside)

    return find


def _header(workspace: Workspace, beside: str) -> tuple[str, str] | None:
    """A header that the workspace has not read itself, inside its roots."""
    path = Path(beside)
    if path.suffix not in _HEADERS:
        return None
    try:
        real = path.resolve(strict=True)
        near = [root.resolve() for root in workspace.roots]
        if real == Path(os.path.abspath(beside)):  # no link led there: what lies beside the tree is near enough
            near += [up for root in near for up in root.parents[:_LEVELS_UP] if up != up.parent]
        if not any(real.is_relative_to(root) for root in near):
            return None
        if real.stat().st_size > _MAX_HEADER:
            return None
        return beside, real.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None


def _included(workspace: Workspace) -> frozenset[str]:
    """The files of the tree that another CUDA file includes."""
    find = includes_of(workspace)
    out: set[str] = set()
    for file in workspace.cuda_files:
        text = workspace.sources.get(file, "")
        for line in text.splitlines():
            words = line.strip()
            if words.startswith("#") and words[1:].lstrip().startswith("include"):
                names = [t for t in tokenize(file, words) if t.kind is Kind.STRING]
                found = find(file, string_value(names[0].text)) if names else None
                if found is not None and found[0] != file:
                    out.add(found[0])
    return frozenset(out)
