"""A litmus test as data: places of threads, their instructions, the initial state and the assertion."""

from __future__ import annotations

from dataclasses import dataclass

Operand = int | str
"""A constant, or the name of a register."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a thread runs. Threads share a cluster when gpu and cluster agree, and a CTA when all three do."""

    cta: int
    cluster: int | None
    gpu: int

    def shares(self, other: Place, scope: str) -> bool:
        """Whether the scope (cta, cluster, gpu, sys) of a thread here includes a thread there (``none``: nobody)."""
        if scope == "none":
            return False
        if scope == "sys":
            return True
        if self.gpu != other.gpu:
            return False
        if scope == "gpu":
            return True
        same_cta = self.cta == other.cta and self.cluster == other.cluster
        if scope == "cluster" and self.cluster is not None:
            return self.cluster == other.cluster
        return same_cta


@dataclass(frozen=True, slots=True)
class Location:
    """What a name stands for: a physical cell and the virtual address through which it is accessed."""

    cell: str
    address: str


@dataclass(frozen=True, slots=True)
class Load:
    """``ld`` and the loads of other proxies."""

    register: str
    location: Location
    order: str
    scope: str
    proxy: str


@dataclass(frozen=True, slots=True)
class Store:
    """``st`` and the surface store."""

    location: Location
    value: Operand
    order: str
    scope: str
    proxy: str


@dataclass(frozen=True, slots=True)
class ReadModifyWrite:
    """``atom`` (with a result register) and ``red`` (without). ``cas`` compares with the first operand."""

    register: str | None
    location: Location
    operation: str
    operands: tuple[Operand, ...]
    order: str
    scope: str
    proxy: str


@dataclass(frozen=True, slots=True)
class Fence:
    """A memory fence: acquire, release, acq_rel or sc."""

    order: str
    scope: str


@dataclass(frozen=True, slots=True)
class ProxyFence:
    """A fence between the generic proxy and ``proxy`` (texture, surface, constant, generic, or alias)."""

    proxy: str


@dataclass(frozen=True, slots=True)
class Barrier:
    """A CTA barrier: which one in the program text, its resource, and how many threads it waits for (None: all)."""

    instance: int
    resource: Operand | None
    quorum: Operand | None
    arrives: bool


@dataclass(frozen=True, slots=True)
class Move:
    """A register computation: ``target = left operation right``; a plain constant has the operation ``mov``."""

    register: str
    operation: str
    left: Operand
    right: Operand


@dataclass(frozen=True, slots=True)
class Branch:
    """Jump to ``label`` when ``left comparison right`` holds."""

    comparison: str
    left: Operand
    right: Operand
    label: str


@dataclass(frozen=True, slots=True)
class Jump:
    """``goto``."""

    label: str


@dataclass(frozen=True, slots=True)
class Label:
    """A jump target."""

    name: str


Instruction = Load | Store | ReadModifyWrite | Fence | ProxyFence | Barrier | Move | Branch | Jump | Label


@dataclass(frozen=True, slots=True)
class ThreadCode:
    """One column of a test."""

    number: int
    place: Place
    registers: tuple[tuple[str, int], ...]
    code: tuple[Instruction, ...]


@dataclass(frozen=True, slots=True)
class Condition:
    """A formula over final registers and memory.

    ``kind`` is ``and``, ``or``, ``not`` (over ``parts``) or a comparison of two ``terms``: an integer, a
    (thread, register) pair, or the name of a cell.
    """

    kind: str
    parts: tuple[Condition, ...] = ()
    terms: tuple[int | str | tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class LitmusTest:
    """A test with its assertion: ``exists``, ``~exists`` or ``forall`` a condition on the final state."""

    name: str
    initial: tuple[tuple[str, int], ...]
    threads: tuple[ThreadCode, ...]
    quantifier: str
    condition: Condition
    only: Condition | None = None
