"""Methods of iterators and ranges."""

from __future__ import annotations

from gpusafe.dataflow.host import terms
from gpusafe.dataflow.host.access import peel
from gpusafe.dataflow.host.drops import owns
from gpusafe.dataflow.host.foreign import handles_in, mention_gap, not_followed
from gpusafe.dataflow.host.iterators import adapt, advance, drain, length_of, sampled, to_iter, walked
from gpusafe.dataflow.host.machine import Machine
from gpusafe.dataflow.host.results import Found
from gpusafe.dataflow.host.scalars import static_type
from gpusafe.dataflow.host.std_maps import build
from gpusafe.dataflow.host.syntax_walk import generic, type_name
from gpusafe.dataflow.host.values import (
    Cell,
    ClosureVal,
    IterVal,
    RangeVal,
    RefVal,
    SeqVal,
    StructVal,
    TupleVal,
    TypeVal,
    Unknown,
    Value,
    none,
    ok,
    some,
    unit,
)
from gpusafe.ir.expr import BOOL, Expr, Type
from gpusafe.parse.rust import ast

ON_SEQUENCES = frozenset(["into_par_iter", "par_iter", "par_iter_mut", "par_chunks"])
_REDUCERS = frozenset(
    [
        "sum",
        "product",
        "min",
        "max",
        "min_by",
        "max_by",
        "min_by_key",
        "max_by_key",
        "fold",
        "reduce",
        "last",
        "partition",
        "unzip",
        "try_fold",
    ]
)


def call(
    m: Machine, target: Cell, name: str, args: list[Value], expr: ast.MethodCall, expect: ast.Type | None
) -> Found | None:
    """A method on an iterator or range."""
    value = target.value
    if isinstance(value, RangeVal):
        if name in ("contains", "is_empty"):
            return Found(m.symbol(m.source_text(expr), BOOL))
        if name == "len":
            return Found(length_of(to_iter(m, value, expr.span)))
    source = to_iter(m, value, expr.span, "iter")
    if isinstance(value, RangeVal) and name in ("next", "by_ref"):
        target.value = source
    if name == "map" and args and isinstance(args[0], ClosureVal):
        adapted = adapt(m, source, name, args, expr.span)
        assert adapted is not None
        adapted.elem = _body_type(m, args[0])
        return Found(adapted)
    adapted = adapt(m, source, name, args, expr.span)
    if adapted is not None:
        if name in ("cloned", "copied", "rev", "skip", "take", "step_by", "filter", "inspect"):
            adapted.elem = adapted.elem or source.elem
        return Found(adapted)
    return _consume(m, source, name, args, expr, expect)


def _body_type(m: Machine, closure: ClosureVal) -> Type | ast.Type | None:
    body = closure.node.body
    while isinstance(body, ast.BlockExpr) and body.block.tail is not None:
        body = body.block.tail
    return static_type(m, body)


def _consume(
    m: Machine, source: IterVal, name: str, args: list[Value], expr: ast.MethodCall, expect: ast.Type | None
) -> Found | None:
    match name:
        case "collect" | "collect_vec" | "try_collect":
            wanted = next((g for g in expr.generics if isinstance(g, ast.Type)), None) or expect
            return Found(collect(m, source, expr, wanted))
        case "for_each" | "try_for_each":
            return Found(_for_each(m, source, args[0], expr, name))
        case "next":
            return Found(advance(m, source, expr.span))
        case "len":
            return Found(length_of(source))
        case "count":
            drawn = _all_of(m, source, expr)
            return Found(len(drawn) if drawn is not None else length_of(source))
        case "all" | "any":
            return Found(_quantifier(m, source, name, args[0], expr))
        case "find" | "find_map" | "position" | "rposition":
            return Found(_search(m, source, name, args[0], expr))
        case "nth" | "peek" | "next_back" | "nth_back":
            return Found(_one(m, source, name, args, expr))
        case "try_fold" if len(args) == 2:
            return Found(_try_fold(m, source, args, expr))
        case "sum" | "product":
            elements = _all_of(m, source, expr)
            if elements is not None and all(terms.is_int(e) for e in elements):
                return Found(
                    sum(int(e) for e in elements if isinstance(e, int)) if name == "sum" else Unknown("a product")
                )
            return Found(Unknown("a sum"))
    if name in _REDUCERS:
        return Found(_reduce(m, source, name, args, expr))
    return None


def _all_of(m: Machine, source: IterVal, expr: ast.MethodCall) -> list[Value] | None:
    """All elements, so that what makes them happens; None where one of them stood for all."""
    elements = drain(m, source)
    if elements is None:
        sampled(m, source, expr.span)
    return elements


