"""The cheap pass before the solver: indices that are the thread's own number, times an element, plus a common part.

Most accesses of most kernels are of this kind, and comparing linear forms settles them.
"""

from __future__ import annotations

from gpusafe.dataflow.accesses import Access
from gpusafe.dataflow.intervals import Intervals, core
from gpusafe.dataflow.linear import Linear, linear
from gpusafe.dataflow.terms import Term, postorder
from gpusafe.prove.pairs import Setting, where

SHARED_OPS = frozenset({"const", "param", "length", "sym", "base"})


def settled(setting: Setting, a: Access, b: Access, same_block: bool) -> bool:
    """Whether comparing linear forms shows that two accesses of different threads never meet."""
    (first, at_first), (second, at_second) = _forms(setting, a, b)
    if first != second:
        return False
    if all(_common(atom) for atom in first):
        return at_first + a.size <= at_second or at_second + b.size <= at_first
    if any(not _one(setting, axis) for axis in ("y", "z")):
        return False
    gap = abs(at_first - at_second)
    return _strides_apart(setting, first, same_block, gap, max(a.size, b.size))


def _forms(setting: Setting, a: Access, b: Access) -> tuple[tuple[Linear, int], tuple[Linear, int]]:
    """The offsets as linear forms; both ``c * thread + (same for all)`` is the ordinary case."""
    forms = []
    for access in (a, b):
        found = setting.forms.get(access.seq)
        if found is None:
            ranges = Intervals(setting.specials)
            ranges.assume([*setting.premises, *where(setting.trace, access)])
            found = setting.forms[access.seq] = linear(access.offset, ranges)
        forms.append(found)
    return forms[0], forms[1]


def _one(setting: Setting, axis: str) -> bool:
    bound = [setting.specials.get(f"{r}.{axis}") for r in ("ntid", "nctaid")]
    return all(b is not None and b.const == 1 for b in bound)


def _strides_apart(setting: Setting, form: Linear, same_block: bool, gap: int, size: int) -> bool:
    thread = block = 0
    for atom, by in form.items():
        name = _name(atom)
        if name == "tid.x":
            thread += by
        elif name == "ctaid.x":
            threads = setting.specials.get("ntid.x")
            if same_block:
                continue
            if threads is None or threads.const is None or by % threads.const:
                return False
            block += by // threads.const
        elif name == "ctaid.x*ntid.x":
            block += 0 if same_block else by
        elif not _common(atom):
            return False
    if abs(thread) < gap + size:
        return False
    return same_block or block == thread


def _name(atom: Term) -> str:
    inner = core(atom)
    if inner.op == "special":
        return str(inner.data)
    if inner.op == "*":
        parts = sorted(_name(a) for a in inner.args)
        if parts == ["ctaid.x", "ntid.x"]:
            return "ctaid.x*ntid.x"
    return ""


def _common(atom: Term) -> bool:
    """Whether an atom has the same value for all threads of the launch."""
    for t in postorder([atom]):
        if t.op == "special" and not str(t.data).startswith(("ntid", "nctaid")):
            return False
        if not t.args and t.op not in SHARED_OPS and t.op != "special":
            return False
        if t.op in ("iter", "fresh", "load", "atomic", "shuffle"):
            return False
    return True
