"""Cooperative groups: who takes part, and the barrier or shuffle that a method stands for."""

from __future__ import annotations

from collections.abc import Callable

from gpusafe.ir import kernel as k
from gpusafe.ir.expr import BOOL, I32, U32, Const, Expr, Op, Special
from gpusafe.parse.cuda import terms
from gpusafe.parse.cuda import types as t
from gpusafe.parse.cuda.builtin.site import CallSite
from gpusafe.parse.cuda.builtin.warp import shuffle
from gpusafe.parse.cuda.context import Context, Unsupported
from gpusafe.parse.cuda.places import truth
from gpusafe.parse.cuda.values import Aggregate, HandleValue, NoValue, Operand, Term, Value

Builtin = Callable[[Context, CallSite], Operand]
Method = Callable[[Context, CallSite, HandleValue], Operand]
NOTHING = NoValue(t.VOID)
WARP_SIZE = 32


def special(name: str) -> Expr:
    """A special register."""
    return Special(U32, name)


def linear_thread() -> Expr:
    """``threadIdx`` as one number: x + y * nx + z * nx * ny."""
    row = terms.binary(Op.MUL, special("tid.y"), special("ntid.x"))
    plane = terms.binary(Op.MUL, terms.binary(Op.MUL, special("tid.z"), special("ntid.x")), special("ntid.y"))
    return terms.binary(Op.ADD, terms.binary(Op.ADD, special("tid.x"), row), plane)


def linear_block() -> Expr:
    """``blockIdx`` as one number."""
    row = terms.binary(Op.MUL, special("ctaid.y"), special("nctaid.x"))
    plane = terms.binary(Op.MUL, terms.binary(Op.MUL, special("ctaid.z"), special("nctaid.x")), special("nctaid.y"))
    return terms.binary(Op.ADD, terms.binary(Op.ADD, special("ctaid.x"), row), plane)


def _product(register: str) -> Expr:
    x, y, z = (special(f"{register}.{axis}") for axis in "xyz")
    return terms.binary(Op.MUL, terms.binary(Op.MUL, x, y), z)


def _handle(kind: str) -> Builtin:
    def handler(x: Context, site: CallSite) -> Operand:
        return HandleValue(t.Handle(kind))

    return handler


def _tile(x: Context, site: CallSite) -> Operand:
    """``tiled_partition<N>(parent)`` and ``tiled_partition(parent, n)``."""
    site.operand(x, 0)
    size = site.explicit[0] if site.explicit else None
    if size is None and len(site.args) > 1:
        size = site.value(x, 1)
    count = terms.value_of(size.expr) if isinstance(size, Term) else None
    if count is None:
        raise Unsupported("`tiled_partition` with a size that is not a constant")
    return HandleValue(t.Handle("tile group", (Term(t.INT, Const(I32, count)),)))


def _coalesced(x: Context, site: CallSite) -> Operand:
    mask = x.temporary("active mask", U32)
    x.emit(k.WarpOp(site.span, mask.name, "activemask", None, (), U32))
    return HandleValue(t.Handle("coalesced group"), {"mask": Term(t.UINT, mask)})


def _barrier(scope: k.Scope, action: str = "sync") -> Method:
    def handler(x: Context, site: CallSite, group: HandleValue) -> Operand:
        if scope in (k.Scope.BLOCK, k.Scope.DEVICE) and action != "sync":
            raise Unsupported(f"`{site.last}` of a group")
        x.emit(k.Barrier(site.span, scope, action))
        return NOTHING

    return handler


def tile_size(group: HandleValue) -> int | None:
    """The number of threads in a tile, None when not known."""
    size = group.type.args[0] if group.type.args else None
    return terms.value_of(size.expr) if isinstance(size, Term) else None


def tile_mask(group: HandleValue) -> Expr | None:
    """The lanes of the thread's tile (None: the whole warp)."""
    if "mask" in group.parts:
        mask = group.parts["mask"]
        assert isinstance(mask, Term)
        return mask.expr
    size = tile_size(group)
    if size is None or size > WARP_SIZE or size & (size - 1):
        raise Unsupported("a tile whose size is not a power of two up to 32")
    if size == WARP_SIZE:
        return None
    lane = special("laneid")
    first = terms.binary(Op.SUB, lane, terms.binary(Op.REM, lane, Const(U32, size)))
    return terms.binary(Op.SHL, Const(U32, (1 << size) - 1), first)


