"""What a path in an expression means: a variable, a constant, a static, a function, a variant."""

from __future__ import annotations

import math

from gpusafe.ir import kernel as k
from gpusafe.ir.expr import PTR, Const, Expr, Opaque, PtrBase, Type
from gpusafe.parse.rust import ast
from gpusafe.parse.rust.device import layout, terms
from gpusafe.parse.rust.device.bodies import is_empty
from gpusafe.parse.rust.device.frames import Scope, TypeEnv
from gpusafe.parse.rust.device.lowering import Lowering
from gpusafe.parse.rust.device.memory import to_memory
from gpusafe.parse.rust.device.places import borrow
from gpusafe.parse.rust.device.program import (
    AdtDef,
    AliasDef,
    ConstDef,
    FnDef,
    ForeignDef,
    ModuleDef,
    Resolved,
    StaticDef,
    TraitDef,
    VariantDef,
)
from gpusafe.parse.rust.device.selecting import default_const, default_method, find_method
from gpusafe.parse.rust.device.tags import tag_const
from gpusafe.parse.rust.device.types import (
    SCALARS,
    AdtTy,
    ArrayTy,
    AtomicTy,
    ParamTy,
    PtrTy,
    ScalarTy,
    Ty,
    VarTy,
    show,
)
from gpusafe.parse.rust.device.values import (
    FN_TY,
    Agg,
    ArrayVal,
    CtorVal,
    EnumVal,
    FnVal,
    ForeignFn,
    LocalPlace,
    MemPlace,
    Place,
    RepeatVal,
    Scalar,
    TypeFn,
    Unknown,
    Value,
    ValuePlace,
)
from gpusafe.parse.rust.device.written import adt_type, impl_const, lower_type, named_type
from gpusafe.span import Span

_REWRITTEN = frozenset({"index_1d", "index_2d", "index_2d_runtime", "warp_index"})
_MANY = 16  # a constant array with more elements becomes a read-only region when it is indexed

_FLOAT_CONSTS: dict[str, float] = {
    "INFINITY": math.inf,
    "NEG_INFINITY": -math.inf,
    "NAN": math.nan,
    "PI": math.pi,
    "TAU": math.tau,
    "E": math.e,
    "FRAC_PI_2": math.pi / 2,
    "FRAC_PI_3": math.pi / 3,
    "FRAC_PI_4": math.pi / 4,
    "FRAC_PI_6": math.pi / 6,
    "FRAC_PI_8": math.pi / 8,
    "FRAC_1_PI": 1 / math.pi,
    "FRAC_2_PI": 2 / math.pi,
    "FRAC_1_SQRT_2": math.sqrt(0.5),
    "FRAC_2_SQRT_PI": 2 / math.sqrt(math.pi),
    "SQRT_2": math.sqrt(2),
    "LN_2": math.log(2),
    "LN_10": math.log(10),
    "LOG2_E": math.log2(math.e),
    "LOG10_E": math.log10(math.e),
    "LOG2_10": math.log2(10),
    "LOG10_2": math.log10(2),
}
_F32_ONLY = {"MAX": 3.4028234663852886e38, "EPSILON": 1.1920928955078125e-07, "MIN_POSITIVE": 1.1754943508222875e-38}
_F64_ONLY = {"MAX": 1.7976931348623157e308, "EPSILON": 2.220446049250313e-16, "MIN_POSITIVE": 2.2250738585072014e-308}


def path_place(lw: Lowering, node: ast.PathExpr, want: Ty | None = None) -> Place:
    """The place or value that a path names."""
    path = node.path
    names = path.names
    if path.qself is not None:
        ty = lower_type(lw, path.qself, lw.env)
        return _value_place(associated(lw, ty, names[-1], path, names[:-1]))
    if len(names) == 1:
        slot = lw.scope.find(names[0])
        if slot is not None:
            ty = slot.value.ty if slot.value is not None else slot.ty
            return LocalPlace(ty, slot)
    env = lw.env
    if names[0] in env.generics:
        bound = env.generics[names[0]]
        if isinstance(bound, Expr):
            return _value_place(lw.scalar(bound))
        return _value_place(associated(lw, bound, names[-1], path))
    if names[0] == "Self" and env.self_ty is not None:
        if len(names) > 1:
            return _value_place(associated(lw, env.self_ty, names[1], path))
        if isinstance(env.self_ty, AdtTy):
            return _value_place(constructor(lw, env.self_ty))
    found = lw.program.resolve_in(lw.dialect, env.module, names)
    if found is None:
        return _value_place(ForeignFn(FN_TY, names))
    if lw.dialect == "cuda-oxide" and names[-1] in _REWRITTEN and isinstance(found.target, FnDef):
        oxide = lw.program.preludes["oxide"].values[names[-1]]  # the kernel macro goes by the name alone
        found = Resolved(oxide)
    if len(names) == 2 and names[0] in SCALARS and isinstance(found.target, ForeignDef):
        return _value_place(associated(lw, SCALARS[names[0]], names[1], path))
    return resolved_place(lw, found, path, node.span, want)