def _search(m: Machine, source: IterVal, name: str, predicate: Value, expr: ast.MethodCall) -> Value:
    """``find``, ``find_map``, ``position``: elements up to the first that is accepted."""
    elements = walked(source)
    mark, left = len(m.ops), Unknown(f"the result of `{name}`")
    if elements is None or name == "rposition":
        example = sampled(m, source, expr.span, lambda e: _asked(m, name, predicate, e, expr))
        _unsure(m, mark, name, source, predicate, expr)
        return Unknown(left.why, None, (example,) if handles_in(example) else ())
    for index, element in enumerate(elements):
        verdict = _asked(m, name, predicate, element, expr)
        if isinstance(verdict, StructVal) and verdict.variant == "Some":
            return verdict
        if verdict is True:
            return some(element) if name == "find" else some(index)
        if verdict is not False and not (isinstance(verdict, StructVal) and verdict.variant == "None"):
            _unsure(m, mark, name, source, predicate, expr)
            held = [element, *(elements if not source.works_on else ())]
            not_followed(m, name, [e for e in held if owns(m, e)], expr.span)
            return Unknown(left.why, None, tuple(e for e in (verdict, *held) if handles_in(e)))
        if owns(m, element):
            m.drop(element, expr.span)
    return none()


def _asked(m: Machine, name: str, predicate: Value, element: Value, expr: ast.MethodCall) -> Value:
    return m.invoke(predicate, [RefVal(Cell(element)) if name == "find" else element], expr.span)


def _unsure(m: Machine, mark: int, name: str, source: IterVal, function: Value, expr: ast.MethodCall) -> None:
    """It is not known how often a closure is called: what it does, or could do, is a gap."""
    if len(m.ops) > mark or any(handles_in(v) for v in (function, *source.works_on)):
        mention_gap(m, f"how often `{name}` calls its closure is not known", [function, *source.works_on], expr.span)
        if len(m.ops) > mark:
            m.gap(expr.span, f"how often `{name}` calls its closure is not known")


def _one(m: Machine, source: IterVal, name: str, args: list[Value], expr: ast.MethodCall) -> Value:
    """``nth``, ``peek`` and ``next_back``: one element, and for ``nth`` those before it are dropped."""
    count = terms.known(source.length)
    steps = terms.known(peel(args[0])) if args else 0
    if count is None or steps is None or name == "nth_back":
        if source.owner is not None:
            not_followed(m, name, [source.owner.value], expr.span)
        example = sampled(m, source, expr.span) if source.works_on else None
        return Unknown(f"the result of `{name}`", None, (example,) if handles_in(example) else ())
    if name == "next_back":
        if source.position >= count:
            return none()
        source.length = count - 1
        return some(source.get(count - 1))
    if name == "peek":
        if source.position >= count:
            return none()
        index, get, held = source.position, source.get, Cell(source.get(source.position))
        source.get = lambda i: held.value if i == index else get(i)
        return some(RefVal(held))
    for _ in range(min(steps, count - source.position)):
        gone = advance(m, source, expr.span)
        m.drop(gone, expr.span)
    return advance(m, source, expr.span)


def _try_fold(m: Machine, source: IterVal, args: list[Value], expr: ast.MethodCall) -> Value:
    """``try_fold``: until the closure gives an error."""
    elements, mark = walked(source), len(m.ops)
    if elements is None:
        sampled(m, source, expr.span, lambda e: m.invoke(args[1], [Unknown("a sum"), e], expr.span))
        return Unknown("the result of `try_fold`")
    total, result = args[0], Unknown("the result of `try_fold`")
    last: Value = ok(total)
    for element in elements:
        last = m.invoke(args[1], [total, element], expr.span)
        if not isinstance(last, StructVal):
            _unsure(m, mark, "try_fold", source, args[1], expr)
            return result
        if last.variant not in ("Ok", "Some"):
            return last
        total = last.fields["0"].value
    return last


