"""What a kernel's proof promises to the host side: effects per parameter, and the conditions of the proof."""

from __future__ import annotations

from dataclasses import dataclass

from gpusafe.ir.expr import Expr
from gpusafe.ir.kernel import Kernel


@dataclass(frozen=True, slots=True)
class Effect:
    """What a kernel does to one region over all threads.

    ``reads``/``writes``/``atomics`` say what it *may* do; ``known`` is False where the body is not wholly modelled, so
    that these follow from the signature alone.
    """

    reads: bool = False
    writes: bool = False
    atomics: bool = False
    known: bool = True


@dataclass(frozen=True, slots=True)
class KernelSummary:
    """The contract of a kernel.

    ``params[i]`` is the effect on the region of parameter ``i`` (an empty Effect for scalars); ``globals`` the effects
    on module statics and constants, by region name. ``requires`` are the conditions over Special, Param and Length
    terms of the proof (geometry, overflow, lengths); ``in_words`` says the same for people.
    ``complete``: no part of the body is unmodelled. ``zeroed`` are the regions (flags, counters) that must hold zeros
    when the kernel starts.
    """

    kernel: Kernel
    params: tuple[Effect, ...]
    globals: tuple[tuple[str, Effect], ...] = ()
    requires: tuple[Expr, ...] = ()
    in_words: tuple[str, ...] = ()
    complete: bool = True
    zeroed: tuple[str, ...] = ()