def _value_place(value: Value) -> ValuePlace:
    return ValuePlace(value.ty, value)


def given_generics(lw: Lowering, path: ast.Path) -> tuple[Ty | Expr, ...]:
    """The turbofish of a path, lowered (constants and types told apart by their looks)."""
    return lowered_args(lw, path.generics)


def lowered_args(lw: Lowering, given: tuple[ast.Type | ast.Expr, ...]) -> tuple[Ty | Expr, ...]:
    """Generic arguments whose parameters are not known yet."""
    made: list[Ty | Expr] = []
    for arg in given:
        if isinstance(arg, ast.TypePath) and _is_const(lw, arg.path):
            made.append(_const_arg(lw, ast.PathExpr(arg.span, arg.path)))
        elif isinstance(arg, ast.Type):
            made.append(lower_type(lw, arg, lw.env))
        else:
            made.append(_const_arg(lw, arg))
    return tuple(made)


def _const_arg(lw: Lowering, node: ast.Expr) -> Expr:
    with lw.body():
        value = lw.expr(node)
    return value.term if isinstance(value, Scalar) else Opaque(Type("int", 64), "a constant", ())


def _is_const(lw: Lowering, path: ast.Path) -> bool:
    env = lw.env
    if path.names[0] in env.generics:
        return isinstance(env.generics[path.names[0]], Expr)
    if path.names[0] in SCALARS and len(path.names) == 1:
        return False
    found = lw.program.resolve(env.module, path.names)
    return found is not None and isinstance(found.target, ConstDef) and not found.rest


def resolved_place(lw: Lowering, found: Resolved, path: ast.Path, span: Span, want: Ty | None) -> Place:
    """The value of a definition, followed by the rest of the path."""
    target, rest = found.target, found.rest
    match target:
        case ConstDef() if not rest:
            return const_place(lw, target, TypeEnv(target.module), span)
        case StaticDef() if not rest:
            return static_place(lw, target, span)
        case FnDef() if not rest:
            return _value_place(FnVal(FN_TY, target, TypeEnv(target.module), path.generics, lw.env))
        case AdtDef() if not rest:
            return _value_place(constructor(lw, adt_type(lw, target, path.generics, lw.env)))
        case AdtDef():
            given = path.parent_generics if len(rest) == 1 else ()
            ty = adt_type(lw, target, given or _variant_generics(target, rest, path), lw.env)
            return _value_place(associated(lw, ty, rest[-1], path))
        case AliasDef() if rest:
            head = ast.Path(path.span, path.names[: -len(rest)], path.parent_generics)
            return _value_place(associated(lw, named_type(lw, target, head, lw.env), rest[-1], path))
        case TraitDef() if rest:
            return _value_place(TypeFn(FN_TY, lw.infer.fresh(), rest[-1], path.generics, target))
        case ForeignDef(path=foreign):
            return _value_place(foreign_value(lw, foreign, path, span))
        case ModuleDef():
            return _value_place(Unknown(lw.infer.fresh(), f"`{path}`"))
        case _:
            return _value_place(ForeignFn(FN_TY, path.names, path.generics))


def _variant_generics(target: AdtDef, rest: tuple[str, ...], path: ast.Path) -> tuple[ast.Type | ast.Expr, ...]:
    item = target.item
    if isinstance(item, ast.Enum) and any(v.name == rest[0] for v in item.variants):
        return path.generics  # `Option::None::<T>`, `None::<T>`
    return ()


def constructor(lw: Lowering, ty: AdtTy) -> Value:
    """A struct's name as a value: a unit struct, or the constructor of a tuple struct."""
    item = ty.adt.item
    if isinstance(item, ast.Struct) and not item.fields:
        return Agg(ty)
    return CtorVal(ty, None)


