"""What each operation of a host path does to memory.

Most operations say it themselves. For a launch it follows from the kernel's contract: each argument is matched with the
parameter that it feeds, and the parameter's effect says what the kernel may do to the memory behind it. Without a
contract only the way in which the argument is passed is known, and the access is not certain.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gpusafe.dataflow.contracts import Effect, KernelSummary
from gpusafe.ir.expr import const
from gpusafe.ir.host import Enqueue, Free, HostAccess, HostOp, HostPath, LaunchArg, MemRange
from gpusafe.ir.kernel import Atomic, Block, If, Loop, Scope, Stmt

_WIDE = frozenset({Scope.DEVICE, Scope.SYSTEM})


@dataclass(frozen=True, slots=True)
class Access:
    """One operation's access to one stretch of memory.

    ``mode``: ``read``, ``write``, ``atomic`` (at device scope or wider), ``free``, ``alloc`` (memory comes into being
    in stream order). ``doubt`` says why it may not happen at all (None: it does). ``arg`` and ``param`` number the
    launch argument and the kernel parameter that it goes through.
    """

    op: int
    range: MemRange
    mode: str
    doubt: str | None = None
    arg: int | None = None
    param: int | None = None

    @property
    def memory(self) -> str:
        """The ident of the memory."""
        return self.range.memory


@dataclass(frozen=True, slots=True)
class Effects:
    """The accesses of a path, and per operation what of it could not be resolved (an argument, the whole kernel)."""

    accesses: tuple[Access, ...]
    unresolved: tuple[tuple[int, str], ...] = ()


def effects(path: HostPath, summaries: Mapping[str, KernelSummary]) -> Effects:
    """All accesses of a path in host order."""
    accesses: list[Access] = []
    unresolved: list[tuple[int, str]] = []
    for index, op in enumerate(path.ops):
        match op:
            case Enqueue() if op.what == "launch" or op.kernel in summaries:
                launch = _Launch(path, index, op, summaries.get(op.kernel) if op.kernel else None)
                accesses.extend(launch.accesses())
                unresolved.extend((index, why) for why in launch.unresolved())
            case Enqueue():
                accesses.extend(_plain(index, op))
            case HostAccess():
                accesses.append(Access(index, op.access.range, op.access.mode))
            case Free():
                accesses.append(Access(index, whole(op.memory), "free"))
            case _:
                pass
    return Effects(tuple(accesses), tuple(unresolved))


def whole(memory: str) -> MemRange:
    """All of an allocation."""
    return MemRange(memory, const(0), None)


def is_memory_op(op: HostOp) -> bool:
    """Whether an operation by its kind touches memory."""
    return isinstance(op, (Enqueue, HostAccess, Free))


def params_of(summary: KernelSummary, args: tuple[LaunchArg, ...]) -> tuple[int | None, ...] | None:
    """Which kernel parameter each launch argument belongs to; None where their numbers do not fit."""
    owners: list[int | None] = []
    for number, param in enumerate(summary.kernel.params):
        owners.extend([number] * max(1, param.slots))
    return tuple(owners) if len(owners) == len(args) else None


def _plain(index: int, op: Enqueue) -> list[Access]:
    modes = {"alloc": "alloc", "free": "free"}
    doubt = f"the body of `{op.kernel_name}` is not in sight" if op.kernel_name else None
    return [Access(index, a.range, modes.get(op.what, a.mode), doubt) for a in op.accesses]


class _Launch:
    """The accesses of one launch."""

    def __init__(self, path: HostPath, index: int, op: Enqueue, summary: KernelSummary | None) -> None:
        self.path, self.index, self.op, self.summary = path, index, op, summary
        self.owners = params_of(summary, op.args) if summary else None

    @property
    def title(self) -> str:
        return f"`{self.op.kernel_name}`" if self.op.kernel_name else "the kernel"

    def accesses(self) -> list[Access]:
        found: list[Access] = []
        for number, arg in enumerate(self.op.args):
            if arg.kind == "memory" and arg.range is not None:
                found.extend(self.of_argument(number, arg, arg.range))
        return found + self.of_globals()

    def of_argument(self, number: int, arg: LaunchArg, stretch: MemRange) -> list[Access]:
        owner = self.owners[number] if self.owners else None
        if self.summary is None or owner is None:
            unseen = f"the body of {self.title} is not in sight"
            return [Access(self.index, stretch, "write", unseen, number)]
        effect = self.summary.params[owner] if owner < len(self.summary.params) else Effect(True, True, known=False)
        doubt = None if effect.known else f"the body of {self.title} is not wholly modelled"
        return [Access(self.index, stretch, m, doubt, number, owner) for m in modes_of(effect, self.wide_atomics())]

    def of_globals(self) -> list[Access]:
        if self.summary is None:
            return []
        effects_by_name = dict(self.summary.globals)
        found = []
        for memory in self.path.memory.values():
            effect = effects_by_name.get(memory.name)
            if effect is not None and memory.kind in ("constant", "static"):
                doubt: str | None = None if effect.known else f"the body of {self.title} is not wholly modelled"
                for mode in modes_of(effect, self.wide_atomics()):
                    found.append(Access(self.index, whole(memory.ident), mode, doubt))
        return found

    def wide_atomics(self) -> bool:
        return self.summary is not None and atomics_are_wide(self.summary.kernel.body)

    def unresolved(self) -> list[str]:
        """What of the launch's arguments is not known and may reach memory."""
        if self.summary is None:
            return [f"{self.title} was not found, so what it does to its arguments is not known"]
        if self.owners is None:
            wanted = sum(max(1, p.slots) for p in self.summary.kernel.params)
            return [f"the launch of {self.title} passes {len(self.op.args)} arguments where the kernel takes {wanted}"]
        reasons = []
        for number, arg in enumerate(self.op.args):
            owner = self.owners[number]
            param = self.summary.kernel.params[owner] if owner is not None else None
            if (
                arg.kind == "unknown"
                and param is not None
                and param.region is not None
                and arg_is_address(self, number)
            ):
                reasons.append(f"what the argument for `{param.name}` of {self.title} points to is not known")
        return reasons


def arg_is_address(launch: _Launch, number: int) -> bool:
    """Whether this argument is the address of its parameter (a slice passed in two parts has its address first)."""
    return not launch.owners or number == 0 or launch.owners[number] != launch.owners[number - 1]


def modes_of(effect: Effect, wide_atomics: bool) -> tuple[str, ...]:
    """The modes of an effect. Atomics of a narrower scope than the device do not exclude those of another launch."""
    modes = [name for name, happens in (("read", effect.reads), ("write", effect.writes)) if happens]
    if effect.atomics:
        modes.append("atomic" if wide_atomics else "write")
    return tuple(dict.fromkeys(modes))


def atomics_are_wide(body: tuple[Stmt, ...]) -> bool:
    """Whether all atomics of a kernel have device scope or wider."""
    stack = list(body)
    while stack:
        match stack.pop():
            case Atomic(scope=scope) if scope not in _WIDE:
                return False
            case If(then=then, orelse=orelse):
                stack.extend(then + orelse)
            case Block(body=inner) | Loop(body=inner):
                stack.extend(inner)
            case _:
                pass
    return True
