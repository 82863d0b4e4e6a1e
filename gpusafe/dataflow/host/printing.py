"""Host paths as text, for people who look at what the executor sees."""

from __future__ import annotations

from collections import Counter

from gpusafe.dataflow.host.terms import in_words
from gpusafe.ir.expr import Expr
from gpusafe.ir.host import (
    Alloc,
    Enqueue,
    ForeignContext,
    Free,
    Gap,
    HostAccess,
    HostOp,
    HostPath,
    HostProgram,
    Join,
    LaunchArg,
    MemAccess,
    MemRange,
    Record,
    Spawn,
    Sync,
    Wait,
)


def text_of(program: HostProgram) -> str:
    """All paths, one operation a line."""
    lines = ["functions: " + ", ".join(f"{f.name}{' (root)' if f.is_root else ''}" for f in program.functions)]
    for path in program.paths:
        lines.append(f"\n== path of {path.root}{'' if path.complete else ' (cut)'}")
        lines += [f"   if {c}" for c in path.conditions]
        lines += [f"   assume {in_words(a)}" for a in path.assumes]
        lines += [f"   generalised: {g}" for g in path.generalised]
        for index, op in enumerate(path.ops):
            thread = f"[{path.threads[index]}] " if index in path.threads else ""
            guard = f"  <{path.guards[index]}>" if index in path.guards else ""
            lines.append(f"{op.span.line:4} {thread}{operation(path, op)}{guard}")
    return "\n".join(lines)


def statistics_of(program: HostProgram) -> str:
    """How often each reason for a gap occurs, over roots."""
    counts: Counter[str] = Counter()
    for reasons in program.gaps.values():
        counts.update(reasons)
    head = f"{len(program.functions)} functions, {len(program.paths)} paths, {len(program.gaps)} roots with gaps"
    return "\n".join([head, *(f"{n:5} {reason}" for reason, n in counts.most_common())])


def operation(path: HostPath, op: HostOp) -> str:
    """One operation."""
    match op:
        case Enqueue():
            return _enqueue(path, op)
        case Alloc(memory=memory):
            return f"alloc {_memory(path, memory)}"
        case Free(memory=memory, waits=waits):
            return f"free {_memory(path, memory)} waits={waits}   ({op.label})"
        case HostAccess(access=access):
            return f"host {_access(path, access)}"
        case Record(event=event, stream=stream):
            return f"record {event} on {_stream(path, stream)}   ({op.label})"
        case Wait(stream=stream, event=event, automatic=automatic):
            return f"{_stream(path, stream)} waits {event}{' auto' if automatic else ''}   ({op.label})"
        case Sync(target=target, ident=ident):
            return f"sync {target} {_stream(path, ident) if target == 'stream' else ident}   ({op.label})"
        case Spawn(thread=thread):
            return f"spawn {thread}"
        case Join(thread=thread):
            return f"join {thread}"
        case ForeignContext(first=first, second=second):
            return f"FOREIGN {first} / {second}"
        case Gap(reason=reason, memory=memory):
            return f"GAP {reason} {[_memory(path, m) for m in memory]}"
    return op.label


def _enqueue(path: HostPath, op: Enqueue) -> str:
    parts = [f"{op.what} on {_stream(path, op.stream)}: {op.label}"]
    parts += [_access(path, a) for a in op.accesses]
    if op.blocks_host:
        parts.append("BLOCKS HOST")
    if op.kernel_name:
        parts.append(f"kernel={op.kernel}")
    if op.shape is not None:
        parts.append(f"<<<{_terms(op.shape.grid)}, {_terms(op.shape.block)}>>>")
    parts += [_argument(path, a) for a in op.args]
    return "  ".join(parts)


def _terms(values: tuple[Expr | None, ...]) -> str:
    return "(" + ",".join("?" if v is None else in_words(v) for v in values) + ")"


def _argument(path: HostPath, arg: LaunchArg) -> str:
    if arg.kind == "memory" and arg.range is not None:
        return f"[{arg.passed} {_range(path, arg.range)} x{arg.elem_bytes}]"
    return f"[{arg.kind} {in_words(arg.value) if arg.value is not None else '?'}]"


def _access(path: HostPath, access: MemAccess) -> str:
    return f"{access.mode} {_range(path, access.range)}"


def _range(path: HostPath, part: MemRange) -> str:
    size = "end" if part.size is None else in_words(part.size)
    return f"{_memory(path, part.memory)}@{in_words(part.start)}+{size}"


def _memory(path: HostPath, ident: str) -> str:
    return f"{path.memory[ident].name}:{ident}"


def _stream(path: HostPath, ident: str) -> str:
    stream = path.streams.get(ident)
    return f"{stream.name}:{ident}:{stream.kind}" if stream is not None else ident
