"""Blocks that evidently leave the function: the walk looks at them last, so that few paths reach far."""

from __future__ import annotations

from gpusafe.parse.rust import ast

_MACROS = frozenset(["panic", "unreachable", "todo", "unimplemented", "bail"])
_CALLS = frozenset(["exit", "abort"])


def leaves(expr: ast.Expr | ast.Block) -> bool:
    """Whether the last thing that is done is to return, to panic or to end the process."""
    current: ast.Expr | ast.Block | None = expr
    for _ in range(8):
        match current:
            case ast.Block(tail=ast.Expr() as tail):
                current = tail
            case ast.Block(stmts=(*_, ast.ExprStmt(expr=last))):
                current = last
            case ast.BlockExpr(block=block):
                current = block
            case ast.Return():
                return True
            case ast.MacroCall(path=path):
                return path.last in _MACROS
            case ast.Call(func=ast.PathExpr(path=path)):
                return path.last in _CALLS
            case _:
                return False
    return False
