"""From one crate root to PTX text with rustc."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

from gpusafe.codegen_check.sandbox import Limits, Outcome, run
from gpusafe.codegen_check.stages import Stages
from gpusafe.codegen_check.toolchain import TRIPLE, Rustc

LIMITS = Limits(seconds=60.0)


@dataclass(frozen=True, slots=True)
class Job:
    """One compilation. ``externs``: crate name to rlib; ``crate_attributes`` are added to those in the text."""

    root: Path
    name: str
    edition: str
    target: str
    flags: tuple[str, ...] = ()
    externs: tuple[tuple[str, Path], ...] = ()
    crate_attributes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Complaint:
    """One error message of the compiler or the assembler, with the place that it names, if any."""

    message: str
    file: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class Compiled:
    """``ptx`` is the text, or None with the reason.

    ``kind`` of a failure: ``code`` (the front end of rustc refuses the text), ``backend`` (LLVM cannot compile it for
    this target), ``tool`` (rustc did not do its work: out of time, killed, no space).
    """

    ptx: str | None
    kind: str = ""
    complaints: tuple[Complaint, ...] = ()

    @property
    def reason(self) -> str:
        """The first complaint in one line."""
        return self.complaints[0].message if self.complaints else "no reason given"


def compile_ptx(rustc: Rustc, sysroot: Path, job: Job, folder: Path) -> Compiled:
    """Compile ``job`` inside ``folder``; never raises for what rustc does."""
    out = folder / f"{job.name}-{job.target}.s"
    outcome = _run(rustc, sysroot, job, folder, (f"asm={out}",))
    if isinstance(outcome, str):
        return Compiled(None, "tool", (Complaint(outcome),))
    if outcome.ok:
        try:
            return Compiled(out.read_text(errors="replace"))
        except OSError as error:
            return Compiled(None, "tool", (Complaint(f"rustc left no PTX: {error.strerror}"),))
    return _failure(outcome)


def compile_stages(rustc: Rustc, sysroot: Path, job: Job, folder: Path) -> Stages:
    """What ``job`` is before it is PTX, as far as rustc gives it."""
    mir, ir = folder / f"{job.name}-{job.target}.mir", folder / f"{job.name}-{job.target}.ll"
    job = replace(job, flags=(*job.flags, "-Zmir-include-spans=on"))
    outcome = _run(rustc, sysroot, job, folder, (f"mir={mir}", f"llvm-ir={ir}"))
    if isinstance(outcome, str) or not outcome.ok:
        return Stages("", "")
    try:
        return Stages(mir.read_text(errors="replace"), ir.read_text(errors="replace"))
    except OSError:
        return Stages("", "")


def _run(rustc: Rustc, sysroot: Path, job: Job, folder: Path, emit: tuple[str, ...]) -> Outcome | str:
    """How rustc ended, or why it was not started."""
    argv = [str(rustc.path), "--edition", job.edition, "--crate-name", job.name, "--crate-type", "lib"]
    argv += ["--target", TRIPLE, "--sysroot", str(sysroot), "-O", "-C", "panic=abort", "-C", f"target-cpu={job.target}"]
    argv += ["-C", "debuginfo=line-tables-only", _comments_flag(rustc), "--cap-lints", "allow"]
    argv += ["--emit", ",".join(emit)]
    for attribute in job.crate_attributes:
        argv += ["-Z", f"crate-attr={attribute}"]
    for name, rlib in job.externs:
        argv += ["--extern", f"{name}={rlib}"]
    for folder_of_externs in dict.fromkeys(rlib.parent for _, rlib in job.externs):
        argv += ["-L", f"dependency={folder_of_externs}"]
    argv += [*_without_plain_opt(job.flags), str(job.root)]
    # a folder of its own: rustc names files below the current one by relative paths
    current = folder / "current"
    try:
        current.mkdir(exist_ok=True)
    except OSError as error:
        return f"no folder to compile in: {error.strerror}"
    return run(argv, current, {"RUSTC_BOOTSTRAP": "1"}, LIMITS)


def _comments_flag(rustc: Rustc) -> str:
    """The option that adds inlined call sites to ``.loc`` lines; it had another name before 1.79."""
    return "-Zverbose-asm=yes" if rustc.release >= (1, 79) else "-Zasm-comments=yes"


def _without_plain_opt(flags: tuple[str, ...]) -> tuple[str, ...]:
    """``-O`` is given already, and once only is allowed; an own ``opt-level`` comes later and wins."""
    return tuple(f for f in flags if f != "-O" and not f.startswith("-Ctarget-cpu="))


_MACHINE = re.compile(
    r"No space left on device|Disk quota exceeded|Read-only file system|File too large|Too many open files|"
    r"Input/output error|[Cc]annot allocate memory|out of memory|memory allocation of \d+ bytes failed|"
    r"IO failure on output stream|Resource temporarily unavailable"
)
"""What rustc and LLVM say where the machine fails them: no fault of the program, and another time it may work."""


def _failure(outcome: Outcome) -> Compiled:
    machine = _MACHINE.search(outcome.stderr)
    if machine:
        return Compiled(None, "tool", (Complaint(f"rustc could not do its work: {machine[0]}"),))
    backend = re.search(r"LLVM ERROR: (.*)", outcome.stderr)
    if backend:
        return Compiled(None, "backend", (Complaint(f"LLVM: {backend[1].strip().rstrip('.')}"),))
    complaints = tuple(_complaints(outcome.stderr))
    if outcome.code == 1 and complaints:
        return Compiled(None, "code", complaints)
    if "internal compiler error" in outcome.stderr:
        return Compiled(None, "tool", (Complaint("rustc stopped with an internal compiler error"),))
    problem = outcome.problem or f"ended with status {outcome.code}"
    return Compiled(None, "tool", (Complaint(f"rustc {problem}"),))


def _complaints(stderr: str) -> list[Complaint]:
    """Error messages in rustc's human form, each with the place after its arrow."""
    found: list[Complaint] = []
    message = None
    for line in stderr.splitlines():
        start = re.match(r"error(?:\[E\d+\])?: (.*)", line)
        if start:
            if message is not None:
                found.append(Complaint(message))
            message = None if start[1].startswith("aborting due to") else start[1]
            continue
        place = re.match(r"\s*--> (.*?):(\d+):\d+", line)
        if place and message is not None:
            found.append(Complaint(message, place[1], int(place[2])))
            message = None
    if message is not None:
        found.append(Complaint(message))
    return found
