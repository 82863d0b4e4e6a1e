"""What a kernel's attributes say about every launch."""

from __future__ import annotations

from gpusafe.ir.expr import BOOL, U32, U64, USIZE, Expr
from gpusafe.ir.kernel import LaunchContract
from gpusafe.parse.rust import ast
from gpusafe.parse.rust.device import terms
from gpusafe.parse.rust.device.bodies import is_empty
from gpusafe.parse.rust.device.lowering import Lowering
from gpusafe.parse.rust.device.operators import ARITHMETIC, COMPARING
from gpusafe.parse.rust.device.types import ScalarTy
from gpusafe.parse.rust.device.values import Scalar
from gpusafe.parse.rust.device.written import constant
from gpusafe.parse.rust.macros import parse_args


def launch_contract(lw: Lowering, item: ast.Fn) -> LaunchContract:
    """``#[launch_bounds]``, ``#[launch_contract]``, ``#[cluster_launch]``, ``#[cooperative_launch]``."""
    block: tuple[int, int, int] | None = None
    max_threads: int | None = None
    domain: int | None = None
    dynamic: int | None = None
    bounds = item.attribute("launch_bounds")
    if bounds is not None:
        values = _numbers(lw, bounds)
        max_threads = values[0] if values else None
    contract = item.attribute("launch_contract")
    if contract is not None:
        for arg in _arguments(contract):
            if not isinstance(arg, ast.Assign) or not isinstance(arg.target, ast.PathExpr):
                continue
            match arg.target.path.last:
                case "domain":
                    domain = _number(lw, arg.value)
                case "block":
                    block = _triple(lw, arg.value)
                case "dynamic_shared":
                    dynamic = _number(lw, arg.value)
    cluster = item.attribute("cluster_launch")
    shape: tuple[int, int, int] | None = None
    if cluster is not None:
        values = _numbers(lw, cluster)
        padded = [*values, 1, 1, 1][:3]
        shape = (padded[0], padded[1], padded[2]) if values else None
    cooperative = item.attribute("cooperative_launch") is not None
    return LaunchContract(block, max_threads, domain, shape, cooperative, dynamic)


def launch_requirements(lw: Lowering, item: ast.Fn) -> tuple[Expr, ...]:
    """``requires = (..)`` of a launch contract, which the host checks in 64 bits; parameters must be in scope."""
    contract = item.attribute("launch_contract")
    made: list[Expr] = []
    for arg in _arguments(contract) if contract is not None else ():
        match arg:
            case ast.Assign(target=ast.PathExpr(path=path), value=value) if path.last == "requires":
                for relation in value.items if isinstance(value, ast.Tuple) else (value,):
                    term = _wide(lw, relation)
                    if term is not None and term.type == BOOL:
                        made.append(term)
    return tuple(made)


def _wide(lw: Lowering, node: ast.Expr) -> Expr | None:
    """A relation or sum of the contract's grammar as a term of 64 bits; None for anything else."""
    match node:
        case ast.Binary(op=op, left=left, right=right):
            a, b = _wide(lw, left), _wide(lw, right)
            known = COMPARING.get(op) or ARITHMETIC.get(op)
            if a is None or b is None or known is None:
                return None
            return terms.binary(known, a, b, nowrap=True)
        case ast.MethodCall(name="len", args=()) | ast.PathExpr() | ast.Lit():
            with lw.body() as body:
                value = lw.expr(node, ScalarTy(USIZE))
            term = value.term if isinstance(value, Scalar) else None
            if term is None or not is_empty(body) or term.type.kind != "int":
                return None
            return terms.cast(term, U64)
        case _:
            return None


def _arguments(attribute: ast.Attribute) -> tuple[ast.Expr, ...]:
    path = ast.Path(attribute.span, ("attribute",))
    return parse_args(ast.MacroCall(attribute.span, path, attribute.text, attribute.span)) or ()


def _number(lw: Lowering, node: ast.Expr) -> int | None:
    return terms.const_int(constant(lw, node, lw.env, U32))


def _numbers(lw: Lowering, attribute: ast.Attribute) -> list[int]:
    values = [_number(lw, arg) for arg in _arguments(attribute)]
    return [v for v in values if v is not None] if None not in values else []


def _triple(lw: Lowering, node: ast.Expr) -> tuple[int, int, int] | None:
    if isinstance(node, ast.Tuple):
        values = [_number(lw, item) for item in node.items]
        if len(values) == 3 and None not in values:
            return (values[0] or 0, values[1] or 0, values[2] or 0)
    return None
