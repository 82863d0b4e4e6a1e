"""cuRAND's device functions: the state is an object that each call reads and writes (cuRAND guide, device API)."""

from __future__ import annotations

from collections.abc import Callable

from gpusafe.parse.cuda import types as t
from gpusafe.parse.cuda.builtin.site import CallSite
from gpusafe.parse.cuda.context import Context, Unsupported
from gpusafe.parse.cuda.places import dereference, read, unknown, write
from gpusafe.parse.cuda.values import NoValue, Operand, UnknownValue

Builtin = Callable[[Context, CallSite], Operand]


def _draw(result: t.CType | None, at: int = 0) -> Builtin:
    """A call with the state behind argument ``at``; ``result`` is what it gives."""

    def handler(x: Context, site: CallSite) -> Operand:
        values = site.values(x)
        if at >= len(values):
            raise Unsupported(f"`{site.last}` with {len(values)} arguments")
        state = dereference(x, values[at], site.span, site.last)
        if not isinstance(state.type, t.Struct) or state.type.key not in t.RANDOM_STATES:
            raise Unsupported(f"`{site.last}` on a `{t.show(state.type)}`")
        if site.last != "curand_init":
            read(x, state, site.span, site.last)
        write(x, state, UnknownValue(state.type, "the state of a random generator"), site.span)
        if result is None:
            return NoValue(t.VOID)
        return unknown(x, result, site.span, site.last, "a random number")

    return handler


def _vector(base: str, count: int) -> t.CType:
    kind = t.vector_of(base, count)
    assert kind is not None
    return kind


RANDOM: dict[str, Builtin] = {
    "curand_init": _draw(None, 3),
    "skipahead": _draw(None, 1),
    "skipahead_sequence": _draw(None, 1),
    "curand": _draw(t.UINT),
    "curand4": _draw(_vector("uint", 4)),
    "curand_poisson": _draw(t.UINT),
    "curand_poisson4": _draw(_vector("uint", 4)),
    **{f"curand_{d}": _draw(t.FLOAT) for d in ("uniform", "normal", "log_normal")},
    **{f"curand_{d}_double": _draw(t.DOUBLE) for d in ("uniform", "normal", "log_normal")},
    **{f"curand_{d}2": _draw(_vector("float", 2)) for d in ("normal", "log_normal")},
    **{f"curand_{d}2_double": _draw(_vector("double", 2)) for d in ("uniform", "normal", "log_normal")},
    **{f"curand_{d}4": _draw(_vector("float", 4)) for d in ("uniform", "normal", "log_normal")},
}
