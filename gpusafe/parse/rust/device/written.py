"""What types written in the source mean: names resolved, generic parameters substituted."""

from __future__ import annotations

from gpusafe.ir.expr import USIZE, Const, Expr, Opaque, Type
from gpusafe.ir.kernel import Scope
from gpusafe.parse.rust import ast
from gpusafe.parse.rust.device import terms
from gpusafe.parse.rust.device.frames import TypeEnv
from gpusafe.parse.rust.device.lowering import Lowering
from gpusafe.parse.rust.device.program import AdtDef, AliasDef, ConstDef, ForeignDef, ImplDef, family
from gpusafe.parse.rust.device.types import (
    BOOL,
    NEVER,
    SCALARS,
    U32,
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
)

_CORE_ATOMICS = {
    **{f"AtomicU{b}": SCALARS[f"u{b}"] for b in (8, 16, 32, 64, 128)},
    **{f"AtomicI{b}": SCALARS[f"i{b}"] for b in (8, 16, 32, 64, 128)},
    "AtomicUsize": SCALARS["usize"],
    "AtomicIsize": SCALARS["isize"],
    "AtomicBool": BOOL,
}
"""Atomics of ``core``: SYSTEM scope (reference/rust-atomics-to-ptx)."""

_OXIDE_SCOPES = {"Device": Scope.DEVICE, "Block": Scope.BLOCK, "System": Scope.SYSTEM}
_CUDA_STD_ATOMICS = {
    "AtomicF32": ("f32", Scope.DEVICE),
    "AtomicF64": ("f64", Scope.DEVICE),
    "BlockAtomicF32": ("f32", Scope.BLOCK),
    "BlockAtomicF64": ("f64", Scope.BLOCK),
    # device scope in spite of their name: Rust-CUDA issue 399
    "SystemAtomicF32": ("f32", Scope.DEVICE),
    "SystemAtomicF64": ("f64", Scope.DEVICE),
}
_MAX_ALIASES = 16


def atomic_type(name: str, crate: str | None) -> AtomicTy | None:
    """The atomic type of that name in a family of crates (any, if ``crate`` is None)."""
    if name in _CORE_ATOMICS and crate in (None, "core"):
        return AtomicTy(_CORE_ATOMICS[name], Scope.SYSTEM)
    if name in _CUDA_STD_ATOMICS and crate in (None, "cuda_std"):
        scalar, scope = _CUDA_STD_ATOMICS[name]
        return AtomicTy(SCALARS[scalar], scope)
    for prefix, scope in _OXIDE_SCOPES.items():
        content = name.removeprefix(f"{prefix}Atomic").lower()
        if name.startswith(f"{prefix}Atomic") and content in SCALARS and crate in (None, "oxide"):
            return AtomicTy(SCALARS[content], scope)
    return None


def lower_type(lw: Lowering, node: ast.Type, env: TypeEnv) -> Ty:
    """The type that ``node`` denotes where the names of ``env`` are in sight."""
    match node:
        case ast.TypePath(path=path):
            return _path_type(lw, path, env)
        case ast.TypeRef(inner=inner, mutable=mutable):
            return PtrTy(lower_type(lw, inner, env), mutable, True)
        case ast.TypePtr(inner=inner, mutable=mutable):
            return PtrTy(lower_type(lw, inner, env), mutable, False)
        case ast.TypeSlice(inner=inner):
            return SliceTy(lower_type(lw, inner, env))
        case ast.TypeArray(inner=inner, length=length):
            return ArrayTy(lower_type(lw, inner, env), constant(lw, length, env))
        case ast.TypeTuple(items=items):
            return TupleTy(tuple(lower_type(lw, i, env) for i in items))
        case ast.TypeFn():
            return FnTy()
        case ast.TypeOther(text=text):
            return NEVER if text.strip() == "!" else lw.infer.fresh()
        case _:
            return lw.infer.fresh()


def constant(lw: Lowering, node: ast.Expr, env: TypeEnv, want: Type = USIZE) -> Expr:
    """The value of a constant expression in a type; an opaque term when it cannot be computed here."""
    saved = (lw.frame.env, lw.scope, lw.out, lw.dead, lw.hint)
    from gpusafe.parse.rust.device.frames import Scope as Names

    lw.frame.env, lw.scope, lw.out, lw.dead, lw.hint = env, Names(None, env.module), [], False, None
    try:
        value = lw.expr(node, ScalarTy(want))
    finally:
        lw.frame.env, lw.scope, lw.out, lw.dead, lw.hint = saved
    term = getattr(value, "term", None)
    if isinstance(term, Const) and term.type.kind == "infer":
        lw.infer.unify(lw.infer.scalar_of(term.type), ScalarTy(want))
        return terms.int_const(int(term.value), want)
    return term if isinstance(term, Expr) and not terms.variables(term) else Opaque(want, "a constant", ())


def generic_args(
    lw: Lowering,
    params: tuple[ast.GenericParam, ...],
    given: tuple[ast.Type | ast.Expr, ...],
    env: TypeEnv,
    inner: TypeEnv,
) -> dict[str, Ty | Expr]:
    """Bind generic parameters to the arguments given in ``env``; defaults are read in ``inner``; the rest is fresh."""
    made: dict[str, Ty | Expr] = {}
    wanted = [p for p in params if p.kind != "lifetime"]
    for index, param in enumerate(wanted):
        arg = given[index] if index < len(given) else param.default
        scope = env if index < len(given) else TypeEnv(inner.module, {**inner.generics, **made}, inner.self_ty)
        made[param.name] = one_arg(lw, param, arg, scope)
    return made


