"""``__pipeline_memcpy_async`` and kin: cp.async by another name."""

from __future__ import annotations

from collections.abc import Callable

from gpusafe.ir import kernel as k
from gpusafe.parse.cuda import terms
from gpusafe.parse.cuda import types as t
from gpusafe.parse.cuda.builtin.site import CallSite
from gpusafe.parse.cuda.context import Context, Unsupported
from gpusafe.parse.cuda.values import NoValue, Operand

Builtin = Callable[[Context, CallSite], Operand]
NOTHING = NoValue(t.VOID)


def _copy(x: Context, site: CallSite) -> Operand:
    dst, src = site.term(x, 0), site.term(x, 1)
    size = site.term(x, 2, t.ULONG)
    x.emit(k.AsyncCopy(site.span, "cp.async", dst, src, size))
    return NOTHING


def _commit(x: Context, site: CallSite) -> Operand:
    x.emit(k.AsyncControl(site.span, "commit"))
    return NOTHING


def _wait(x: Context, site: CallSite) -> Operand:
    count = terms.value_of(site.term(x, 0)) if site.args else 0
    if count is None:
        raise Unsupported(f"`{site.last}` with a count that is not a constant")
    x.emit(k.AsyncControl(site.span, "wait", count))
    return NOTHING


ASYNC: dict[str, Builtin] = {
    "__pipeline_memcpy_async": _copy,
    "__pipeline_commit": _commit,
    "__pipeline_wait_prior": _wait,
}