def _tile_sync(x: Context, site: CallSite, group: HandleValue) -> Operand:
    x.emit(k.Barrier(site.span, k.Scope.WARP, mask=tile_mask(group)))
    return NOTHING


def _tile_shuffle(op: str) -> Method:
    def handler(x: Context, site: CallSite, group: HandleValue) -> Operand:
        if "mask" in group.parts:
            raise Unsupported(f"`{site.last}` of a coalesced group")
        value = site.value(x, 0)
        lane = site.term(x, 1, t.UINT)
        width = Const(I32, tile_size(group) or WARP_SIZE)
        return shuffle(x, op, tile_mask(group), value, lane, width, site.span, site.last)

    return handler


def _tile_vote(op: str) -> Method:
    def handler(x: Context, site: CallSite, group: HandleValue) -> Operand:
        predicate = truth(site.value(x, 0))
        if op == "ballot" and tile_mask(group) is not None:
            raise Unsupported("`ballot` of a tile smaller than a warp")
        type_ = U32 if op == "ballot" else BOOL
        var = x.temporary(site.last, type_)
        x.emit(k.WarpOp(site.span, var.name, op, tile_mask(group), (predicate,), type_))
        return Term(t.UINT, var) if op == "ballot" else Term(t.INT, terms.cast(var, I32))

    return handler


def _unsigned(make: Callable[[HandleValue], Expr]) -> Method:
    def handler(x: Context, site: CallSite, group: HandleValue) -> Operand:
        return Term(t.UINT, make(group))

    return handler


def _tile_number(group: HandleValue) -> int:
    size = tile_size(group)
    if size is None:
        raise Unsupported("a tile whose size is not known")
    return size


def _tile_rank(group: HandleValue) -> Expr:
    if "mask" in group.parts:
        raise Unsupported("the rank in a coalesced group")
    return terms.binary(Op.REM, linear_thread(), Const(U32, _tile_number(group)))


def _tile_index(group: HandleValue) -> Expr:
    return terms.binary(Op.DIV, linear_thread(), Const(U32, _tile_number(group)))


def _tile_count(group: HandleValue) -> Expr:
    size = _tile_number(group)
    return terms.binary(Op.DIV, terms.binary(Op.ADD, _product("ntid"), Const(U32, size - 1)), Const(U32, size))


def _grid_rank(group: HandleValue) -> Expr:
    block = terms.cast(linear_block(), t.ULONG.type)
    size = terms.cast(_product("ntid"), t.ULONG.type)
    return terms.binary(Op.ADD, terms.binary(Op.MUL, block, size), terms.cast(linear_thread(), t.ULONG.type))


def _grid_size(group: HandleValue) -> Expr:
    blocks, size = (terms.cast(_product(r), t.ULONG.type) for r in ("nctaid", "ntid"))
    return terms.binary(Op.MUL, blocks, size)


def _long(make: Callable[[HandleValue], Expr]) -> Method:
    def handler(x: Context, site: CallSite, group: HandleValue) -> Operand:
        return Term(t.ULONG, make(group))

    return handler


def _axes(register: str) -> Method:
    def handler(x: Context, site: CallSite, group: HandleValue) -> Operand:
        kind = t.builtin_type("dim3")
        assert isinstance(kind, t.Struct)
        return Aggregate(kind, tuple(Term(t.UINT, special(f"{register}.{axis}")) for axis in "xyz"))

    return handler


def _sync_function(x: Context, site: CallSite) -> Operand:
    """``cooperative_groups::sync(group)``."""
    group = site.value(x, 0)
    if isinstance(group, HandleValue):
        method = GROUP_METHODS.get((group.type.kind, "sync"))
        if method is not None:
            return method(x, site, group)
    raise Unsupported("`sync` of an unknown group")


def _reduce(x: Context, site: CallSite) -> Operand:
    """``cg::reduce(tile, value, op)``: a warp collective."""
    group = site.value(x, 0)
    value: Value = site.value(x, 1)
    if not isinstance(group, HandleValue) or not isinstance(value, Term):
        raise Unsupported("`reduce` of a group")
    var = x.temporary("reduce", value.expr.type)
    x.emit(k.WarpOp(site.span, var.name, "redux_add", tile_mask(group), (value.expr,), value.expr.type))
    made = x.havoc(site.span, "reduced", value.expr.type, "the result of `reduce` over a group")
    return Term(t.plain(value.type), made)


