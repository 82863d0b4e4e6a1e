"""Special registers by their PTX names."""

from __future__ import annotations

from gpusafe.ir.expr import U32, Expr, Op, Opaque, Special
from gpusafe.parse.rust.device import terms
from gpusafe.parse.rust.device.lowering import Lowering

_KNOWN = frozenset(
    {f"{r}.{a}" for r in ("tid", "ctaid", "ntid", "nctaid") for a in "xyz"}
    | {"laneid", "cluster_ctarank", "cluster_nctarank", "dynamic_smem_bytes"}
)
_AXES = {"x": 0, "y": 1, "z": 2}


def special_register(lw: Lowering, name: str) -> Expr | None:
    """The term of a special register that is the same at every read, None for others."""
    name = {"dynamic_smem_size": "dynamic_smem_bytes"}.get(name, name)
    if name in _KNOWN:
        return Special(U32, name)
    if name == "WARP_SZ":
        return terms.int_const(32, U32)
    register, _, axis = name.partition(".")
    if axis in _AXES and register in ("cluster_ctaid", "cluster_nctaid", "clusterid", "nclusterid"):
        return _cluster(lw, register, axis)
    return None


def _cluster(lw: Lowering, register: str, axis: str) -> Expr:
    """Places in the cluster follow from the block's place in the grid when the cluster's shape is fixed."""
    block, blocks = Special(U32, f"ctaid.{axis}"), Special(U32, f"nctaid.{axis}")
    if lw.cluster is None:
        return Opaque(U32, f"%{register}.{axis}", (block,) if register in ("cluster_ctaid", "clusterid") else ())
    width = terms.int_const(lw.cluster[_AXES[axis]], U32)
    match register:
        case "cluster_ctaid":
            return terms.binary(Op.REM, block, width)
        case "cluster_nctaid":
            return width
        case "clusterid":
            return terms.binary(Op.DIV, block, width)
        case _:
            return terms.binary(Op.DIV, blocks, width)
