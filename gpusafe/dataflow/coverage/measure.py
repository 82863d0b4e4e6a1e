"""From the text's launches and kernels, and what became of them, to the table."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from gpusafe.dataflow.coverage.kernels_text import KernelText, cuda_kernels, rust_kernels
from gpusafe.dataflow.coverage.launch_text import LaunchText, find_launches
from gpusafe.dataflow.coverage.model import Coverage, Launches, Missing
from gpusafe.dataflow.cubecl_launches import CubeLaunch, find_cube_launches
from gpusafe.dataflow.taint import walk
from gpusafe.ir.host import Gap, HostProgram, LaunchSeen
from gpusafe.ir.kernel import Kernel, Unmodelled
from gpusafe.parse.workspace_model import Workspace
from gpusafe.results import FileStatus
from gpusafe.span import Span

_STATUS = {
    FileStatus.ANALYSED: "analysed",
    FileStatus.NO_GPU: "no_gpu",
    FileStatus.SYNTAX_ERROR: "syntax_error",
    FileStatus.SKIPPED: "skipped",
}
_EXAMPLES = 3
_QUOTED = re.compile(r"`[^`]*`")


@dataclass(frozen=True, slots=True)
class _Lack:
    """One thing that is not resolved: the reason as it is counted, and the example."""

    reason: str
    span: Span
    detail: str


def measure(
    workspace: Workspace, kernels: Sequence[Kernel], program: HostProgram, notices: tuple[str, ...] = ()
) -> Coverage:
    """The table of one workspace, from its kernels and the paths through its host functions.

    ``notices``: what was wrong with the API tables.
    """
    found, lowered, lacks = _kernels(workspace, kernels)
    cubes = find_cube_launches(workspace, kernels)
    launches, more = _launches(find_launches(workspace), kernels, (*program.launches, *map(_cube, cubes)), program)
    counts = Counter(_STATUS[record.status] for record in workspace.files)
    files = {word: counts[word] for word in _STATUS.values()}
    unparsed = [
        _Lack("a file is not read", r.span or Span(r.path, 1, 1, 1, 1), r.detail)
        for r in workspace.files
        if r.status in (FileStatus.SKIPPED, FileStatus.SYNTAX_ERROR)
    ]
    return Coverage(files, found, lowered, launches, _ranked([*lacks, *more, *unparsed]), notices)


def _cube(launch: CubeLaunch) -> LaunchSeen:
    """A launch of CubeCL, which the text alone tells of."""
    return LaunchSeen(launch.span, launch.name, launch.kernel, -1, launch.sized, launch.fits)


def _kernels(workspace: Workspace, kernels: Sequence[Kernel]) -> tuple[int, int, list[_Lack]]:
    """How many kernels there are, how many of them are wholly lowered, and why the others are not."""
    lacks: list[_Lack] = []
    whole = 0
    for kernel in kernels:
        what = next((s.what for s in walk(kernel.body) if isinstance(s, Unmodelled)), None)
        if what is None:
            whole += 1
        else:
            lacks.append(_Lack(f"kernel: {_general(what)}", kernel.span, f"kernel `{kernel.name}`: {what}"))
    rust, lost = _rust(workspace, kernels)
    cuda, missed = _cuda(workspace, kernels)
    return rust + cuda, whole, [*lacks, *lost, *missed]


def _rust(workspace: Workspace, kernels: Iterable[Kernel]) -> tuple[int, list[_Lack]]:
    lowered = {(k.span.file, k.span.line) for k in kernels if k.span.file.endswith(".rs") and k.dialect != "cuda-c"}
    texts = {(k.span.file, k.span.line): k for k in rust_kernels(workspace)}
    lacks = [_not_lowered(k) for at, k in texts.items() if at not in lowered]
    return len(texts.keys() | lowered), lacks


def _not_lowered(kernel: KernelText) -> _Lack:
    reason = kernel.unread or "the function is in no module of a target, or switched off for devices by its `cfg`"
    return _Lack(f"kernel: {_general(reason)}", kernel.span, f"kernel `{kernel.name}`: {reason}")


def _cuda(workspace: Workspace, kernels: Iterable[Kernel]) -> tuple[int, list[_Lack]]:
    """CUDA C kernels by file: what the text defines, or more where templates and macros make more."""
    text: Counter[str] = Counter()
    for (file, _line), count in cuda_kernels(workspace).items():
        text[file] += count
    made = Counter(k.span.file for k in kernels if k.dialect == "cuda-c")
    lacks = []
    for file in sorted(text):
        short = text[file] - made[file]
        at = Span(file, 1, 1, 1, 1)
        lacks += [_Lack("kernel: a CUDA C kernel is not lowered", at, f"{short} of {text[file]}")] * max(0, short)
    return sum(max(text[file], made[file]) for file in text.keys() | made.keys()), lacks


def _launches(
    texts: Sequence[LaunchText], kernels: Sequence[Kernel], met: Sequence[LaunchSeen], program: HostProgram
) -> tuple[Launches, list[_Lack]]:
    seen: dict[Span, list[LaunchSeen]] = {}
    for one in met:
        seen.setdefault(one.span, []).append(one)
    slots = {k.key: sum(p.slots for p in k.params) for k in kernels}
    names = Counter(k.name for k in kernels)
    gaps = _gaps(program)
    parts: Counter[str] = Counter()
    lacks: list[_Lack] = []
    every = {launch.span: launch for launch in texts}
    for span in seen.keys() - every.keys():
        every[span] = LaunchText(span, "", "launch")
    for span, launch in sorted(every.items()):
        ways = seen.get(span)
        if ways is None:
            reason = launch.unread or _unreached(launch, gaps, program)
            lacks.append(_Lack(f"launch: {_general(reason)}", span, f"{launch.form} in `{launch.function}`: {reason}"))
            continue
        problems = _problems(ways, slots, names)
        parts.update(part for part in ("kernel", "geometry", "arguments") if part not in problems)
        parts.update(["seen", *([] if problems else ["whole"])])
        lacks += [_Lack(f"launch: {_general(why)}", span, f"launch of `{ways[0].kernel_name}`: {why}")
                  for why in problems.values()]  # fmt: skip
    counts = Launches(
        len(every), parts["seen"], parts["kernel"], parts["seen"], parts["geometry"], parts["arguments"], parts["whole"]
    )
    return counts, lacks


def _problems(ways: Sequence[LaunchSeen], slots: dict[str, int], names: Counter[str]) -> dict[str, str]:
    """What is not resolved of a launch on at least one of its ways, with the reason."""
    problems: dict[str, str] = {}
    for way in ways:
        if way.kernel is None:
            problems.setdefault("kernel", _unnamed(way.kernel_name, names))
        elif way.args not in (-1, slots[way.kernel]):
            problems.setdefault("arguments", "the launch passes another number of arguments than its kernel has")
        if not way.geometry:
            problems.setdefault("geometry", "a size of the grid or block is not known")
        if not way.arguments:
            problems.setdefault("arguments", "an argument is not known")
    return problems


def _unnamed(name: str, names: Counter[str]) -> str:
    if not name:
        return "the kernel's name is not known"
    if names[name] > 1:
        return f"several kernels are called `{name}`"
    return f"no kernel called `{name}` is in sight"


def _gaps(program: HostProgram) -> dict[str, list[tuple[Span, Gap]]]:
    """The gaps of all paths, by the files of the functions that they happen in."""
    found: dict[str, dict[tuple[Span, str], Gap]] = {}
    for path in program.paths:
        for op in path.ops:
            if isinstance(op, Gap):
                for frame in op.frames:
                    found.setdefault(frame.function_span.file, {}).setdefault((frame.function_span, op.reason), op)
    return {file: [(span, op) for (span, _), op in gaps.items()] for file, gaps in found.items()}


def _unreached(launch: LaunchText, gaps: dict[str, list[tuple[Span, Gap]]], program: HostProgram) -> str:
    """Why the executor never met a launch: the gap at its place, else the last one before it."""
    inside = [gap for span, gap in gaps.get(launch.span.file, ()) if span.contains(launch.span)]
    at = [gap for gap in inside if launch.span.contains(gap.span) or gap.span.contains(launch.span)]
    before = sorted((gap for gap in inside if gap.span <= launch.span), key=lambda gap: gap.span)
    for gap in (*at, *reversed(before), *inside):
        return gap.reason
    if any(f.span.contains(launch.span) for f in program.functions):
        return "no path that was walked leads to it"
    return "its function is not walked"


def _general(reason: str) -> str:
    """A reason without the names in it, so that equal ones are counted together."""
    return _QUOTED.sub("`..`", reason)


def _ranked(lacks: Iterable[_Lack]) -> tuple[Missing, ...]:
    groups: dict[str, list[_Lack]] = {}
    for lack in lacks:
        groups.setdefault(lack.reason, []).append(lack)
    ranked = sorted(groups.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    return tuple(Missing(reason, len(group), tuple(_examples(group))) for reason, group in ranked)


def _examples(group: Sequence[_Lack]) -> Iterator[str]:
    shown = dict.fromkeys(f"{lack.span.file}:{lack.span.line}: {lack.detail}" for lack in group)
    yield from list(shown)[:_EXAMPLES]