GROUP_FUNCTIONS: dict[str, Builtin] = {
    "this_thread_block": _handle("block group"),
    "this_grid": _handle("grid group"),
    "this_cluster": _handle("cluster group"),
    "this_thread": _handle("thread"),
    "tiled_partition": _tile,
    "coalesced_threads": _coalesced,
    "sync": _sync_function,
    "synchronize": _sync_function,
    "reduce": _reduce,
}
_BLOCK: dict[str, Method] = {
    "sync": _barrier(k.Scope.BLOCK),
    "thread_rank": _unsigned(lambda _g: linear_thread()),
    "size": _unsigned(lambda _g: _product("ntid")),
    "num_threads": _unsigned(lambda _g: _product("ntid")),
    "thread_index": _axes("tid"),
    "group_index": _axes("ctaid"),
    "group_dim": _axes("ntid"),
    "dim_threads": _axes("ntid"),
}
_GRID: dict[str, Method] = {
    "sync": _barrier(k.Scope.DEVICE),
    "thread_rank": _long(_grid_rank),
    "size": _long(_grid_size),
    "num_threads": _long(_grid_size),
    "block_rank": _long(lambda _g: terms.cast(linear_block(), t.ULONG.type)),
    "num_blocks": _long(lambda _g: terms.cast(_product("nctaid"), t.ULONG.type)),
    "group_dim": _axes("nctaid"),
    "block_index": _axes("ctaid"),
    "dim_blocks": _axes("nctaid"),
}
_CLUSTER: dict[str, Method] = {
    "sync": _barrier(k.Scope.CLUSTER),
    "barrier_arrive": _barrier(k.Scope.CLUSTER, "arrive"),
    "barrier_wait": _barrier(k.Scope.CLUSTER, "wait"),
    "block_rank": _unsigned(lambda _g: special("cluster_ctarank")),
    "num_blocks": _unsigned(lambda _g: special("cluster_nctarank")),
}
_TILE: dict[str, Method] = {
    "sync": _tile_sync,
    "shfl": _tile_shuffle("shfl_idx"),
    "shfl_up": _tile_shuffle("shfl_up"),
    "shfl_down": _tile_shuffle("shfl_down"),
    "shfl_xor": _tile_shuffle("shfl_xor"),
    "any": _tile_vote("any"),
    "all": _tile_vote("all"),
    "ballot": _tile_vote("ballot"),
    "thread_rank": _unsigned(_tile_rank),
    "size": _unsigned(lambda g: Const(U32, _tile_number(g))),
    "num_threads": _unsigned(lambda g: Const(U32, _tile_number(g))),
    "meta_group_rank": _unsigned(_tile_index),
    "meta_group_size": _unsigned(_tile_count),
}


def _coalesced_size(group: HandleValue) -> Expr:
    mask = tile_mask(group)
    assert mask is not None
    return terms.unary(Op.POPC, mask)


def _coalesced_rank(group: HandleValue) -> Expr:
    mask = tile_mask(group)
    assert mask is not None
    below = terms.binary(Op.SUB, terms.binary(Op.SHL, Const(U32, 1), special("laneid")), Const(U32, 1))
    return terms.unary(Op.POPC, terms.binary(Op.AND, mask, below))


GROUP_METHODS: dict[tuple[str, str], Method] = {
    **{("block group", name): method for name, method in _BLOCK.items()},
    **{("grid group", name): method for name, method in _GRID.items()},
    **{("cluster group", name): method for name, method in _CLUSTER.items()},
    **{("tile group", name): method for name, method in _TILE.items()},
    ("coalesced group", "sync"): _tile_sync,
    ("coalesced group", "any"): _tile_vote("any"),
    ("coalesced group", "all"): _tile_vote("all"),
    ("coalesced group", "size"): _unsigned(_coalesced_size),
    ("coalesced group", "num_threads"): _unsigned(_coalesced_size),
    ("coalesced group", "thread_rank"): _unsigned(_coalesced_rank),
}
