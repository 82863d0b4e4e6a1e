"""The kernel IR: what one thread of a kernel does, after inlining and scalarisation.

Front ends resolve aggregates (tuples, structs, Option, slices) into scalar and pointer variables and inline device
functions (an inlined body becomes a :class:`Block`, its ``return`` a :class:`Break` out of it). What is left is
structured code over terms (gpusafe.ir.expr) with explicit memory accesses and synchronisation. Loads, stores, atomics
and synchronisation happen in statement order. A front end that meets something it does not model emits
:class:`Unmodelled`, never nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from gpusafe.ir.expr import Expr, Type
from gpusafe.span import Span


class Space(Enum):
    """Where a region lives."""

    GLOBAL = "global"  # a pointer or slice parameter, or a module static
    SHARED = "shared"  # one copy per block
    DYNAMIC_SHARED = "dynamic shared"  # the one extern/dynamic allocation of a block
    CONSTANT = "constant"
    LOCAL = "local"  # private to a thread (an array variable)


class Order(Enum):
    """Memory orders."""

    WEAK = "weak"
    RELAXED = "relaxed"
    ACQUIRE = "acquire"
    RELEASE = "release"
    ACQ_REL = "acq_rel"
    SEQ_CST = "seq_cst"


class Scope(Enum):
    """Memory scopes, narrow to wide."""

    WARP = "warp"
    BLOCK = "block"
    CLUSTER = "cluster"
    DEVICE = "device"
    SYSTEM = "system"


@dataclass(frozen=True, slots=True)
class Region:
    """One object in memory.

    ``length`` counts elements of ``elem_bytes`` (None: not known in the source, as for a raw pointer parameter).
    ``param`` is the index in ``Kernel.params`` for parameter regions. ``read_only``: the source's type forbids writes
    (``&[T]``, ``const T*``). ``exclusive``: the source's type says that this is the only way to the memory (``&mut``,
    ``DisjointSlice``). ``initialized`` is False for shared memory at kernel start.
    ``nonzero``: a static whose initialiser is not known to be all zeros.
    """

    name: str
    space: Space
    elem_bytes: int
    length: Expr | None
    span: Span
    param: int | None = None
    read_only: bool = False
    exclusive: bool = False
    initialized: bool = True
    nonzero: bool = False


@dataclass(frozen=True, slots=True)
class KernelParam:
    """A parameter as the launch passes it.

    ``kind``: ``scalar``, ``pointer`` (raw), ``slice`` (``&[T]``), ``slice_mut`` (``&mut [T]``), ``disjoint``
    (``DisjointSlice``), ``opaque`` (anything else). ``region`` names the region of a pointer-like parameter.
    ``type`` is the scalar's type, or the element's. ``slots`` is the number of launch arguments it takes (a slice takes
    two with cust: address and length). ``row_width``: the scalar Param that holds a runtime row width, if any.
    """

    name: str
    kind: str
    type: Type | None
    region: str | None
    span: Span
    slots: int = 1
    row_width: str | None = None


@dataclass(frozen=True, slots=True)
class Stmt:
    """Base of statements; ``span`` is what a message underlines.

    ``calls``: where the statement comes from an inlined function, the calls on the way to it, outermost first.
    """

    span: Span
    calls: tuple[Span, ...] = field(default=(), kw_only=True)


@dataclass(frozen=True, slots=True)
class Assign(Stmt):
    """``var = value``; the first assignment declares the variable."""

    var: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Havoc(Stmt):
    """``var`` gets a value that is not modelled (per thread, per execution)."""

    var: str
    type: Type
    reason: str


@dataclass(frozen=True, slots=True)
class Load(Stmt):
    """``var = *ptr`` (``var`` None: the value is not used). ``type`` is the loaded type (its size is the access)."""

    var: str | None
    ptr: Expr
    type: Type
    volatile: bool = False


@dataclass(frozen=True, slots=True)
class Store(Stmt):
    """``*ptr = value``; ``size`` in bytes."""

    ptr: Expr
    value: Expr
    size: int
    volatile: bool = False


@dataclass(frozen=True, slots=True)
class ExclusiveBorrow(Stmt):
    """``&mut *ptr`` is created and used later: no other thread may touch these bytes at the same time (GS208)."""

    ptr: Expr
    size: int


@dataclass(frozen=True, slots=True)
class Atomic(Stmt):
    """An atomic operation.

    ``op``: load store add sub and or xor min max exch cas inc dec nand fadd fsub. ``operands``: (value,) or for cas
    (expected, new). ``var`` gets the old value; for cas ``success`` gets a BOOL. ``order`` is the success order.
    """

    var: str | None
    op: str
    ptr: Expr
    operands: tuple[Expr, ...]
    type: Type
    order: Order
    scope: Scope
    success: str | None = None
    failure_order: Order | None = None


@dataclass(frozen=True, slots=True)
class Fence(Stmt):
    """A memory fence (``__threadfence`` is SEQ_CST at DEVICE scope)."""

    order: Order
    scope: Scope


@dataclass(frozen=True, slots=True)
class ProxyFence(Stmt):
    """``fence.proxy.*``; ``kind`` is the PTX suffix (``async.shared::cta``)."""

    kind: str


@dataclass(frozen=True, slots=True)
class Barrier(Stmt):
    """An execution barrier that also orders memory at its scope.

    ``scope`` BLOCK (``__syncthreads``), WARP (``__syncwarp``), CLUSTER, or DEVICE (grid sync). ``action`` is ``sync``,
    ``arrive`` or ``wait``. ``ident``/``count`` for named barriers; ``mask`` for warp barriers. ``relaxed``: orders no
    memory. ``var``/``value``: ``syncthreads_count/and/or`` (``reduce``).
    """

    scope: Scope
    action: str = "sync"
    ident: Expr | None = None
    count: Expr | None = None
    mask: Expr | None = None
    relaxed: bool = False
    var: str | None = None
    value: Expr | None = None
    reduce: str | None = None


@dataclass(frozen=True, slots=True)
class WarpOp(Stmt):
    """A warp collective that orders no memory: shuffle, vote, match, reduce, elect, activemask.

    ``op``: shfl_idx shfl_up shfl_down shfl_xor any all ballot match_any match_all redux_* elect activemask.
    ``mask`` None means the full warp. ``operands``: (value, lane or delta, width). ``var`` gets the result.
    """

    var: str | None
    op: str
    mask: Expr | None
    operands: tuple[Expr, ...]
    type: Type


@dataclass(frozen=True, slots=True)
class AsyncCopy(Stmt):
    """An asynchronous copy into or out of shared memory.

    ``kind``: ``cp.async`` (per thread, commit/wait groups), ``bulk`` (cp.async.bulk, completes on ``mbarrier``),
    ``bulk_tensor``. ``size`` in bytes (None: not known).
    """

    kind: str
    dst: Expr
    src: Expr
    size: Expr | None
    mbarrier: Expr | None = None


@dataclass(frozen=True, slots=True)
class AsyncControl(Stmt):
    """``commit`` a group, or ``wait`` until at most ``pending`` groups of this thread are outstanding (0: all)."""

    action: str
    pending: int = 0
    kind: str = "cp.async"


@dataclass(frozen=True, slots=True)
class MBarrier(Stmt):
    """An mbarrier operation: init arrive arrive_expect_tx expect_tx test_wait try_wait wait wait_parity inval."""

    op: str
    ptr: Expr
    operands: tuple[Expr, ...] = ()
    var: str | None = None
    order: Order = Order.ACQ_REL
    scope: Scope = Scope.BLOCK


@dataclass(frozen=True, slots=True)
class Assume(Stmt):
    """A thread for which ``cond`` is false stops here (a bounds check that panics, a trap, ``assert!``)."""

    cond: Expr
    reason: str


@dataclass(frozen=True, slots=True)
class If(Stmt):
    """A conditional."""

    cond: Expr
    then: tuple[Stmt, ...]
    orelse: tuple[Stmt, ...] = ()


@dataclass(frozen=True, slots=True)
class Block(Stmt):
    """A labelled block; ``Break(label)`` leaves it."""

    label: str
    body: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class Loop(Stmt):
    """``loop { body }``: ends only by Break, Return or a trap; ``Continue(label)`` starts the next iteration.

    ``while c { s }`` is ``Loop { If(!c, Break); s }``. ``for i in a..b`` is
    ``i = a; Loop { If(!(i < b), Break); Block(cont) { s }; i = i + 1 }`` (a ``continue`` in ``s`` leaves ``cont``).
    """

    label: str
    body: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class Break(Stmt):
    """Leave the enclosing Block or Loop ``label``."""

    label: str


@dataclass(frozen=True, slots=True)
class Continue(Stmt):
    """Start the next iteration of the enclosing Loop ``label``."""

    label: str


@dataclass(frozen=True, slots=True)
class Return(Stmt):
    """The thread ends."""


@dataclass(frozen=True, slots=True)
class Unmodelled(Stmt):
    """Something that the front end does not model. It makes the kernel's verdict unknown (never proved).

    ``what`` is for the user ("call of `foo`, which is not in this crate"). ``accesses``: it may touch memory;
    ``syncs``: it may synchronise.
    """

    what: str
    accesses: bool = True
    syncs: bool = True


@dataclass(frozen=True, slots=True)
class LaunchContract:
    """What the source declares of every launch (``#[launch_contract]``, ``#[launch_bounds]``, ``__launch_bounds__``).

    ``block``: exact block shape; ``max_threads``: bound on the product; ``domain``: 1, 2 or 3 (axes above it are 1);
    ``cluster``: exact cluster shape; ``dynamic_shared``: bytes (exact) or None; ``grid``: exact shape of the grid;
    ``given``: block and grid are the user's word for this run (``--block``, ``--grid``), not the source's;
    ``requires``: those of the kernel's conditions that a guarded launcher checks.
    """

    block: tuple[int, int, int] | None = None
    max_threads: int | None = None
    domain: int | None = None
    cluster: tuple[int, int, int] | None = None
    cooperative: bool = False
    dynamic_shared: int | None = None
    grid: tuple[int, int, int] | None = None
    given: bool = False
    requires: tuple[Expr, ...] = ()


@dataclass(frozen=True, slots=True)
class LaunchSize:
    """Blocks and threads per axis of a ``kernel<<<grid, block>>>(..)``, and its arguments.

    None stands for what is no constant integer.
    """

    grid: tuple[int | None, int | None, int | None]
    block: tuple[int | None, int | None, int | None]
    span: Span
    args: tuple[int | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Kernel:
    """One kernel.

    ``name`` is the name that launches use; ``path`` the module path in the source (``crate::kernels::scale``);
    ``dialect`` one of ``ptx-kernel``, ``cuda_std``, ``cuda-oxide``, ``cuda-c``, ``ptx``. ``requires`` are conditions
    that the user stated (``// gpusafe: requires(..)``) over Param, Length and Special terms. ``generic``: it has type
    or const
    parameters that were not instantiated. ``injective``: regions that hold no value twice, as the user states
    (``// gpusafe: assume(injective(perm))``); ``monotone``: regions whose values never fall from one element to the
    next. ``assumes`` are conditions that the user vouches for: unlike ``requires``, no launch is held to them.
    ``launched``: the launches that its own CUDA C file makes.
    ``granted``: what the front end took for granted, in words; a proof lists it among its assumptions.
    ``unheld``: conditions that the source states and the front end left out: a proof needs none of them, and a
    counterexample may be one that they exclude.
    """

    name: str
    path: str
    dialect: str
    params: tuple[KernelParam, ...]
    regions: tuple[Region, ...]
    body: tuple[Stmt, ...]
    span: Span
    contract: LaunchContract = LaunchContract()
    requires: tuple[Expr, ...] = ()
    generic: bool = False
    injective: tuple[str, ...] = ()
    launched: tuple[LaunchSize, ...] = ()
    monotone: tuple[str, ...] = ()
    assumes: tuple[Expr, ...] = ()
    granted: tuple[str, ...] = ()
    unheld: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """Identifies the kernel within a run."""
        return f"{self.name}@{self.span.file}:{self.span.line}"
