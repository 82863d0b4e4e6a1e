"""Methods of iterators and ranges."""

from __future__ import annotations

from gpusafe.dataflow.host import terms
from gpusafe.dataflow.host.drops import owns
from gpusafe.dataflow.host.foreign import not_followed
from gpusafe.dataflow.host.iterators import adapt, advance, drain, length_of, sampled, to_iter
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
    SeqVal,
    StructVal,
    TupleVal,
    TypeVal,
    Unknown,
    Value,
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
        "try_fold",
        "partition",
        "unzip",
        "position",
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
            return Found(advance(m, source))
        case "len" | "count":
            return Found(length_of(source))
        case "all" | "any":
            return Found(_quantifier(m, source, name, args[0], expr))
        case "find" | "find_map" | "nth" | "peek" | "next_back":
            if source.owner is not None:
                not_followed(m, name, [source.owner.value], expr.span)
                return Found(Unknown(f"the result of `{name}`"))
            return Found(Unknown(f"the result of `{name}`", None, _held(m, source)))
        case "sum" | "product":
            elements = drain(m, source)
            if elements is not None and all(terms.is_int(e) for e in elements):
                return Found(
                    sum(int(e) for e in elements if isinstance(e, int)) if name == "sum" else Unknown("a product")
                )
            return Found(Unknown("a sum"))
    if name in _REDUCERS:
        return Found(_reduce(m, source, name, args, expr))
    return None


def _held(m: Machine, source: IterVal) -> tuple[Value, ...]:
    from gpusafe.dataflow.host.foreign import handles_in

    count = terms.known(source.length)
    values = [source.get(i) for i in range(count)] if count is not None and count <= 16 else []
    return tuple(v for v in values if handles_in(v))


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
    elements = drain(m, source)
    if elements is None:
        sampled(m, source, expr.span, lambda e: m.invoke(function, [e], expr.span))
    for element in elements or ():
        result = m.invoke(function, [element], expr.span)
        if isinstance(result, StructVal) and result.variant == "Err":
            return result
    return ok(unit()) if name.startswith("try") else unit()


def _quantifier(m: Machine, source: IterVal, name: str, predicate: Value, expr: ast.MethodCall) -> Value:
    elements = drain(m, source)
    not_followed(m, name, [e for e in elements or () if owns(m, e)], expr.span)
    if elements is None:
        sampled(m, source, expr.span, lambda e: m.invoke(predicate, [e], expr.span))
        return Unknown(f"the result of `{name}`")
    unsure = False
    for element in elements:
        verdict = m.invoke(predicate, [element], expr.span)
        if verdict is (name == "any"):
            return name == "any"
        unsure = unsure or not isinstance(verdict, bool)
    return Unknown(f"the result of `{name}`") if unsure else name == "all"


def _reduce(m: Machine, source: IterVal, name: str, args: list[Value], expr: ast.MethodCall) -> Value:
    elements = drain(m, source) if name in ("fold", "reduce", "last") else None
    if name == "fold" and elements is not None:
        total = args[0]
        for element in elements:
            total = m.invoke(args[1], [total, element], expr.span)
        return total
    if name == "last" and elements:
        for element in elements[:-1]:
            m.drop(element, expr.span)
        return some(elements[-1])
    not_followed(m, name, [e for e in elements or () if owns(m, e)], expr.span)
    if source.owner is not None and name != "fold":
        not_followed(m, name, [source.owner.value], expr.span)
    if name == "fold":
        sampled(m, source, expr.span, lambda e: m.invoke(args[1], [Unknown("a sum"), e], expr.span))
    return Unknown(f"the result of `{name}`")
