"""What is known of a launch when a kernel is analysed: a launch in sight, or a contract that launches must meet."""

from __future__ import annotations

from dataclasses import dataclass, replace

from gpusafe.dataflow.terms import Term, Terms
from gpusafe.dataflow.values import Bindings, Values
from gpusafe.ir import expr as ir
from gpusafe.ir.expr import BOOL, I32, I64, U32, U64, Binary, Cast, Const, Expr, Op, Param, Special
from gpusafe.ir.host import LaunchArg, LaunchSite
from gpusafe.ir.kernel import AsyncCopy, Atomic, Barrier, Kernel, KernelParam, MBarrier, WarpOp
from gpusafe.ir.kernel import LaunchContract as DeclaredLaunch


@dataclass(frozen=True, slots=True)
class LaunchContext:
    """Bindings and premises of an analysis.

    ``requires`` and ``in_words`` state the contract (empty for a launch in sight); ``alias`` names pairs of arguments
    that may share memory for all that is known.
    """

    terms: Terms
    bindings: Bindings
    premises: tuple[Term, ...]
    site: LaunchSite | None = None
    requires: tuple[Expr, ...] = ()
    in_words: tuple[str, ...] = ()
    alias: tuple[tuple[str, str], ...] = ()
    steady: bool = False

    @property
    def specials(self) -> dict[str, Term]:
        """The special registers that are bound."""
        return self.bindings.specials


def paired(kernel: Kernel, args: tuple[LaunchArg, ...]) -> list[tuple[KernelParam, LaunchArg, LaunchArg | None]]:
    """Each parameter with its launch argument, and with the one that holds its length where that is passed apart."""
    out: list[tuple[KernelParam, LaunchArg, LaunchArg | None]] = []
    at = 0
    for param in kernel.params:
        if at >= len(args):
            break
        extra = args[at + 1] if param.slots == 2 and at + 1 < len(args) else None
        out.append((param, args[at], extra))
        at += param.slots
    return out


def of_site(kernel: Kernel, site: LaunchSite, *, aliases: bool = True, guards: bool = True) -> LaunchContext:
    """The context of a launch in sight; without ``aliases`` each argument is an object of its own.

    ``guards``: what a guarded launcher checks holds, since it refuses every other launch.
    """
    terms = Terms()
    values = Values(terms, Bindings())
    specials: dict[str, Term] = {}
    shape = site.op.shape
    if shape is not None:
        for register, sizes in (("nctaid", shape.grid), ("ntid", shape.block)):
            for axis, size in zip("xyz", sizes, strict=True):
                if size is not None:
                    specials[f"{register}.{axis}"] = terms.cast(U32, values.evaluate(size, {}))
        if shape.shared_bytes is not None:
            specials["dynamic_smem_bytes"] = terms.cast(U32, values.evaluate(shape.shared_bytes, {}))
    params: dict[str, Term] = {}
    lengths: dict[str, Term] = {}
    for param, arg, extra in paired(kernel, site.op.args):
        if param.kind == "scalar" and arg.value is not None:
            params[param.name] = values.evaluate(arg.value, {})
        if param.row_width is not None and arg.kind == "memory" and arg.value is not None:
            params[param.row_width] = values.evaluate(arg.value, {})
        length = extra.value if extra is not None and extra.value is not None else arg.length
        if param.region is not None and length is not None:
            lengths[param.region] = terms.cast(U64, values.evaluate(length, {}))
    same, alias = _shared_memory(kernel, site, terms, values)
    premises = tuple(values.evaluate(a, {}) for a in site.path.assumes)
    bindings = Bindings(specials, params, lengths, same if aliases else {})
    if guards and shape is not None and shape.guarded:
        checked = Values(terms, bindings)
        premises += tuple(checked.evaluate(c, {}) for c in kernel.contract.requires)
    return LaunchContext(terms, bindings, _nontrivial(premises, terms), site, alias=alias)


def _nontrivial(conds: tuple[Term, ...], terms: Terms) -> tuple[Term, ...]:
    return tuple(c for c in conds if c is not terms.true and c.type.kind == "bool")


