"""Which impl gives a type its methods: matching self types, finding functions by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gpusafe.ir.expr import Expr
from gpusafe.parse.rust import ast
from gpusafe.parse.rust.device.frames import TypeEnv
from gpusafe.parse.rust.device.lowering import Lowering
from gpusafe.parse.rust.device.program import ConstDef, FnDef, ImplDef, Module, TraitDef
from gpusafe.parse.rust.device.types import (
    AdtTy,
    ArrayTy,
    AtomicTy,
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
from gpusafe.parse.rust.device.written import generic_args, lower_type


def head(ty: Ty) -> str:
    """What impls of a type are indexed by: the last segment of its name."""
    match ty:
        case AdtTy(adt=adt):
            return adt.name
        case ScalarTy():
            return show(ty)
        case ForeignTy(name=name) | ParamTy(name=name):
            return name.rsplit("::", 1)[-1]
        case AtomicTy(content=content):
            return f"Atomic{show(content).upper()}"
        case _:
            return ""


def _any(_: ImplDef) -> bool:
    return True


def matching_impls(lw: Lowering, ty: Ty, wanted: Callable[[ImplDef], bool] = _any) -> Iterator[tuple[ImplDef, TypeEnv]]:
    """The impl blocks for a type that are ``wanted``, each with its generic parameters bound."""
    ty = lw.infer.deep(ty)
    heads = [head(ty)]
    if isinstance(ty, ScalarTy) and ty.type.bits == 64 and ty.type.kind == "int":
        heads.append("isize" if ty.type.signed else "usize")
    if isinstance(ty, VarTy):
        heads = {"int": ["i32"], "float": ["f64"]}.get(lw.infer.kind(ty), [])
    seen: set[int] = set()
    for name in heads:
        for impl in lw.program.impls(name):
            if id(impl) not in seen and wanted(impl):
                seen.add(id(impl))
                env = match_impl(lw, impl, ty)
                if env is not None:
                    yield impl, env


def match_impl(lw: Lowering, impl: ImplDef, ty: Ty) -> TypeEnv | None:
    """Bind the parameters of an impl so that its self type is ``ty``; None when it is for another type."""
    outer = TypeEnv(impl.module)
    generics = generic_args(lw, impl.item.generics, (), outer, outer)
    pattern = lower_type(lw, impl.item.self_type, TypeEnv(impl.module, generics))
    bound: dict[str, Ty | Expr] = dict(generics)
    if not _match(lw, pattern, ty, bound, generics):
        return None
    return TypeEnv(impl.module, bound, ty)


def bind_type(lw: Lowering, pattern: Ty, ty: Ty, generics: dict[str, Ty | Expr], names: set[str]) -> None:
    """Bind the parameters ``names`` in ``generics`` as matching ``pattern`` (a parameter's type) with ``ty`` asks."""
    p, t = lw.infer.shallow(pattern), lw.infer.shallow(ty)
    if isinstance(p, PtrTy) and isinstance(t, PtrTy):
        p, t = lw.infer.shallow(p.inner), lw.infer.shallow(t.inner)  # references and pointers coerce
        if isinstance(p, SliceTy) and isinstance(t, ArrayTy):
            p, t = lw.infer.shallow(p.elem), lw.infer.shallow(t.elem)
    known = {n: g for n, g in generics.items() if n in names}
    bound: dict[str, Ty | Expr] = {}
    _match(lw, p, t, bound, known)
    generics.update(bound)


def refined(lw: Lowering, ty: AdtTy, fields: list[tuple[Ty, Ty]]) -> AdtTy:
    """``ty`` with the constant parameters that follow from pairs of a field's type and the type of its value."""
    if not any(_open(a) for a in ty.args):
        return ty
    names = [g.name for g in ty.adt.item.generics if g.kind != "lifetime"]
    known = dict(zip(names, ty.args, strict=False))
    bound: dict[str, Ty | Expr] = {}
    for pattern, given in fields:
        _match(lw, lw.infer.shallow(pattern), lw.infer.shallow(given), bound, known)
    return AdtTy(ty.adt, tuple(bound.get(n, a) if _open(a) else a for n, a in known.items()))


def _match(lw: Lowering, pattern: Ty, ty: Ty, bound: dict[str, Ty | Expr], generics: dict[str, Ty | Expr]) -> bool:
    todo: list[tuple[Ty | Expr, Ty | Expr]] = [(pattern, ty)]
    while todo:
        p, t = todo.pop()
        if isinstance(p, Expr) or isinstance(t, Expr):
            name = next((n for n, g in generics.items() if g is p), None)
            if name is not None and isinstance(t, Expr):
                bound[name] = t
            elif p != t and not _open(p) and not _open(t):
                return False
            continue
        p, t = lw.infer.shallow(p), lw.infer.shallow(t)
        if isinstance(p, VarTy):
            name = next((n for n, g in generics.items() if isinstance(g, Ty) and lw.infer.shallow(g) == p), None)
            if name is not None:
                bound[name] = t
            lw.infer.unify(p, t)
            continue
        if isinstance(t, VarTy):
            if not lw.infer.unify(t, p) and lw.infer.kind(t):
                return False
            continue
        match p, t:
            case (AdtTy(adt=f, args=ps), AdtTy(adt=g, args=ts)) if f is g:
                todo.extend(zip(ps, ts, strict=False))
            case (PtrTy(inner=x), PtrTy(inner=y)) if (p.mutable, p.is_ref) == (t.mutable, t.is_ref):
                todo.append((x, y))
            case (SliceTy(elem=x), SliceTy(elem=y)):
                todo.append((x, y))
            case (ArrayTy(elem=x, length=n), ArrayTy(elem=y, length=m)):
                todo += [(x, y), (n, m)]
            case (TupleTy(items=xs), TupleTy(items=ys)) if len(xs) == len(ys):
                todo.extend(zip(xs, ys, strict=True))
            case (AtomicTy(content=x, scope=s), AtomicTy(content=y, scope=u)) if s is u:
                todo.append((x, y))
            case _ if p == t:
                continue
            case _:
                return False
    return True


def _open(term: Ty | Expr) -> bool:
    return type(term).__name__ == "Opaque"


def find_method(lw: Lowering, ty: Ty, name: str) -> tuple[FnDef, TypeEnv] | None:
    """The associated function ``name`` of a type: inherent first, then of traits, then trait defaults."""
    traits: list[tuple[ImplDef, TypeEnv]] = []
    provided: tuple[FnDef, TypeEnv] | None = None
    for impl, env in matching_impls(lw, ty, lambda impl: _may_provide(lw, impl, name)):
        for item in impl.item.items:
            if isinstance(item, ast.Fn) and item.name == name:
                found = (FnDef(name, impl.module, item, impl), env)
                if impl.item.trait is None:
                    return found
                provided = provided or found
        if impl.item.trait is not None:
            traits.append((impl, env))
    if provided is not None:
        return provided
    for impl, env in traits:
        made = default_method(lw, impl.module, impl.item.trait, name, env)
        if made is not None:
            return made
    return None


def _may_provide(lw: Lowering, impl: ImplDef, name: str) -> bool:
    """Whether an impl, or the trait that it is of, has an item of that name."""
    if any(item.name == name for item in impl.item.items):
        return True
    if impl.item.trait is None:
        return False
    found = lw.program.resolve(impl.module, impl.item.trait.names, values=False)
    return (
        found is not None
        and isinstance(found.target, TraitDef)
        and any(item.name == name for item in found.target.item.items)
    )


def default_const(lw: Lowering, ty: Ty, name: str) -> tuple[ConstDef, TypeEnv] | None:
    """An associated constant that a trait of the type provides itself."""
    for impl, env in matching_impls(lw, ty, lambda impl: impl.item.trait is not None and _may_provide(lw, impl, name)):
        assert impl.item.trait is not None
        found = lw.program.resolve(impl.module, impl.item.trait.names, values=False)
        if found is None or not isinstance(found.target, TraitDef):
            continue
        for item in found.target.item.items:
            if isinstance(item, ast.Const) and item.name == name and item.value is not None:
                return ConstDef(name, found.target.module, item), TypeEnv(found.target.module, env.generics, ty)
    return None


def default_method(
    lw: Lowering, module: Module, trait: ast.Path | None, name: str, env: TypeEnv
) -> tuple[FnDef, TypeEnv] | None:
    """A method that a trait provides itself."""
    if trait is None:
        return None
    found = lw.program.resolve(module, trait.names, values=False)
    if found is None or not isinstance(found.target, TraitDef):
        return None
    target = found.target
    for item in target.item.items:
        if isinstance(item, ast.Fn) and item.name == name and item.body is not None:
            here = TypeEnv(module, env.generics, env.self_ty)
            generics = generic_args(lw, target.item.generics, trait.generics, here, TypeEnv(target.module))
            return FnDef(name, target.module, item, None, target), TypeEnv(target.module, generics, env.self_ty)
    return None
