"""Which stage of the compiler was the first to lose a synchronisation: rustc's MIR and LLVM's IR beside the PTX.

Both texts are made for the kernel that has a fault, with the places that each operation comes from.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_MIR = {
    "atomic": re.compile(r"\batomic_\w+(?:::<.*>)?\(|\b\w+_volatile::|asm!\("),
    "fence": re.compile(r"\batomic_fence\b|\bfence\(|asm!\(\"[^\"]*(?:fence|membar)"),
    "barrier": re.compile(r"\bsyncthreads\(|asm!\(\"[^\"]*bar"),
    "warp": re.compile(r"asm!\(\"[^\"]*(?:shfl|vote|match|redux|activemask)"),
    "other": re.compile(r"asm!\("),
}
_IR = {
    "atomic": re.compile(r"= (?:atomicrmw|cmpxchg|load atomic)\b|store atomic\b|\basm\b"),
    "fence": re.compile(r"^\s*fence\b|\basm\b.*(?:fence|membar)"),
    "barrier": re.compile(r"call .*@llvm\.nvvm\.barrier|\basm\b.*\bbar"),
    "warp": re.compile(r"\basm\b.*(?:shfl|vote|match|redux|activemask)|call .*@llvm\.nvvm\.(?:shfl|vote|match|redux)"),
    "other": re.compile(r"\basm\b"),
}
_ORDERED = re.compile(r"\b(?:acquire|release|acq_rel|seq_cst)\b")
_PLACE = re.compile(r"// scope (\d+) at ([^:]+):(\d+):\d+")
_HEADER = re.compile(r"^( *)scope (\d+)(?: \(inlined .*\))? \{(?: *// at ([^:]+):(\d+):\d+)?")
_NODE = re.compile(r"^!(\d+) = (?:distinct )?!DI(\w+)\((.*)\)$")


@dataclass(frozen=True, slots=True)
class Stages:
    """The text of rustc's MIR after its passes, and LLVM's IR after its own; ``""`` where there is none."""

    mir: str
    ir: str


@dataclass(frozen=True, slots=True)
class Lost:
    """What to look for: a ``kind`` of operation at a place; ``cloned``: it is there too often, not too seldom."""

    kind: str
    file: str
    line: int
    cloned: bool = False


def first_without(stages: Stages, lost: Lost) -> str:
    """In words, the first stage that lacks the operation (or has it twice); empty where the texts do not tell."""
    if not stages.mir or not stages.ir:
        return ""
    mir = sum(1 for _ in _in_mir(stages.mir, lost))
    lines = list(_in_ir(stages.ir, lost))
    if lost.cloned:
        if mir > 1:
            return f"rustc's MIR has it {mir} times: an optimisation of MIR cloned it (jump threading does)"
        if mir == 1 and len(lines) > 1:
            return f"rustc's MIR has it once, LLVM's IR {len(lines)} times: an optimisation of LLVM cloned it"
        return "LLVM's IR has it once: the code generator for nvptx64 cloned it" if mir == len(lines) == 1 else ""
    kept = [line for line in lines if lost.kind != "atomic" or _ORDERED.search(line)]
    if kept:
        return "rustc's MIR and LLVM's IR have it: LLVM's code generator for nvptx64 loses it"
    if mir:
        return "rustc's MIR has it, LLVM's IR does not: an optimisation of LLVM loses it"
    return ""


def kind_of(group: str) -> str:
    """What to look for, by the kind of a group of operations."""
    match group:
        case "rmw" | "cas" | "atomic-load" | "atomic-store":
            return "atomic"
        case "fence" | "barrier":
            return group
        case "warp-op" | "warp-barrier":
            return "warp"
    return "other"


def _in_mir(text: str, lost: Lost) -> Iterator[str]:
    """The calls and assembly in MIR that come from a place, directly or by inlining."""
    around: dict[str, tuple[str | None, bool]] = {}
    open_: list[tuple[int, str]] = []
    for line in text.splitlines():
        if line.startswith(("fn ", "unsafe fn ", "const ", "static ")):
            around, open_ = {}, []
            continue
        header = _HEADER.match(line)
        if header:
            while open_ and open_[-1][0] >= len(header[1]):
                open_.pop()
            here = header[4] is not None and _same(header[3], header[4], lost)
            around[header[2]] = (open_[-1][1] if open_ else None, here)
            open_.append((len(header[1]), header[2]))
            continue
        place = _PLACE.search(line)
        if place and "-> [return" in line and _MIR[lost.kind].search(line[: place.start()]):
            scope: str | None = place[1]
            found = _same(place[2], place[3], lost)
            while scope is not None and not found:
                scope, found = around.get(scope, (None, False))
            if found:
                yield line


def _in_ir(text: str, lost: Lost) -> Iterator[str]:
    """The instructions in LLVM's IR that come from a place, directly or by inlining."""
    nodes = {m[1]: (m[2], m[3]) for m in map(_NODE.match, text.splitlines()) if m}
    for line in text.splitlines():
        mark = re.search(r"!dbg !(\d+)", line)
        fits = mark is not None and not line.startswith("define") and _IR[lost.kind].search(line)
        if mark is not None and fits and any(_same(file, at, lost) for file, at in _chain(nodes, mark[1])):
            yield line


def _chain(nodes: dict[str, tuple[str, str]], start: str) -> Iterator[tuple[str, str]]:
    """The places of a location and of the calls that it was inlined through."""
    at: str | None = start
    for _ in range(200):
        if at is None or at not in nodes:
            return
        fields = nodes[at][1]
        line = re.search(r"\bline: (\d+)", fields)
        scope = re.search(r"\bscope: !(\d+)", fields)
        yield _file_of(nodes, scope[1] if scope else None), line[1] if line else ""
        inlined = re.search(r"\binlinedAt: !(\d+)", fields)
        at = inlined[1] if inlined else None


def _file_of(nodes: dict[str, tuple[str, str]], scope: str | None) -> str:
    """The name of the file that a scope is in."""
    for _ in range(200):
        if scope is None or scope not in nodes:
            break
        fields = nodes[scope][1]
        file = re.search(r"\bfile: !(\d+)", fields)
        if file and file[1] in nodes:
            named = re.search(r'filename: "([^"]*)"', nodes[file[1]][1])
            return named[1] if named else ""
        outer = re.search(r"\bscope: !(\d+)", fields)
        scope = outer[1] if outer else None
    return ""


def _same(file: str, line: str, lost: Lost) -> bool:
    return line == str(lost.line) and Path(file).name == Path(lost.file).name
