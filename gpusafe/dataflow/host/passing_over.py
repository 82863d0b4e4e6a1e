"""Code that can do no GPU work: when it branches it is passed over as a whole instead of costing paths.

Checks of results are such code: loops over downloaded data that compare, count, print and exit. What it may change is
forgotten; leaving early or panicking stays a path of its own while work is in flight.
"""

from __future__ import annotations

import re

from gpusafe.dataflow.host.access import deref, peel
from gpusafe.dataflow.host.foreign import handles_in
from gpusafe.dataflow.host.machine import Machine
from gpusafe.dataflow.host.macro_expansion import texts_of
from gpusafe.dataflow.host.program import Program
from gpusafe.dataflow.host.signals import PanicSignal, ReturnSignal
from gpusafe.dataflow.host.syntax_walk import mentioned, walk, without_strings
from gpusafe.dataflow.host.values import (
    MOVED,
    Cell,
    ClosureVal,
    FnVal,
    RcBox,
    RefVal,
    SeqVal,
    SharedVal,
    SliceVal,
    StructVal,
    TupleVal,
    TypeVal,
    Unknown,
)
from gpusafe.parse.rust import ast

_IDENT = re.compile(r"[A-Za-z_]\w*")
FORMATTING = frozenset(
    ["print", "println", "eprint", "eprintln", "format", "format_args", "write", "writeln", "trace", "debug",
     "info", "warn", "error", "log", "dbg", "anyhow", "format_err", "eyre"]
)  # fmt: skip
_PANICS = frozenset(["panic", "assert", "assert_eq", "assert_ne", "unreachable", "todo", "unimplemented"])


def host_only_key(m: Machine, body: ast.Block, key: str) -> str | None:
    """The key when the code mentions no handle and calls nothing with GPU work, else None."""
    names = m.program.once("mentioned", body, lambda: mentioned(body))
    called = m.program.once("called", body, lambda: _called(m.program, body))
    if called & m.program.gpu_names:
        return None
    for name in names:
        cell = m.lookup(name)
        if cell is not None and (handles_in(cell.value) or cell.memory is not None):
            return None
    return key


def _called(program: Program, body: ast.Block) -> frozenset[str]:
    found: set[str] = set()
    for node in walk(body):
        match node:
            case ast.Call(func=ast.PathExpr(path=path)):
                found.add(path.last)
            case ast.MethodCall(name=name):
                found.add(name)
            case ast.MacroCall(path=path, text=text):
                found.update((path.last, *_IDENT.findall(without_strings(text))))
                found.update(n for own in texts_of(program, path.last) for n in _IDENT.findall(own))
    return frozenset(found)


_LOOKS = frozenset(
    ["abs", "all", "any", "as_bytes", "as_ref", "as_slice", "as_str", "bytes", "chars", "chunks",
     "chunks_exact", "clone", "cloned", "collect", "contains", "contains_key", "copied", "count", "ends_with",
     "enumerate", "eq", "first", "floor", "fold", "get", "is_empty", "is_err", "is_nan", "is_none", "is_ok",
     "is_some", "iter", "keys", "last", "len", "lines", "map", "max", "min", "ne", "parse", "powi", "rev",
     "round", "skip", "split", "split_whitespace", "sqrt", "starts_with", "step_by", "sum", "take_while",
     "to_owned", "to_string", "to_vec", "trim", "unwrap", "values", "windows", "zip"]
)  # fmt: skip
"""Methods that change nothing of what they are called on."""


def pass_over(m: Machine, body: ast.Block) -> None:
    """Forgets what the code may change, and walks its exits once."""
    for node in walk(body):
        if isinstance(node, ast.Call | ast.MethodCall):
            for arg in node.args:
                _forget_reached(m, arg)
        match node:
            case ast.Assign(target=target):
                _forget_targets(m, target)
            case ast.MethodCall(receiver=receiver, name=name) if name not in _LOOKS or name in m.program.own_methods:
                _forget(m, receiver)
            case ast.Ref(mutable=True, operand=operand):
                _forget(m, operand)
            case ast.Call(func=ast.PathExpr(path=path)) if len(path.names) == 1:
                _forget_captured(m, path.names[0])
            case ast.MacroCall():
                _forget_in_text(m, node)
            case (
                ast.Match(value=scrutinee)
                | ast.LetCond(value=scrutinee)
                | ast.Let(value=ast.Expr() as scrutinee)
                | (ast.For(iterable=scrutinee))
            ) if _binds_mutably(node):
                _forget(m, scrutinee)
    if not m.pending:
        return
    if any(isinstance(n, (ast.Return, ast.Try)) for n in walk(body)):
        where = f"{body.span.file}:{body.span.line}"
        if m.choose((f"the loop at {where} runs through", f"the loop at {where} returns early")) == 1:
            raise ReturnSignal(Unknown("the result of an early return"))
    leave_by_panic(m, body)


