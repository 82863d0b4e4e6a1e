"""Holding PTX against the assembler of the CUDA toolkit."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from gpusafe.codegen_check.compile import Complaint
from gpusafe.codegen_check.flags import Target
from gpusafe.codegen_check.kept import Kept, key_of
from gpusafe.codegen_check.sandbox import Limits, run
from gpusafe.codegen_check.toolchain import Ptxas

_LIMITS = Limits(seconds=60.0)
_OLDEST = 75  # ptxas 13 knows no older architecture; code for one assembles as this one
_ERROR = re.compile(r"ptxas .*?, line (\d+); (?:error|fatal)\s*: (.*)")
_TOO_MUCH = re.compile(r"ptxas (?:error|fatal)\s*: (.* uses too much .*)")
_NEEDS = re.compile(
    r"requires (?:\.target sm_|PTX ISA)|(?:not supported|unsupported) .*(?:target|version)|"
    r"Unsupported \.version|not defined for option|cannot be compiled to future architecture"
)


@dataclass(frozen=True, slots=True)
class Assembled:
    """``errors`` have lines of the PTX text; ``problem``: ptxas did not do its work, so nothing is known."""

    errors: tuple[Complaint, ...] = ()
    problem: str = ""

    @property
    def ok(self) -> bool:
        """Whether ptxas accepted the text."""
        return not self.errors and not self.problem


def assemble(ptxas: Ptxas, text: str, target: Target, folder: Path, kept: Kept | None = None) -> Assembled:
    """Run ptxas on the text without its debug sections (which LLVM writes in a form that ptxas refuses).

    ``kept`` remembers what the same assembler said about the same text.
    """
    text = without_debug(text)
    key = key_of("ptxas 1", str(ptxas.path), ptxas.version, target.name, text)
    before = kept.get(key) if kept is not None else None
    if before is not None:
        return Assembled(tuple(Complaint(*c) for c in json.loads(before)))
    assembled = _assemble(ptxas, text, target, folder)
    if kept is not None and not assembled.problem:
        kept.put(key, json.dumps([(e.message, e.file, e.line) for e in assembled.errors]))
    return assembled


def _assemble(ptxas: Ptxas, text: str, target: Target, folder: Path) -> Assembled:
    source = folder / f"kernel-{target.name}.ptx"
    try:
        source.write_text(text)
    except OSError as error:
        return Assembled(problem=f"cannot write the PTX: {error.strerror}")
    arch = target.name if target.level >= _OLDEST else f"sm_{_OLDEST}"
    argv = [str(ptxas.path), "-c", f"-arch={arch}", "-o", str(folder / "kernel.cubin"), str(source)]
    outcome = run(argv, folder, None, _LIMITS)
    if outcome.ok:
        return Assembled()
    if outcome.problem:
        return Assembled(problem=f"ptxas {outcome.problem}")
    text = outcome.stderr + outcome.stdout
    errors = tuple(Complaint(message.strip(), line=int(line)) for line, message in _ERROR.findall(text))
    errors = errors or tuple(Complaint(message.strip()) for message in _TOO_MUCH.findall(text))
    if errors:
        return Assembled(errors)
    last = next((line for line in reversed(text.splitlines()) if line.strip()), "no reason given")
    return Assembled(problem=f"ptxas: {last.strip()}")


def needs_newer_target(complaint: Complaint) -> bool:
    """Whether the complaint only says that the target or the PTX version is too old for the instruction."""
    return _NEEDS.search(complaint.message) is not None


def without_debug(text: str) -> str:
    """The text up to its first debug section, and without the ``debug`` of its target; line numbers stay."""
    lines = text.splitlines()
    end = next((i for i, line in enumerate(lines) if line.lstrip().startswith(".section")), len(lines))
    kept = [re.sub(r"^(\s*\.target\s+\w+)\s*,\s*debug", r"\1", line) for line in lines[:end]]
    return "\n".join(kept) + "\n"