def _shared_memory(
    kernel: Kernel, site: LaunchSite, terms: Terms, values: Values
) -> tuple[dict[str, tuple[str, Term]], tuple[tuple[str, str], ...]]:
    same: dict[str, tuple[str, Term]] = {}
    first: dict[str, tuple[str, Term]] = {}
    unknown: list[str] = []
    for param, arg, _ in paired(kernel, site.op.args):
        if param.region is None:
            continue
        if arg.range is None:
            unknown.append(param.region)
            continue
        start = terms.natural(values.evaluate(arg.range.start, {}))
        memory = site.path.memory.get(arg.range.memory)
        if memory is None or memory.kind == "unknown":
            unknown.append(param.region)
        found = first.setdefault(arg.range.memory, (param.region, start))
        if found[0] != param.region:
            same[param.region] = (found[0], terms.binary("-", start, found[1], True))
    return same, tuple((a, b) for i, a in enumerate(unknown) for b in unknown[i + 1 :])


def argument_bytes(kernel: Kernel, site: LaunchSite, context: LaunchContext) -> dict[str, Term]:
    """The bytes behind each argument of a launch in sight, by region, where known."""
    terms = context.terms
    values = Values(terms, Bindings())
    out: dict[str, Term] = {}
    for param, arg, _ in paired(kernel, site.op.args):
        if param.region is None or arg.range is None:
            continue
        memory = site.path.memory.get(arg.range.memory)
        if arg.range.size is not None:
            out[param.region] = terms.natural(values.evaluate(arg.range.size, {}))
        elif memory is not None and memory.length is not None and memory.elem_bytes is not None:
            length = terms.natural(values.evaluate(memory.length, {}))
            whole = terms.binary("*", length, terms.const(memory.elem_bytes, I64), True)
            start = terms.natural(values.evaluate(arg.range.start, {}))
            out[param.region] = terms.binary("-", whole, start, True)
    return out


# -- contracts

DECIDE_RLIMIT = 300_000
MODEST = 1 << 30


def _special(name: str) -> Special:
    return Special(U32, name)


def _is_one(*names: str) -> tuple[Expr, ...]:
    return tuple(Binary(BOOL, Op.EQ, _special(n), Const(U32, 1)) for n in names)


def _few(axis: str, limit: int) -> Expr:
    product = Binary(U64, Op.MUL, Cast(U64, _special(f"nctaid.{axis}")), Cast(U64, _special(f"ntid.{axis}")))
    return Binary(BOOL, Op.LE, product, Const(U64, limit))


def few_threads(context: LaunchContext) -> tuple[Term, ...]:
    """What "fewer than 2^31 threads along each axis" says of a launch beyond what is known of it."""
    values = Values(context.terms, context.bindings)
    return _nontrivial(tuple(values.evaluate(_few(axis, 1 << 31), {}) for axis in "xyz"), context.terms)


@dataclass(frozen=True, slots=True)
class Contract:
    """Conditions on launches, for the prover and for people."""

    requires: tuple[Expr, ...]
    in_words: tuple[str, ...]


def contracts(kernel: Kernel) -> tuple[Contract, ...]:
    """The contracts to try, most general first: any launch, then one of as many dimensions as the kernel looks at."""
    stated = declared(kernel)
    words = stated.in_words
    few = "fewer than 2^31 threads along each axis"
    small = 1 << 31
    axes = axes_used(kernel)
    if kernel.dialect == "cubecl" and not kernel.launched:  # `ABSOLUTE_POS` looks at all axes
        wide = Contract((*stated.requires, *(_few(a, small) for a in "xyz")), (*words, few))
        flat = Contract(
            (*stated.requires, *_is_one("nctaid.y", "ntid.y", "nctaid.z", "ntid.z"), _few("x", small)),
            (*words, "a one-dimensional launch", few),
        )
        return (wide, flat)
    if "z" in axes:
        return (Contract((*stated.requires, *(_few(a, small) for a in "xyz")), (*words, few)),)
    if "y" in axes:
        two = _flat(kernel.contract, "z")
        if two is None:
            return (Contract((*stated.requires, *(_few(a, small) for a in "xyz")), (*words, few)),)
        flat = Contract(
            (*stated.requires, *two, _few("x", small), _few("y", small)),
            (*words, *(("a launch of at most two dimensions",) if two else ()), few),
        )
        return (flat,)
    one = _flat(kernel.contract, "yz")
    if not one:  # stated: that, or more dimensions
        return (stated,)
    return (
        stated,
        Contract((*stated.requires, *one, _few("x", small)), (*words, "a one-dimensional launch", few)),
    )