def leave_by_panic(m: Machine, body: ast.Block) -> None:
    """One more path for a panic that the code may raise while work is in flight."""
    if m.pending and any(isinstance(n, ast.MacroCall) and n.path.last in _PANICS for n in walk(body)):
        where = f"{body.span.file}:{body.span.line}"
        if m.choose((f"the code at {where} does not panic", f"the code at {where} panics")) == 1:
            raise PanicSignal


def _forget_targets(m: Machine, target: ast.Expr) -> None:
    """Everything on the left side of an assignment, destructuring ones included."""
    stack = [target]
    while stack:
        match stack.pop():
            case ast.Tuple(items=items) | ast.Array(items=items):
                stack.extend(items)
            case ast.Call(args=args):
                stack.extend(args)
            case ast.StructLit(fields=fields):
                stack.extend(value for _, value in fields)
            case other:
                _forget(m, other)


def _binds_mutably(node: ast.Node) -> bool:
    return any(isinstance(n, ast.PatIdent) and n.by_ref for n in walk(node))


def _forget_captured(m: Machine, name: str) -> None:
    """A local closure that is called may change all that it captured."""
    cell = m.lookup(name)
    closure = peel(cell.value) if cell is not None else None
    if isinstance(closure, ClosureVal):
        for captured in closure.captures.values():
            _havoc(m, captured)


def _forget_reached(m: Machine, arg: ast.Expr) -> None:
    """What a mutable reference, a closure or an interior-mutable value reaches may be changed where it is handed on."""
    while isinstance(arg, ast.Ref):
        arg = arg.operand
    cell = m.lookup(arg.path.names[0]) if isinstance(arg, ast.PathExpr) and len(arg.path.names) == 1 else None
    if cell is None:
        return
    changeable = isinstance(cell.value, RefVal) and cell.value.mutable
    if changeable or isinstance(deref(cell).value, TypeVal | ClosureVal):
        _havoc(m, cell)


def _forget_in_text(m: Machine, macro: ast.MacroCall) -> None:
    """A macro that is no formatting one may assign to whatever it mentions."""
    if macro.path.last in FORMATTING or macro.path.last in _PANICS:
        return
    for name in set(_IDENT.findall(without_strings(macro.text))):
        cell = m.lookup(name)
        if cell is not None and macro.path.last not in ("vec", "matches"):
            _havoc(m, cell)


def _forget(m: Machine, target: ast.Expr) -> None:
    current = target
    while isinstance(current, ast.Field | ast.Index | ast.Unary | ast.MethodCall | ast.Ref | ast.Try):
        match current:
            case ast.Field(base=base) | ast.Index(base=base):
                current = base
            case ast.Unary(operand=operand) | ast.Ref(operand=operand) | ast.Try(operand=operand):
                current = operand
            case ast.MethodCall(receiver=receiver):
                current = receiver
    if isinstance(current, ast.PathExpr) and len(current.path.names) == 1:
        cell = m.lookup(current.path.names[0])
        if cell is not None:
            _havoc(m, cell)


def _havoc(m: Machine, cell: Cell) -> None:
    """Nothing is known any more of a place and of what is behind and inside it."""
    stack, seen = [cell], set[int]()
    while stack:
        place = stack.pop()
        if id(place) in seen:
            continue
        seen.add(id(place))
        match place.value:
            case SeqVal() as seq:
                seq.items, seq.length = None, m.symbol("length", low=0)
            case SliceVal(seq=seq):
                stack.append(Cell(seq))
            case RefVal(cell=inner) | SharedVal(box=RcBox(cell=inner)) | TypeVal(payload=Cell() as inner):
                stack.append(inner)
            case StructVal(variant=None, fields=fields):
                stack.extend(fields.values())
            case TupleVal(items=items):
                stack.extend(items)
            case ClosureVal(captures=captures):
                stack.extend(captures.values())
            case Unknown() | FnVal() | TypeVal():
                pass
            case known if known is not MOVED:
                place.value = Unknown(f"`{place.name}`")
