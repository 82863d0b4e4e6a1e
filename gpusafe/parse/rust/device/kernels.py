"""Kernels of a program: finding them, their parameters as launches pass them, their launch contracts."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace

from gpusafe.ir import kernel as k
from gpusafe.ir.expr import PTR, U32, USIZE, Const, Expr, Length, Param, PtrBase
from gpusafe.parse.rust import ast
from gpusafe.parse.rust.device import cubecl, layout, patterns, terms
from gpusafe.parse.rust.device.control import block_value
from gpusafe.parse.rust.device.engine import new_lowering
from gpusafe.parse.rust.device.finish import Finisher
from gpusafe.parse.rust.device.frames import Scope, TypeEnv
from gpusafe.parse.rust.device.launch_contracts import launch_contract, launch_requirements
from gpusafe.parse.rust.device.lowering import Gap, Lowering, Problem, TooBig
from gpusafe.parse.rust.device.paths import interior
from gpusafe.parse.rust.device.program import FnDef, Module, Program, make_def
from gpusafe.parse.rust.device.types import (
    AdtTy,
    ArrayTy,
    AtomicTy,
    FnTy,
    ForeignTy,
    ParamTy,
    PtrTy,
    ScalarTy,
    SliceTy,
    TupleTy,
    Ty,
    VarTy,
    show,
)
from gpusafe.parse.rust.device.values import (
    Agg,
    ArrayVal,
    EnumVal,
    Fat,
    Scalar,
    Unknown,
    Value,
)
from gpusafe.parse.rust.device.variables import declare
from gpusafe.parse.rust.device.written import lower_type
from gpusafe.parse.syntax_cfg import DEVICE, item_sets
from gpusafe.span import Span

_KERNEL_ABIS = ("ptx-kernel", "gpu-kernel")
_MAX_LEAVES = 64
_STACK = 8000  # Python frames: about twenty for each of MAX_NESTING expressions


@dataclass(frozen=True, slots=True)
class KernelFn:
    """A function that is a kernel, and the dialect that makes it one."""

    fn: FnDef
    dialect: str


def kernel_functions(program: Program, root: Module) -> Iterator[KernelFn]:
    """The kernels in a module tree, in order of the source."""
    for module in sorted(program.walk(root), key=lambda m: m.path):
        for item in module.items:
            if isinstance(item, ast.Fn) and (item.body is not None or item.problem) and DEVICE in item_sets(item):
                dialect = dialect_of(program, module, item)
                made = make_def(item, module)
                if dialect is not None and isinstance(made, FnDef):
                    yield KernelFn(made, dialect)


def dialect_of(program: Program, module: Module, item: ast.Fn) -> str | None:
    """Which dialect makes a function a kernel; None when it is not one."""
    if item.abi in _KERNEL_ABIS:
        return "ptx-kernel"
    if cubecl.launch_mode(item) is not None:
        return cubecl.DIALECT
    attribute = item.attribute("kernel")
    if attribute is None:
        return None
    segments = tuple(attribute.path.split("::"))
    crates = [segments[0]] if len(segments) > 1 else []
    here: Module | None = module
    while here is not None:
        crates += [path[0] for path in here.uses.get("kernel", ())]
        if here.parent is not None or not crates:
            crates += [glob[0] for glob in here.globs]
        crates += [path[0] for paths in here.uses.values() for path in paths]
        here = here.parent
    for crate in crates:
        if crate in ("cuda_device", "cuda_oxide", "cuda_host", "cuda_core"):
            return "cuda-oxide"
        if crate == "cuda_std":
            return "cuda_std"
        if crate in ("krnl", "krnl_core"):
            return None
    return "cuda_std"


def launch_name(item: ast.Fn) -> str:
    """The name that launches use."""
    for attribute in item.attributes:
        if attribute.path == "export_name" or attribute.path.endswith("::export_name"):
            return attribute.text.strip().strip("=").strip().strip('"')
        if attribute.path in ("unsafe", "cfg_attr") and "export_name" in attribute.text:
            return attribute.text.split("export_name", 1)[1].split('"')[1] if '"' in attribute.text else item.name
    return item.name


def lower_kernel(program: Program, found: KernelFn, crate: str) -> tuple[k.Kernel, tuple[Problem, ...]]:
    """The IR of one kernel; never raises."""
    item = found.fn.item
    path = "::".join((crate, *found.fn.module.path[1:], item.name))
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _STACK))
    try:
        return _lower(program, found, path), ()
    except (TooBig, RecursionError) as error:
        reason = str(error) if isinstance(error, TooBig) else "the kernel is nested too deeply"
        return _unmodelled(program, found, path, reason), (Problem(item.name, reason, item.span),)
    except Exception as error:
        what = f"{type(error).__name__}: {error}"
        made = _unmodelled(program, found, path, "an internal error of gpusafe")
        return made, (Problem(item.name, what, item.span),)
    finally:
        sys.setrecursionlimit(limit)


def _lower(program: Program, found: KernelFn, path: str) -> k.Kernel:
    fn = found.fn
    item = fn.item
    generics: dict[str, Ty | Expr] = {}
    env = TypeEnv(fn.module, generics)
    lw = new_lowering(program, found.dialect, fn, env)
    _generics(lw, item, generics, env)
    contract = launch_contract(lw, item)
    lw.domain, lw.cluster = contract.domain, contract.cluster
    attribute = item.attribute("kernel")
    lw.unchecked = attribute is not None and "unchecked_indexing" in attribute.text
    lw.mode = cubecl.launch_mode(item) if found.dialect == cubecl.DIALECT else None
    lw.unchecked = lw.unchecked or lw.mode == "launch_unchecked"
    lw.frame.site = fn.module.site
    params = _Params(lw, found.dialect)
    lw.scope = Scope(None, fn.module)
    for number, param in enumerate(item.params):
        params.add(number, param)
    requires = launch_requirements(lw, item)
    _launch_context(lw, attribute)
    if item.body is None or item.problem:
        lw.unmodelled(item.problem or "a kernel without a body", item.span)
    else:
        block_value(lw, item.body, None)
    finisher = Finisher(lw.infer)
    body = finisher.body(lw.out)
    stated = tuple(map(finisher.term, requires))
    return k.Kernel(
        launch_name(item),
        path,
        found.dialect,
        tuple(params.made),
        tuple(finisher.region(r) for r in lw.regions.values()),
        body,
        fn.module.site or item.span,
        replace(contract, requires=stated),
        stated,
        generic=lw.generic or _open(lw, item, params),
        granted=cubecl.granted(item) if lw.mode is not None else (),
    )


def _open(lw: Lowering, item: ast.Fn, params: _Params) -> bool:
    """Whether the kernel has type or const parameters that nothing settles."""
    if lw.mode is not None:
        return any(g.kind == "type" and cubecl.stand_in(g) is None for g in item.generics)
    return any(g.kind != "lifetime" for g in item.generics) and not params.instantiated


def _generics(lw: Lowering, item: ast.Fn, generics: dict[str, Ty | Expr], env: TypeEnv) -> None:
    """Generic parameters: from ``#[kernel(T1, ..)]``, else opaque."""
    attribute = item.attribute("kernel")
    names = [t.strip() for t in attribute.text.split(",")] if attribute is not None else []
    given = [t for t in names if t and "=" not in t and t != "unchecked_indexing"]
    wanted = [g for g in item.generics if g.kind != "lifetime"]
    for index, param in enumerate(wanted):
        text = given[index] if index < len(given) else None
        if param.kind == "type":
            bounds = [b for b in param.bounds if isinstance(b, ast.TypePath)]
            is_fn = any(b.path.last in ("Fn", "FnMut", "FnOnce") for b in bounds)
            simple = ast.TypePath(param.span, ast.Path(param.span, tuple(text.split("::")))) if text else None
            if simple is not None and text is not None and text.isidentifier():
                generics[param.name] = lower_type(lw, simple, env)
            elif lw.dialect == cubecl.DIALECT and (stand_in := cubecl.stand_in(param)) is not None:
                generics[param.name] = stand_in
            else:
                generics[param.name] = FnTy() if is_fn else ParamTy(param.name)
        else:
            ty = lower_type(lw, param.type, env) if param.type is not None else None
            type_ = ty.type if isinstance(ty, ScalarTy) else USIZE
            value = int(text) if text is not None and text.isdigit() else None
            generics[param.name] = terms.int_const(value, type_) if value is not None else Param(type_, param.name)


