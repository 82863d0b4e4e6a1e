"""What a run does with a pointer that was loaded from memory: a number, until something says what it points into."""

from builder import KernelBuilder, span

from gpusafe.dataflow.concrete import ConcreteLaunch, run
from gpusafe.ir.expr import PTR, U32, Const, PtrBase, Var
from gpusafe.ir.kernel import Load, Store


def test_a_store_through_a_loaded_pointer_ends_the_run_with_a_reason() -> None:
    b = KernelBuilder()
    table = b.pointer("table", U32)
    b.emit(Load(span(1), "p", PtrBase(PTR, table.name), PTR))
    b.emit(Store(span(2), Var(PTR, "p"), Const(U32, 1), 4))
    seen = run(b.build(), ConcreteLaunch((1, 1, 1), (1, 1, 1)), [(0, 0, 0)])
    assert not seen.complete
    assert seen.why == "an address is not known"
