"""From one kernel to PTX: as it stands when the crate is device code already, else as an extract with the shims."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gpusafe.codegen_check.compile import Compiled, Complaint, Job, compile_ptx
from gpusafe.codegen_check.crate_source import KernelSource
from gpusafe.codegen_check.extract import Extracted, extract
from gpusafe.codegen_check.flags import Flags, Target
from gpusafe.codegen_check.toolchain import Rustc
from gpusafe.ir.expr import Const
from gpusafe.ir.kernel import Kernel, Space

_FEATURES = ("abi_ptx", "stdarch_nvptx", "asm_experimental_arch", "f16")
_STAND_IN = ("-Zmir-enable-passes=-JumpThreading", "-Ctarget-feature=+ptx87")
"""For the frameworks: their own compilers keep barriers together, and use the newest PTX that they know."""


@dataclass(frozen=True, slots=True)
class Built:
    """``files`` maps the file names of the PTX to the names that spans carry; ``as_is``: the user's own text."""

    compiled: Compiled
    files: Mapping[str, str]
    as_is: bool
    foreign: tuple[str, ...] = ()


@dataclass(slots=True)
class Builder:
    """Compiles kernels of one run inside ``folder``; remembers whole crates, which may hold several kernels."""

    rustc: Rustc
    sysroot: Path
    externs: tuple[tuple[str, Path], ...]
    folder: Path
    _whole: dict[tuple[str, str, tuple[str, ...]], Compiled] = field(default_factory=dict)

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
        key = (source.crate.key, target.name, flags.passed)
        names = {str(Path(file.path).absolute()): file.path for file, _ in source.modules.values()}
        if key not in self._whole:
            root = Path(source.root_file.path).absolute()
            job = Job(root, _crate_name(source.crate.name), source.crate.edition or "2021", target.name, flags.passed)
            self._whole[key] = compile_ptx(self.rustc, self.sysroot, job, self._new_folder())
        return Built(self._whole[key], names, True)

    def _extract(self, kernel: Kernel, source: KernelSource, flags: Flags, target: Target) -> Built:
        folder = self._new_folder()
        cut = extract(source.modules, source.function, folder, _shared_bytes(kernel))
        try:
            for name, text in cut.files.items():
                (folder / name).write_text(text)
        except OSError as error:
            failed = Compiled(None, "tool", (Complaint(f"cannot write the extract: {error.strerror}"),))
            return Built(failed, {}, False)
        attributes = tuple(f"feature({name})" for name in dict.fromkeys((*_FEATURES, *cut.features)))
        edition = source.crate.edition or "2021"
        job = Job(folder / cut.root, "extract", edition, target.name, flags.passed, self.externs, attributes)
        compiled = compile_ptx(self.rustc, self.sysroot, job, folder)
        return Built(compiled, _origins(cut, folder), False, cut.foreign)

    def _new_folder(self) -> Path:
        folder = self.folder / f"job{sum(1 for _ in self.folder.iterdir())}"
        folder.mkdir()
        return folder


def _origins(cut: Extracted, folder: Path) -> dict[str, str]:
    return {str(folder / name): path for name, path in cut.origin.items()}


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