def _launch_context(lw: Lowering, attribute: ast.Attribute | None) -> None:
    if attribute is None or "launch_context" not in attribute.text:
        return
    name = attribute.text.split("launch_context", 1)[1].lstrip(" =").split(",")[0].strip()
    if name.isidentifier():
        value = Unknown(ForeignTy("LaunchContext"), "the launch context")
        declare(lw, name, value.ty, value, False, lw.frame.fn.item.span if lw.frame.fn else attribute.span)


class _Params:
    """The parameters of a kernel: IR descriptions, regions, and the values that the body sees."""

    def __init__(self, lw: Lowering, dialect: str) -> None:
        self.lw = lw
        self.slice_slots = 1 if dialect == "cuda-oxide" else 2
        self.made: list[k.KernelParam] = []
        self.instantiated = False

    def add(self, number: int, param: ast.Param) -> None:
        """One parameter of the function."""
        lw = self.lw
        name = param.pat.name if isinstance(param.pat, ast.PatIdent) else f"arg{number}"
        lw.names[name] += 1  # locals of the same name are told apart from it
        ty = lw.infer.deep(lw.type(param.type)) if param.type is not None else lw.infer.fresh()
        try:
            value = self._value(number, name, ty, param.span)
        except Gap as gap:
            self.made.append(k.KernelParam(name, "opaque", None, None, param.span))
            value = Unknown(ty, str(gap))
        frame_site, lw.frame.site = lw.frame.site, param.span  # the parameter itself is no kept borrow
        pat = param.pat
        if isinstance(pat, ast.PatIdent) and self.made and self.made[-1].kind == "disjoint":
            pat = ast.PatIdent(pat.span, pat.name)  # `mut` is for its methods, it is not assigned
        patterns.let(lw, pat, value, param.span)
        lw.frame.site = frame_site

    def _value(self, number: int, name: str, ty: Ty, span: Span) -> Value:
        match ty:
            case ScalarTy(type=t):
                self.made.append(k.KernelParam(name, "scalar", t, None, span))
                return Scalar(ty, Param(t, name))
            case PtrTy(inner=inner) if isinstance(inner, SliceTy):
                return self._slice(number, name, ty, inner.elem, span)
            case PtrTy():
                return self._pointer(number, name, ty, span)
            case AdtTy(adt=adt) if adt.module.family == "oxide" and adt.name == "DisjointSlice":
                return self._disjoint(number, name, ty, span)
            case AdtTy(adt=adt, args=(inner,)) if adt.module.family == "oxide" and adt.name == "Uniform":
                assert isinstance(inner, Ty)
                return Agg(ty, (("value", self._value(number, name, inner, span)),))
            case _:
                return self._opaque(number, name, ty, span)

    def _region(
        self, number: int, name: str, elem: Ty, length: Expr | None, span: Span, read_only: bool, exclusive: bool
    ) -> Expr:
        lw = self.lw
        try:
            size, _ = layout.size_align(lw, elem)
        except Gap:
            lw.generic = True
            size = layout.GENERIC_SIZE
        lw.regions[name] = k.Region(
            name, k.Space.GLOBAL, max(size, 1), length, span, number, read_only=read_only, exclusive=exclusive
        )
        return PtrBase(PTR, name)

    def _slice(self, number: int, name: str, ty: PtrTy, elem: Ty, span: Span) -> Value:
        lw = self.lw
        length = Length(USIZE, name)
        read_only = ty.is_ref and not ty.mutable and not interior(lw, elem)
        exclusive = ty.is_ref and ty.mutable and lw.mode is None
        base = self._region(number, name, elem, length, span, read_only, exclusive)
        kind = "slice_mut" if ty.mutable else "slice"
        self.made.append(k.KernelParam(name, kind, lw.infer.term_type(_content(elem)), name, span, self.slice_slots))
        return Fat(ty, base, length)

    def _pointer(self, number: int, name: str, ty: PtrTy, span: Span) -> Value:
        lw = self.lw
        inner = lw.infer.shallow(ty.inner)
        elem: Ty = inner
        length: Expr | None = terms.int_const(1) if ty.is_ref else None
        if isinstance(inner, ArrayTy) and (ty.is_ref or terms.const_int(inner.length) is not None):
            elem = lw.infer.shallow(inner.elem)
            length = inner.length if ty.is_ref else None
        read_only = ty.is_ref and not ty.mutable and not interior(lw, inner)
        base = self._region(number, name, elem, length, span, read_only, ty.is_ref and ty.mutable)
        self.made.append(k.KernelParam(name, "pointer", lw.infer.term_type(_content(elem)), name, span))
        return Scalar(ty, base)

    def _disjoint(self, number: int, name: str, ty: AdtTy, span: Span) -> Value:
        lw = self.lw
        elem = ty.args[0] if ty.args and isinstance(ty.args[0], Ty) else lw.infer.fresh()
        space = ty.args[1] if len(ty.args) > 1 else None
        runtime = isinstance(space, AdtTy) and space.adt.name in ("Runtime2DIndex", "RuntimeRowMajorTiles")
        length = Length(USIZE, name)
        base = self._region(number, name, elem, length, span, False, True)
        width = f"{name}.row_width" if runtime else None
        self.made.append(
            k.KernelParam(name, "disjoint", lw.infer.term_type(_content(elem)), name, span, row_width=width)
        )
        u32 = ScalarTy(U32)
        fields: tuple[tuple[str, Value], ...] = (
            ("ptr", Scalar(PtrTy(elem, True, False), base)),
            ("len", lw.scalar(length)),
            ("space", Scalar(u32, Param(U32, width) if width else Const(U32, 0))),
        )
        return Agg(ty, fields)

    def _opaque(self, number: int, name: str, ty: Ty, span: Span) -> Value:
        """A struct and the like: one launch argument, its scalars as parameters of their own."""
        if isinstance(ty, FnTy | VarTy | ParamTy | ForeignTy):
            type_ = None
            self.made.append(k.KernelParam(name, "opaque", type_, None, span))
            return Unknown(ty, f"the parameter `{name}`")
        leaves: list[Param] = []
        value = self._leaves(number, name, ty, span, leaves, 0)
        only = leaves[0].type if len(leaves) == 1 else None
        self.made.append(k.KernelParam(name, "opaque", only, None, span))
        return value

    def _leaves(self, number: int, name: str, ty: Ty, span: Span, leaves: list[Param], depth: int) -> Value:
        lw = self.lw
        ty = lw.infer.shallow(ty)
        if len(leaves) > _MAX_LEAVES or depth > 8:
            return Unknown(ty, f"a part of the parameter `{name}`")
        match ty:
            case ScalarTy(type=t):
                param = Param(t, name)
                leaves.append(param)
                return Scalar(ty, param)
            case PtrTy(inner=inner) if not isinstance(inner, SliceTy):
                length = terms.int_const(1) if ty.is_ref else None
                read_only = ty.is_ref and not ty.mutable and not interior(lw, inner)
                base = self._region(number, name, inner, length, span, read_only, ty.is_ref and ty.mutable)
                return Scalar(ty, base)
            case PtrTy(inner=SliceTy(elem=elem)):
                count = Length(USIZE, name)
                read_only = ty.is_ref and not ty.mutable and not interior(lw, elem)
                return Fat(
                    ty, self._region(number, name, elem, count, span, read_only, ty.is_ref and ty.mutable), count
                )
            case TupleTy(items=items):
                parts = [
                    (str(i), self._leaves(number, f"{name}.{i}", t, span, leaves, depth + 1))
                    for i, t in enumerate(items)
                ]
                return Agg(ty, tuple(parts))
            case ArrayTy(elem=elem, length=length) if (terms.const_int(length) or _MAX_LEAVES + 1) <= _MAX_LEAVES:
                made = [
                    self._leaves(number, f"{name}[{i}]", elem, span, leaves, depth + 1)
                    for i in range(terms.const_int(length) or 0)
                ]
                return ArrayVal(ty, tuple(made))
            case AdtTy(adt=adt) if isinstance(adt.item, ast.Struct) and adt.item.kind == "struct":
                fields = layout.struct_fields(lw, ty)
                parts = [(n, self._leaves(number, f"{name}.{n}", t, span, leaves, depth + 1)) for n, t in fields]
                return Agg(ty, tuple(parts))
            case AdtTy(adt=adt) if isinstance(adt.item, ast.Enum) and not any(v.fields for v in adt.item.variants):
                tag = Param(layout.tag_type(ty), name)
                leaves.append(tag)
                return EnumVal(ty, tag, tuple((i, ()) for i in range(len(adt.item.variants))))
            case _:
                return Unknown(ty, f"the parameter `{name}` of type `{show(ty)}`")


def _content(ty: Ty) -> Ty:
    return ty.content if isinstance(ty, AtomicTy) else ty


def _unmodelled(program: Program, found: KernelFn, path: str, reason: str) -> k.Kernel:
    """A kernel whose body is one gap, with its signature where that can be read."""
    item = found.fn.item
    params: list[k.KernelParam] = []
    regions: dict[str, k.Region] = {}
    try:
        env = TypeEnv(found.fn.module, {})
        lw = new_lowering(program, found.dialect, found.fn, env)
        _generics(lw, item, env.generics, env)  # type: ignore[arg-type]
        made = _Params(lw, found.dialect)
        for number, param in enumerate(item.params):
            made.add(number, param)
        params, regions = made.made, lw.regions
    except Exception:
        params = [k.KernelParam(f"arg{n}", "opaque", None, None, p.span) for n, p in enumerate(item.params)]
        regions = {}
    return k.Kernel(
        launch_name(item),
        path,
        found.dialect,
        tuple(params),
        tuple(regions.values()),
        (k.Unmodelled(found.fn.module.site or item.span, reason),),
        found.fn.module.site or item.span,
    )
