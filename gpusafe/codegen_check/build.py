"""From one kernel to PTX: as it stands when the crate is device code already, else as an extract with the shims."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from gpusafe.codegen_check.compile import Compiled, Complaint, Job, compile_ptx, compile_stages
from gpusafe.codegen_check.core_library import compiler_key
from gpusafe.codegen_check.crate_source import KernelSource
from gpusafe.codegen_check.extract import Extracted, extract
from gpusafe.codegen_check.flags import Flags, Target
from gpusafe.codegen_check.kept import Kept, key_of
from gpusafe.codegen_check.stages import Stages
from gpusafe.codegen_check.toolchain import Rustc
from gpusafe.ir.expr import Const
from gpusafe.ir.kernel import Kernel, Space

_FEATURES = ("abi_ptx", "stdarch_nvptx", "asm_experimental_arch", "f16")
_STAND_IN = ("-Zmir-enable-passes=-JumpThreading", "-Ctarget-feature=+ptx87", "-Cllvm-args=-inline-threshold=5000")
"""For the frameworks: their own compilers keep barriers together, and use the newest PTX that they know."""


@dataclass(frozen=True, slots=True)
class Built:
    """``files`` maps the file names of the PTX to the names that spans carry; ``as_is``: the user's own text.

    ``stages`` compiles once more and gives what comes before PTX.
    """

    compiled: Compiled
    files: Mapping[str, str]
    as_is: bool
    foreign: tuple[str, ...] = ()
    stages: Callable[[], Stages] | None = None


_EXTRACT = "/gpusafe-extract"
"""What the folder of an extract is called in its PTX, so that equal texts give equal PTX."""

_READS_MORE = re.compile(r"\b(?:include|include_str|include_bytes|env|option_env)\s*!")


@dataclass(frozen=True, slots=True)
class Builder:
    """Compiles kernels inside ``folder``; ``kept`` holds what was compiled before, in this run or another."""

    rustc: Rustc
    sysroot: Path
    externs: tuple[tuple[str, Path], ...]
    folder: Path
    kept: Kept

    def build(self, kernel: Kernel, source: KernelSource, flags: Flags, target: Target) -> Built:
        """The PTX with the kernel in it."""
        if kernel.dialect == "ptx-kernel":
            whole = self._as_it_stands(source, flags, target)
            if whole.compiled.ptx is not None or whole.compiled.kind == "tool":
                return whole
            alone = self._extract(kernel, source, flags, target)
            # an extract that fails as well says nothing that the whole did not say better
            return alone if alone.compiled.ptx is not None or alone.compiled.kind == "backend" else whole
        return self._extract(kernel, source, Flags((*_STAND_IN, *flags.passed)), target)

    def _as_it_stands(self, source: KernelSource, flags: Flags, target: Target) -> Built:
        names = {str(Path(file.path).absolute()): file.path for file, _ in source.modules.values()}
        root = Path(source.root_file.path).absolute()
        job = Job(root, _crate_name(source.crate.name), source.crate.edition or "2021", target.name, flags.passed)
        texts = {name: file.text for name, (file, _) in zip(names, source.modules.values(), strict=False)}
        stages = partial(self._stages, job, self._new_folder)
        return Built(self._compiled(job, texts, self._new_folder), names, True, stages=stages)

    def _extract(self, kernel: Kernel, source: KernelSource, flags: Flags, target: Target) -> Built:
        folder = self._new_folder()
        cut = extract(source.modules, source.function, folder, _shared_bytes(kernel))
        attributes = tuple(f"feature({name})" for name in dict.fromkeys((*_FEATURES, *cut.features)))
        edition = source.crate.edition or "2021"
        passed = (*flags.passed, f"--remap-path-prefix={folder}={_EXTRACT}")
        job = Job(folder / cut.root, "extract", edition, target.name, passed, self.externs, attributes)
        compiled = self._compiled(job, cut.files, lambda: _write(cut, folder))
        origins = {f"{_EXTRACT}/{name}": path for name, path in cut.origin.items()}
        return Built(compiled, origins, False, cut.foreign, partial(self._stages, job, lambda: _write(cut, folder)))

    def _stages(self, job: Job, folder: Callable[[], Path]) -> Stages:
        try:
            return compile_stages(self.rustc, self.sysroot, job, folder())
        except OSError:
            return Stages("", "")

    def _compiled(self, job: Job, texts: Mapping[str, str], folder: Callable[[], Path]) -> Compiled:
        """Compile, or take what the same texts gave before; ``folder`` makes the place to compile in."""
        key = self._key(job, texts)
        kept = self.kept.get(key) if key else None
        if kept is not None:
            return _unpacked(kept)
        try:
            compiled = compile_ptx(self.rustc, self.sysroot, job, folder())
        except OSError as error:
            return Compiled(None, "tool", (Complaint(f"cannot write the extract: {error.strerror}"),))
        if key and compiled.kind != "tool":
            self.kept.put(key, _packed(compiled))
        return compiled

    def _key(self, job: Job, texts: Mapping[str, str]) -> str:
        """Everything that the PTX depends on; empty when the text reads files or variables of its own."""
        if any(_READS_MORE.search(text) for text in texts.values()):
            return ""
        extracted = any(f.startswith("--remap-path-prefix") for f in job.flags)
        flags = [f for f in job.flags if not f.startswith("--remap-path-prefix")]
        return key_of(
            "ptx 1",
            compiler_key(self.rustc),
            job.root.name if extracted else str(job.root),
            *(job.name, job.edition, job.target, *flags, "|", *job.crate_attributes, "|"),
            *(str(rlib) for _, rlib in job.externs),
            *(part for name, text in texts.items() for part in (name, text)),
        )

    def _new_folder(self) -> Path:
        return Path(tempfile.mkdtemp(dir=self.folder))


def _write(cut: Extracted, folder: Path) -> Path:
    for name, text in cut.files.items():
        (folder / name).write_text(text)
    return folder


def _packed(compiled: Compiled) -> str:
    return json.dumps([compiled.ptx, compiled.kind, [(c.message, c.file, c.line) for c in compiled.complaints]])


def _unpacked(text: str) -> Compiled:
    ptx, kind, complaints = json.loads(text)
    return Compiled(ptx, kind, tuple(Complaint(*c) for c in complaints))


def _crate_name(name: str) -> str:
    made = "".join(c if c.isalnum() or c == "_" else "_" for c in name)
    return made if made and not made[0].isdigit() else f"k_{made}"


def _shared_bytes(kernel: Kernel) -> dict[tuple[str, int], int]:
    """By place, the sizes of the kernel's shared variables."""
    found = {}
    for region in kernel.regions:
        if region.space is Space.SHARED and isinstance(region.length, Const):
            found[region.span.file, region.span.line] = int(region.length.value) * region.elem_bytes
    return found