def associated(lw: Lowering, ty: Ty, name: str, path: ast.Path, trait: tuple[str, ...] = ()) -> Value:
    """``ty::name``: a variant, an associated constant or function."""
    ty = lw.infer.shallow(ty)
    if isinstance(ty, AdtTy) and isinstance(ty.adt.item, ast.Enum):
        for index, variant in enumerate(ty.adt.item.variants):
            if variant.name == name:
                return variant_value(ty, index, variant)
    found = find_method(lw, ty, name)
    if found is not None:
        fn, env = found
        return FnVal(FN_TY, fn, env, path.generics, lw.env)
    held = impl_const(lw, ty, name) or default_const(lw, ty, name)
    if held is not None:
        const, env = held
        place = const_place(lw, const, env, path.span)
        return place.value if isinstance(place, ValuePlace) else Unknown(ty, str(path))
    known = scalar_const(ty, name)
    if known is not None:
        return Scalar(ty if name not in ("BITS", "DIGITS") else SCALARS["u32"], known)
    if trait:
        resolved = lw.program.resolve(lw.env.module, trait, values=False)
        if resolved is not None and isinstance(resolved.target, TraitDef):
            tpath = ast.Path(path.span, trait)
            given = default_method(lw, lw.env.module, tpath, name, TypeEnv(lw.env.module, {}, ty))
            if given is not None:
                return FnVal(FN_TY, given[0], given[1], path.generics, lw.env)
    return TypeFn(FN_TY, ty, name, path.generics, None)


def variant_value(ty: AdtTy, index: int, variant: ast.Variant) -> Value:
    """A variant's name as a value."""
    if variant.fields:
        return CtorVal(ty, VariantDef(variant.name, ty.adt.module, ty.adt, index, variant))
    return EnumVal(ty, tag_const(ty, index), ((index, ()),))


def scalar_const(ty: Ty, name: str) -> Const | None:
    """``u32::MAX``, ``f32::INFINITY`` and the like."""
    if not isinstance(ty, ScalarTy):
        return None
    t = ty.type
    if t.kind == "int":
        values = {"MAX": t.high, "MIN": t.low, "BITS": t.bits}
        return terms.int_const(values[name], t if name != "BITS" else Type("int", 32)) if name in values else None
    if t.kind == "float":
        only = _F32_ONLY if t.bits <= 32 else _F64_ONLY
        value = _FLOAT_CONSTS.get(name, only.get(name))
        if name == "MIN":
            value = -only["MAX"]
        return Const(t, value) if value is not None else None
    return None


def const_place(lw: Lowering, const: ConstDef, env: TypeEnv, span: Span) -> Place:
    """The value of a constant; a large array becomes a read-only region."""
    key = id(const.item)
    cached = lw.constants.get(key) if not env.generics else None
    if cached is not None:
        return cached
    made = _const_value(lw, const, env, span)
    place: Place = ValuePlace(made.ty, made)
    array = lw.infer.shallow(made.ty)
    unknown = isinstance(made, Unknown) and isinstance(array, ArrayTy) and terms.const_int(array.length) is not None
    if unknown or (isinstance(made, ArrayVal) and len(made.items) > _MANY):
        assert isinstance(array, ArrayTy)
        size, _ = layout.size_align(lw, array.elem)
        name = lw.fresh(const.name)
        length = array.length
        lw.regions[name] = k.Region(name, k.Space.CONSTANT, size, length, lw.at(const.item.span), read_only=True)
        place = MemPlace(array, PtrBase(PTR, name))
    if not env.generics:
        lw.constants[key] = place
    return place


def _const_value(lw: Lowering, const: ConstDef, env: TypeEnv, span: Span) -> Value:
    ty = lower_type(lw, const.item.type, env) if const.item.type is not None else lw.infer.fresh()
    if const.item.value is None or id(const.item) in lw.evaluating:
        return Unknown(ty, f"the constant `{const.name}`")
    saved = (lw.frame.env, lw.scope, lw.hint)
    lw.evaluating.add(id(const.item))
    lw.frame.env, lw.scope, lw.hint = env, Scope(None, const.module), None
    try:
        with lw.body() as body:
            value = lw.expr(const.item.value, ty)
    finally:
        lw.frame.env, lw.scope, lw.hint = saved
        lw.evaluating.discard(id(const.item))
    if not is_empty(body):
        type_ = lw.infer.term_type(ty)
        if type_ is not None:
            return Scalar(ty, Opaque(type_, f"the constant {const.name}", ()))
        return Unknown(ty, f"the constant `{const.name}`")
    return value


# -- statics ---------------------------------------------------------------------------------------------------------


def _space(lw: Lowering, static: StaticDef, ty: Ty) -> k.Space:
    given = static.item.attribute("address_space")
    if given is not None:
        return {"shared": k.Space.SHARED, "constant": k.Space.CONSTANT}.get(given.text.strip(), k.Space.GLOBAL)
    inner = ty
    while isinstance(inner, ArrayTy):
        inner = lw.infer.shallow(inner.elem)
    if isinstance(inner, AdtTy) and inner.adt.module.family == "oxide":
        if inner.adt.item.attribute("shared") is not None:
            return k.Space.SHARED
        if inner.adt.item.attribute("constant") is not None:
            return k.Space.CONSTANT
    return k.Space.CONSTANT if static.item.attribute("constant") is not None else k.Space.GLOBAL


