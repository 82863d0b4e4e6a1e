"""What the compiled PTX keeps of each kernel: a status for each target, and refutations where it keeps less."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gpusafe.codegen_check.build import Builder
from gpusafe.codegen_check.core_library import SetupError, ready_sysroot, setup_core
from gpusafe.codegen_check.crate_source import find_source, meant_shared
from gpusafe.codegen_check.flags import Flags, Target, flags_of, targets_for
from gpusafe.codegen_check.host_side import shared_with_host
from gpusafe.codegen_check.includes import read_outside
from gpusafe.codegen_check.judge import Confirmation, Judge, merge
from gpusafe.codegen_check.kept import Kept, cache_folder
from gpusafe.codegen_check.shim_library import shim_externs
from gpusafe.codegen_check.toolchain import Toolchain, find
from gpusafe.ir.host import LaunchSite
from gpusafe.ir.kernel import Kernel
from gpusafe.parse.workspace_model import Workspace
from gpusafe.verdict import PtxStatus

_RUST = frozenset({"ptx-kernel", "cuda_std", "cuda-oxide"})


@dataclass(frozen=True, slots=True)
class _Ready:
    """Everything that the stage needs, once for a run."""

    tools: Toolchain
    builder: Builder


@dataclass(frozen=True, slots=True)
class _Again:
    """Whether the race proof is repeated on the PTX, and whether there is one in source."""

    asked: bool
    proved: bool


def confirm(
    kernels: Sequence[Kernel],
    workspace: Workspace,
    targets: Sequence[str] = (),
    *,
    mode: str = "auto",
    sites: Mapping[str, Sequence[LaunchSite]] | None = None,
    proved: Collection[str] = (),
    tools: Toolchain | None = None,
    environ: Mapping[str, str] = os.environ,
) -> dict[str, Confirmation]:
    """Compile the kernels for each target and hold the PTX against them; by kernel key.

    ``targets`` are those that the user asked for (empty: the default ones). With ``mode`` ``auto`` only what is there
    is used; ``always`` builds ``core`` first if need be. ``sites`` are the kernels' launches, by key: they say where
    the host takes part while a kernel runs. With ``always`` races are proved again on the PTX; ``proved`` are the keys
    of those that are proved in source. Never raises: whatever goes wrong is ``skipped``, with why.
    """
    wanted = [k for k in kernels if k.dialect in _RUST]
    found = {
        k.key: _skipped(targets, Flags(), f"{k.dialect} kernels are compiled elsewhere")
        for k in kernels
        if k.dialect not in _RUST
    }
    if not wanted:
        return found
    try:
        with tempfile.TemporaryDirectory(prefix="gpusafe-ptx-") as folder:
            ready = _prepare(tools or find(environ=environ), mode, Path(folder), environ)
            for kernel in wanted:
                found[kernel.key] = (
                    _skipped(targets, Flags(), ready)
                    if isinstance(ready, str)
                    else _confirm_one(
                        kernel,
                        workspace,
                        targets,
                        ready,
                        (sites or {}).get(kernel.key, ()),
                        _Again(mode == "always", kernel.key in proved),
                    )
                )
    except OSError as error:
        for kernel in wanted:
            found.setdefault(kernel.key, _skipped(targets, Flags(), f"no temporary folder: {error.strerror or error}"))
    return found


def _prepare(tools: Toolchain, mode: str, folder: Path, environ: Mapping[str, str]) -> _Ready | str:
    """The compiler with its libraries, or why there is none."""
    if tools.rustc is None:
        return f"no rustc for nvptx64: {tools.why} (see `gpusafe doctor`)"
    try:
        sysroot = ready_sysroot(tools.rustc, environ)
        if sysroot is None:
            if mode != "always":
                return "core is not built for nvptx64 yet (`gpusafe ptx --setup`)"
            sysroot = setup_core(tools.rustc, environ)
        externs = shim_externs(tools.rustc, sysroot, environ)
    except SetupError as error:
        return str(error)
    return _Ready(tools, Builder(tools.rustc, sysroot, externs, folder, Kept(cache_folder(environ) / "ptx")))


def _confirm_one(
    kernel: Kernel,
    workspace: Workspace,
    asked: Sequence[str],
    ready: _Ready,
    sites: Sequence[LaunchSite],
    again: _Again,
) -> Confirmation:
    flags = Flags()
    try:
        if kernel.generic:
            return _skipped(asked, flags, "generic kernels are not instantiated here")
        source = find_source(workspace, kernel)
        if source is None:
            return _skipped(asked, flags, "the kernel's function was not found in the source (made by a macro?)")
        outside = read_outside(source)
        if outside is not None:
            return _skipped(
                asked, flags, f"`{outside}` reads a file outside of the workspace, or one that is not known"
            )
        flags = flags_of(workspace.sources.get(kernel.span.file, ""))
        if not flags.passed and not flags.refused:
            flags = flags_of(source.root_file.text)
        if flags.refused:
            return _skipped(asked, flags, f"the flag `{flags.refused[0]}` is not passed on to rustc")
        text = workspace.sources.get(kernel.span.file, "")
        judge = Judge(
            kernel,
            ready.tools.ptxas,
            text,
            shared_with_host(kernel, sites),
            meant_shared(source),
            sites,
            again.asked,
            again.proved,
        )
        judged = []
        for target in targets_for(flags, asked):
            built = ready.builder.build(kernel, source, flags, target)
            judged.append(judge.judge(built, target, ready.builder.folder, ready.builder.kept))
        return merge(kernel, judged)
    except Exception as error:
        return _skipped(asked, flags, f"gpusafe failed here: {type(error).__name__}: {error}")


def _skipped(asked: Sequence[str], flags: Flags, why: str) -> Confirmation:
    targets: Sequence[Target] = targets_for(flags, asked)
    return Confirmation(tuple(PtxStatus(target.name, "skipped", why) for target in targets), ())
