"""Loads, stores and address conversions by function; output that touches no memory of the program."""

from __future__ import annotations

from collections.abc import Callable

from gpusafe.ir.expr import U32, U64, Opaque
from gpusafe.parse.cuda import terms
from gpusafe.parse.cuda import types as t
from gpusafe.parse.cuda.builtin.site import CallSite
from gpusafe.parse.cuda.context import Context, Unsupported
from gpusafe.parse.cuda.convert import convert
from gpusafe.parse.cuda.places import dereference, read, write
from gpusafe.parse.cuda.render import render
from gpusafe.parse.cuda.values import AddressOf, NoValue, Operand, Term, Value

Builtin = Callable[[Context, CallSite], Operand]
NOTHING = NoValue(t.VOID)


def _cached_load(x: Context, site: CallSite) -> Operand:
    """``__ldg`` and kin: a plain load."""
    pointer = site.value(x, 0)
    name = f"*{render(site.args[0])}"
    return read(x, dereference(x, pointer, site.span, name), site.span, name)


def _cached_store(x: Context, site: CallSite) -> Operand:
    place = dereference(x, site.value(x, 0), site.span, site.last)
    write(x, place, site.value(x, 1, place.type), site.span)
    return NOTHING


def _address(x: Context, site: CallSite) -> Operand:
    """``__cvta_generic_to_shared``: the address as a number that is still recognised as the pointer."""
    value = site.value(x, 0)
    return convert(x, value, t.ULONG, site.span)


def _silent(x: Context, site: CallSite) -> Operand:
    """Evaluates its arguments and does nothing else that matters."""
    for index in range(len(site.args)):
        site.value(x, index)
    return NOTHING


def _clock(x: Context, site: CallSite) -> Operand:
    wide = "64" in site.last or "timer" in site.last
    return Term(t.ULONG if wide else t.UINT, x.havoc(site.span, site.last, U64 if wide else U32, "a clock"))


def _swap(x: Context, site: CallSite) -> Operand:
    first, second = site.operand(x, 0), site.operand(x, 1)
    a = _kept(x, read(x, first, site.span, "first"), site)
    b = _kept(x, read(x, second, site.span, "second"), site)
    write(x, first, b, site.span)
    write(x, second, a, site.span)
    return NOTHING


def _kept(x: Context, value: Value, site: CallSite) -> Value:
    return Term(value.type, x.hold(site.span, "swapped", value.expr)) if isinstance(value, Term) else value


def _forward(x: Context, site: CallSite) -> Operand:
    return site.operand(x, 0)


def _allocation(x: Context, site: CallSite) -> Operand:
    raise Unsupported(f"`{site.last}` in a kernel")


def _address_of(x: Context, site: CallSite) -> Operand:
    from gpusafe.parse.cuda.places import address

    return address(x, site.operand(x, 0), site.span, render(site.args[0]))


def _in_space(x: Context, site: CallSite) -> Operand:
    value = site.value(x, 0)
    if isinstance(value, AddressOf):
        return Term(t.UINT, terms.integer(0, U32))
    assert isinstance(value, Term)
    return Term(t.UINT, Opaque(U32, site.last, (value.expr,)))


MEMORY: dict[str, Builtin] = {
    **dict.fromkeys(("__ldg", "__ldcg", "__ldca", "__ldcs", "__ldlu", "__ldcv"), _cached_load),
    **dict.fromkeys(("__stwb", "__stcg", "__stcs", "__stwt"), _cached_store),
    "__cvta_generic_to_shared": _address,
    "__cvta_generic_to_global": _address,
    "__nvvm_get_smem_pointer": _address,
    "__isShared": _in_space,
    "__isGlobal": _in_space,
    "printf": _silent,
    "cuPrintf": _silent,
    "__nanosleep": _silent,
    "__prof_trigger": _silent,
    "__brkpt": _silent,
    "clock": _clock,
    "clock64": _clock,
    "globaltimer": _clock,
    "swap": _swap,
    "move": _forward,
    "forward": _forward,
    "addressof": _address_of,
    "malloc": _allocation,
    "free": _allocation,
}