def modest(kernel: Kernel, contract: Contract) -> Contract | None:
    """The contract for whole numbers that leave a loop's counter room for one more step; None where there are none.

    ``for (int i = start; i < n; i += stride)`` comes round where ``n`` is close to the largest number.
    """
    counts = [p for p in kernel.params if p.kind == "scalar" and p.type is not None and p.type in (I32, U32)]
    if not counts:
        return None
    most = tuple(
        Binary(BOOL, Op.LE, Param(p.type, p.name), Const(p.type, MODEST)) for p in counts if p.type is not None
    )
    names = ", ".join(f"`{p.name}`" for p in counts)
    return Contract((*contract.requires, *most), (*contract.in_words, f"{names} at most 2^30"))


def of_sizes(kernel: Kernel) -> list[LaunchContext]:
    """The launches that the kernel's own CUDA C file makes, as far as their sizes and arguments are constant."""
    out: dict[object, LaunchContext] = {}
    for size in kernel.launched:
        extents = zip(("nctaid", "ntid"), (size.grid, size.block), strict=True)
        named = {f"{r}.{a}": n for r, sizes in extents for a, n in zip("xyz", sizes, strict=True) if n is not None}
        requires = tuple(Binary(BOOL, Op.EQ, _special(name), Const(U32, n)) for name, n in named.items())
        if requires:
            context = of_contract(kernel, Contract(requires, (f"the launch in line {size.span.line}",)))
            params = {
                p.name: context.terms.const(value, p.type)
                for p, value in zip(kernel.params, size.args, strict=False)
                if len(kernel.params) == len(size.args)
                and p.kind == "scalar"
                and p.type is not None
                and p.type.kind == "int"
                and value is not None
            }
            bindings = replace(context.bindings, params=params)
            out.setdefault((requires, size.args), replace(context, bindings=bindings))
        elif any(s.grid + s.block != (None,) * 6 for s in kernel.launched):  # beside known ones, one of any size
            out.setdefault(None, of_contract(kernel, Contract((), (f"the launch in line {size.span.line}",))))
    return list(out.values())


def _extents(contract: DeclaredLaunch) -> dict[str, int]:
    """The special registers that a declaration fixes."""
    sizes = {"ntid": contract.block, "nctaid": contract.grid}
    fixed = {f"{r}.{a}": n for r, size in sizes.items() if size for a, n in zip("xyz", size, strict=True)}
    if contract.domain is not None and contract.domain < 3:
        for axis in "yz" if contract.domain == 1 else "z":
            fixed.setdefault(f"ntid.{axis}", 1)
            fixed.setdefault(f"nctaid.{axis}", 1)
    return fixed


def _flat(contract: DeclaredLaunch, axes: str) -> tuple[Expr, ...] | None:
    """The conditions that make some axes of one thread, beside what is stated; None where that says otherwise."""
    fixed = _extents(contract)
    names = [f"{register}.{axis}" for register in ("nctaid", "ntid") for axis in axes]
    if any(fixed.get(n, 1) != 1 for n in names):
        return None
    return _is_one(*(n for n in names if n not in fixed))


def axes_used(kernel: Kernel) -> frozenset[str]:
    """The axes whose thread or block index a kernel reads (lane and warp numbers read all)."""
    from gpusafe.dataflow.taint import expressions, walk
    from gpusafe.ir.terms import children

    out: set[str] = set()
    for stmt in walk(kernel.body):
        stack = [e for e in expressions(stmt) if e is not None]
        while stack:
            e = stack.pop()
            match e:
                case Special(name=name) if name.startswith(("tid.", "ctaid.")):
                    out.add(name[-1])
            stack.extend(children(e))
    return frozenset(out)


def single_thread(kernel: Kernel) -> Contract | None:
    """The contract of a kernel that never asks which thread it is and shares nothing: it is meant for one thread."""
    from gpusafe.dataflow.taint import expressions, walk
    from gpusafe.ir.terms import children

    if kernel.contract.block is not None or kernel.contract.cluster is not None or kernel.contract.cooperative:
        return None
    for stmt in walk(kernel.body):
        if isinstance(stmt, Barrier | Atomic | WarpOp | MBarrier | AsyncCopy):
            return None
        stack = [e for e in expressions(stmt) if e is not None]
        while stack:
            e = stack.pop()
            if isinstance(e, Special):
                return None
            stack.extend(children(e))
    words = "a launch of one thread (the kernel never asks which thread it is)"
    return Contract(_is_one(*(f"{r}.{a}" for r in ("nctaid", "ntid") for a in "xyz")), (words,))