def one_arg(lw: Lowering, param: ast.GenericParam, arg: ast.Type | ast.Expr | None, env: TypeEnv) -> Ty | Expr:
    """One generic argument, a type or a constant as the parameter asks."""
    if param.kind == "const":
        want = Type("int", 64)
        if param.type is not None:
            ty = lower_type(lw, param.type, env)
            want = ty.type if isinstance(ty, ScalarTy) else want
        if arg is None or (isinstance(arg, ast.TypeOther) and arg.text.strip() == "_"):
            return Opaque(want, f"the constant {param.name}", ())
        expr = ast.PathExpr(arg.span, arg.path) if isinstance(arg, ast.TypePath) else arg
        if isinstance(expr, ast.Expr):
            return constant(lw, expr, env, want)
        return Opaque(want, f"the constant {param.name}", ())
    if isinstance(arg, ast.Type):
        return lower_type(lw, arg, env)
    if isinstance(arg, ast.PathExpr):
        return _path_type(lw, arg.path, env)
    return lw.infer.fresh()


def _path_type(lw: Lowering, path: ast.Path, env: TypeEnv) -> Ty:
    names = path.names
    if path.qself is not None:
        return associated_type(lw, lower_type(lw, path.qself, env), names[-1])
    if names[0] == "Self" and env.self_ty is not None:
        return env.self_ty if len(names) == 1 else associated_type(lw, env.self_ty, names[1])
    if names[0] in env.generics:
        bound = env.generics[names[0]]
        if isinstance(bound, Ty):
            return bound if len(names) == 1 else associated_type(lw, bound, names[1])
    if len(names) == 1 and names[0] in SCALARS:
        return SCALARS[names[0]]
    found = lw.program.resolve_in(lw.dialect, env.module, names, values=False)
    if found is None:
        return ForeignTy(str(path))
    return named_type(lw, found.target, path, env)


def named_type(lw: Lowering, target: object, path: ast.Path, env: TypeEnv) -> Ty:
    """The type that a definition stands for, with the generic arguments of ``path``."""
    for _ in range(_MAX_ALIASES):
        match target:
            case AdtDef():
                return adt_type(lw, target, path.generics or path.parent_generics, env)
            case AliasDef(item=item) if item.type is not None:
                inner = TypeEnv(target.module)
                bound = generic_args(lw, item.generics, path.generics, env, inner)
                return lower_type(lw, item.type, TypeEnv(target.module, bound, env.self_ty))
            case ForeignDef(path=foreign):
                return foreign_type(lw, foreign, path, env)
            case _:
                return ForeignTy(str(path))
    return ForeignTy(str(path))


def adt_type(lw: Lowering, adt: AdtDef, given: tuple[ast.Type | ast.Expr, ...], env: TypeEnv) -> AdtTy:
    """A struct or enum with generic arguments from the source."""
    bound = generic_args(lw, adt.item.generics, given, env, TypeEnv(adt.module))
    return AdtTy(adt, tuple(bound.values()))


def foreign_type(lw: Lowering, foreign: tuple[str, ...], path: ast.Path, env: TypeEnv) -> Ty:
    """A type of another crate that the prelude does not have."""
    name = foreign[-1]
    if name in SCALARS:
        return SCALARS[name]
    atomic = atomic_type(name, family(foreign))
    if atomic is not None:
        return atomic
    if name == "AtomicPtr":
        given = path.generics[0] if path.generics else None
        inner = lower_type(lw, given, env) if isinstance(given, ast.Type) else lw.infer.fresh()
        return AtomicTy(PtrTy(inner, True, False), Scope.SYSTEM)
    if name in ("f16", "bf16"):
        return SCALARS["f16"]
    if name in ("f16x2", "bf16x2"):
        return U32
    return ForeignTy(str(path))


def associated_type(lw: Lowering, ty: Ty, name: str) -> Ty:
    """``<ty as Trait>::name``."""
    from gpusafe.parse.rust.device.selecting import matching_impls

    for impl, env in matching_impls(lw, ty, lambda impl: any(i.name == name for i in impl.item.items)):
        for item in impl.item.items:
            if isinstance(item, ast.TypeAlias) and item.name == name and item.type is not None:
                return lower_type(lw, item.type, env)
    if isinstance(lw.infer.shallow(ty), ParamTy):
        return ParamTy(name)
    return lw.infer.fresh()


def impl_const(lw: Lowering, ty: Ty, name: str) -> tuple[ConstDef, TypeEnv] | None:
    """An associated constant of a type."""
    from gpusafe.parse.rust.device.selecting import matching_impls

    found: tuple[ImplDef, TypeEnv]
    for found in matching_impls(lw, ty, lambda impl: any(i.name == name for i in impl.item.items)):
        impl, env = found
        for item in impl.item.items:
            if isinstance(item, ast.Const) and item.name == name:
                return ConstDef(name, impl.module, item, impl), env
    return None