def collect(m: Machine, source: IterVal, expr: ast.MethodCall, wanted: ast.Type | None) -> Value:
    """``collect()`` into a Vec, a map, or a Result or Option of one."""
    kind = type_name(wanted)
    inner = generic(wanted) if kind in ("Result", "Option", "CudaResult") else wanted
    elements = drain(m, source)
    elem = generic(inner) if isinstance(inner, ast.TypePath) else None
    if isinstance(elem, ast.TypeOther):
        elem = None
    if elements is None:
        example = sampled(m, source, expr.span)
        length = source.length if isinstance(source.length, (int, Expr)) else m.symbol("collected.len()", low=0)
        wrapped = isinstance(example, StructVal) and example.variant in ("Ok", "Some")
        if wrapped and isinstance(example, StructVal):
            example = example.fields["0"].value
        known: Type | ast.Type | None = elem or source.elem
        if known is None and isinstance(example, Expr):
            known = example.type
        seq = SeqVal("vec", None, length, known)
        if isinstance(example, (SeqVal, TupleVal)):
            from gpusafe.dataflow.host.std_methods import clone_value

            seq.sample = lambda: clone_value(m, example)
        return _wrap(seq, kind, wrapped)
    plain: list[Value] = []
    wrapped = bool(elements) and all(
        isinstance(e, StructVal) and e.variant in ("Ok", "Some", "Err", "None") for e in elements
    )
    unwrap = wrapped and kind in ("Result", "Option", "CudaResult", None)
    for element in elements:
        if unwrap and isinstance(element, StructVal):
            if element.variant in ("Err", "None"):
                return element
            plain.append(element.fields["0"].value)
        else:
            plain.append(element)
    if kind in ("HashMap", "BTreeMap", "HashSet", "BTreeSet"):
        return build(kind, plain)
    if kind == "String":
        return TypeVal("text")
    return _wrap(SeqVal("vec", [Cell(e) for e in plain], len(plain), elem or source.elem), kind, unwrap)


def _wrap(seq: SeqVal, kind: str | None, wrapped: bool) -> Value:
    if kind in ("Result", "CudaResult") or (kind is None and wrapped):
        return ok(seq)
    return some(seq) if kind == "Option" else seq


def _for_each(m: Machine, source: IterVal, function: Value, expr: ast.MethodCall, name: str) -> Value:
    if source.parallel:
        apply = adapt(m, source, "map", [function], expr.span)
        assert apply is not None
        if drain(m, apply) is None:
            sampled(m, apply, expr.span)
        return ok(unit()) if name.startswith("try") else unit()
    elements = walked(source)
    if elements is None:
        sampled(m, source, expr.span, lambda e: m.invoke(function, [e], expr.span))
    for element in elements or ():
        result = m.invoke(function, [element], expr.span)
        if isinstance(result, StructVal) and result.variant == "Err":
            return result
    return ok(unit()) if name.startswith("try") else unit()


def _quantifier(m: Machine, source: IterVal, name: str, predicate: Value, expr: ast.MethodCall) -> Value:
    elements, mark = walked(source), len(m.ops)
    if elements is None:
        sampled(m, source, expr.span, lambda e: m.invoke(predicate, [e], expr.span))
        return Unknown(f"the result of `{name}`")
    for element in elements:
        if owns(m, element):
            not_followed(m, name, [element], expr.span)
        verdict = m.invoke(predicate, [element], expr.span)
        if verdict is (name == "any"):
            return name == "any"
        if not isinstance(verdict, bool):
            _unsure(m, mark, name, source, predicate, expr)
            return Unknown(f"the result of `{name}`")
    return name == "all"


def _reduce(m: Machine, source: IterVal, name: str, args: list[Value], expr: ast.MethodCall) -> Value:
    if name == "fold":
        return _fold(m, source, args, expr)
    elements, mark = _all_of(m, source, expr), len(m.ops)
    if name == "last" and elements:
        for element in elements[:-1]:
            m.drop(element, expr.span)
        return some(elements[-1])
    not_followed(m, name, [e for e in elements or () if owns(m, e)], expr.span)
    if source.owner is not None:
        not_followed(m, name, [source.owner.value], expr.span)
    held = tuple(e for e in elements or () if handles_in(e))
    function = args[0] if args else None
    if name in ("min_by_key", "max_by_key", "partition"):
        for element in elements or ():
            m.invoke(function, [RefVal(Cell(element))], expr.span)
        if elements is None:
            _unsure(m, mark, name, source, function, expr)
    elif function is not None:
        if elements and len(elements) > 1:
            m.invoke(function, [RefVal(Cell(e)) if name != "reduce" else e for e in elements[:2]], expr.span)
        _unsure(m, mark, name, source, function, expr)
    return Unknown(f"the result of `{name}`", None, held)


def _fold(m: Machine, source: IterVal, args: list[Value], expr: ast.MethodCall) -> Value:
    elements = walked(source)
    if elements is None:
        sampled(m, source, expr.span, lambda e: m.invoke(args[1], [Unknown("a sum"), e], expr.span))
        return Unknown("the result of `fold`")
    total = args[0]
    for element in elements:
        total = m.invoke(args[1], [total, element], expr.span)
    return total