def declared(kernel: Kernel) -> Contract:
    """What the source declares of every launch of a kernel."""
    c = kernel.contract
    whose = "as given" if c.given else "as the kernel declares"
    requires = [Binary(BOOL, Op.EQ, _special(name), Const(U32, size)) for name, size in _extents(c).items()]
    words: list[str] = []
    if c.block is not None:
        words.append(f"blocks of {c.block[0]}x{c.block[1]}x{c.block[2]} threads, {whose}")
    if c.grid is not None:
        words.append(f"a grid of {c.grid[0]}x{c.grid[1]}x{c.grid[2]} blocks, {whose}")
    if c.domain is not None and c.domain < 3:
        words.append(f"a {c.domain}-dimensional launch, as the kernel declares")
    return Contract(tuple(requires), tuple(words))


def of_contract(kernel: Kernel, contract: Contract) -> LaunchContext:
    """The context of all launches that meet a contract."""
    terms = Terms()
    specials: dict[str, Term] = {}
    values = Values(terms, Bindings())
    for cond in contract.requires:
        match cond:
            case Binary(op=Op.EQ, a=Special(name=name), b=Const() as value):
                specials[name] = values.evaluate(value, {})
    bound = Values(terms, Bindings(specials))
    premises = tuple(bound.evaluate(c, {}) for c in contract.requires)
    return LaunchContext(
        terms,
        Bindings(specials, _stated(kernel, bound)),
        _nontrivial(premises, terms),
        requires=contract.requires,
        in_words=contract.in_words,
    )


def _stated(kernel: Kernel, values: Values) -> dict[str, Term]:
    """The scalars whose value the user's own conditions give (`requires(n == blockDim.x)` under a known block)."""
    found: dict[str, Term] = {}
    for cond in kernel.requires:
        match cond:
            case Binary(op=Op.EQ, a=a, b=b):
                for side, other in ((a, b), (b, a)):
                    param, value = _bare(side), values.evaluate(other, {})
                    if param is not None and isinstance(value.const, int) and 0 <= value.const <= param.type.high:
                        found.setdefault(param.name, values.terms.const(value.const, param.type))
    return found


def _bare(side: Expr) -> Param | None:
    """The integer parameter that an expression is, beside casts that lose nothing of a value from 0 up."""
    while isinstance(side, Cast) and side.a.type.kind == "int" and side.type.bits >= side.a.type.bits:
        side = side.a
    return side if isinstance(side, Param) and side.type.kind == "int" else None


def holds(contract: tuple[ir.Expr, ...], context: LaunchContext) -> bool | None:
    """Whether a launch in sight meets conditions over special registers, parameters and lengths (None: not known)."""
    from gpusafe.dataflow.intervals import Intervals

    values = Values(context.terms, context.bindings)
    ranges = Intervals(context.specials)
    ranges.assume(context.premises)
    verdict: bool | None = True
    for cond in contract:
        term = values.evaluate(cond, {})
        certain, possible = _truth(term, ranges)
        if possible and not certain:
            certain, possible = _decided(term, context)
        if not possible:
            return False
        if not certain:
            verdict = None
    return verdict


def _decided(term: Term, context: LaunchContext) -> tuple[bool, bool]:
    """The same, by the solver."""
    from gpusafe.prove.encode import Encoder
    from gpusafe.prove.pairs import solve

    def possible(cond: Term) -> bool:
        enc = Encoder(context.specials, frozenset(), True)
        enc.shared.intervals.assume(context.premises)
        goal = [enc.encode(c, enc.shared) for c in (*context.premises, cond)]
        return solve(enc, [*goal, *enc.spread(), *enc.facts, *enc.meanings], DECIDE_RLIMIT)[0] != "unsat"

    return not possible(context.terms.neg(term)), possible(term)


def _truth(term: Term, ranges: object) -> tuple[bool, bool]:
    """Whether a condition certainly holds, and whether it may hold."""
    from gpusafe.dataflow.intervals import Intervals

    assert isinstance(ranges, Intervals)
    if term.op == "const":
        return bool(term.data), bool(term.data)
    if term.op in ("<", "<=", "==", ">", ">=") and term.args[0].type.kind == "int":
        (a, b), (c, d) = (ranges.of(x) for x in term.args)
        match term.op:
            case "<":
                return b < c, a < d
            case "<=":
                return b <= c, a <= d
            case ">":
                return a > d, b > c
            case ">=":
                return a >= d, b >= c
        return a == b == c == d, a <= d and c <= b
    return False, True