def static_place(lw: Lowering, static: StaticDef, span: Span) -> MemPlace:
    """The memory of a static; its region is made at the first mention."""
    key = id(static.item)
    env = TypeEnv(static.module)
    ty = lower_type(lw, static.item.type, env) if static.item.type is not None else lw.infer.fresh()
    name = lw.statics.get(key)
    if name is None:
        name = lw.fresh(static.name)
        lw.statics[key] = name
        elem, count = _elements(lw, ty)
        space = _space(lw, static, ty)
        fixed = not static.item.mutable and not interior(lw, ty)
        lw.regions[name] = k.Region(
            name,
            space,
            layout.size_align(lw, elem)[0],
            count,
            lw.at(static.item.span),
            read_only=space is k.Space.CONSTANT or fixed,
            initialized=space is not k.Space.SHARED,
            nonzero=not _all_zero(static.item.value),
        )
    return MemPlace(ty, PtrBase(PTR, name))


def _all_zero(value: ast.Expr | None) -> bool:
    """Whether an initialiser is made of zeros (`[const { AtomicU32::new(0) }; 4]`)."""
    stack: list[ast.Expr | None] = [value]  # None: it is defined elsewhere
    while stack:
        match stack.pop():
            case ast.Lit(value=literal) if not literal:
                continue
            case ast.Call(args=parts) | ast.Array(items=parts) | ast.Tuple(items=parts):
                stack += parts
            case ast.ArrayRepeat(value=part):
                stack.append(part)
            case ast.BlockExpr(block=ast.Block(stmts=(), tail=ast.Expr() as tail)):
                stack.append(tail)
            case ast.StructLit(fields=fields, base=None):
                stack += [part for _, part in fields]
            case _:
                return False
    return True


def _elements(lw: Lowering, ty: Ty) -> tuple[Ty, Expr]:
    """The element type of a region for a value of type ``ty``, and the number of elements."""
    if isinstance(ty, AdtTy) and isinstance(ty.adt.item, ast.Struct) and len(ty.adt.item.fields) == 1:
        inner = lw.infer.shallow(layout.struct_fields(lw, ty)[0][1])
        if isinstance(inner, ArrayTy):
            ty = inner
    if isinstance(ty, ArrayTy) and terms.const_int(ty.length) is not None:
        return ty.elem, ty.length
    return ty, terms.int_const(1)


def interior(lw: Lowering, ty: Ty, depth: int = 0) -> bool:
    """Whether a type may change behind a shared reference (atomics, cells)."""
    ty = lw.infer.shallow(ty)
    match ty:
        case AtomicTy():
            return True
        case ArrayTy(elem=elem):
            return interior(lw, elem, depth + 1)
        case AdtTy(adt=adt) if depth < 8:
            if adt.module.family == "core" and adt.name in ("UnsafeCell", "Cell", "RefCell"):
                return True
            if isinstance(adt.item, ast.Struct):
                return any(interior(lw, t, depth + 1) for _, t in layout.struct_fields(lw, ty))
            parts = range(len(adt.item.variants))
            return any(interior(lw, t, depth + 1) for i in parts for _, t in layout.variant_fields(lw, ty, i))
        case PtrTy(is_ref=False) | ScalarTy() | PtrTy() | VarTy():
            return False
        case ParamTy():
            return True
        case _:
            return type(ty).__name__ == "ForeignTy"


def foreign_value(lw: Lowering, foreign: tuple[str, ...], path: ast.Path, span: Span) -> Value:
    """A constant or function of another crate."""
    name = foreign[-1]
    parent = foreign[-2] if len(foreign) > 1 else ""
    scope = next((s for s in foreign[:-1] if s in ("f32", "f64", "f16")), None)
    if scope is not None and (parent == "consts" or parent == scope):
        const = scalar_const(SCALARS[scope], name)
        if const is not None:
            return Scalar(SCALARS[scope], const)
    if parent in SCALARS and len(foreign) >= 2:
        return associated(lw, SCALARS[parent], name, path)
    from gpusafe.parse.rust.device.written import foreign_type

    if parent[:1].isupper():
        head = ast.Path(path.span, path.names[:-1] or path.names, path.parent_generics)
        ty = foreign_type(lw, foreign[:-1], head, lw.env)
        if isinstance(ty, AtomicTy):
            return TypeFn(FN_TY, ty, name, path.generics, None)
    return ForeignFn(FN_TY, foreign, path.generics)


def address_of_array(lw: Lowering, value: Value, span: Span) -> Value:
    """A temporary array in memory, as a pointer."""
    if isinstance(value, ArrayVal | RepeatVal):
        value = to_memory(lw, "array", value, span)
    return borrow(lw, ValuePlace(value.ty, value), True, False, span)


def describe(ty: Ty) -> str:
    """For messages."""
    return show(ty)
