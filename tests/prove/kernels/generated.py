"""Random small kernels whose truth the concrete interpreter can tell by running every thread."""

from __future__ import annotations

from typing import Any

from builder import Array, KernelBuilder, V, select
from hypothesis import strategies as st

from gpusafe.ir.expr import U32
from gpusafe.ir.kernel import Kernel, Scope

BLOCK, GRID = 8, 2
SIZE = 64


@st.composite
def kernels(draw: Any) -> Kernel:
    """A kernel over one shared and one global array, with guards, loops and barriers."""
    k = KernelBuilder("generated")
    out, tile = k.pointer("out", U32), k.shared("tile", SIZE, U32)
    n = k.scalar("n")
    counters: list[V] = []

    def index() -> V:
        atoms = [k.tid, k.gid, k.block, *counters]
        base = draw(st.sampled_from(atoms))
        match draw(st.integers(0, 9)):
            case 0:
                return base
            case 1:
                return base + draw(st.integers(0, 3))
            case 2:
                return base * draw(st.integers(0, 3)) + draw(st.sampled_from(atoms))
            case 3:
                return base ^ draw(st.integers(1, 3))
            case 4:
                return base % draw(st.integers(1, 4))
            case 5:
                return (base << draw(st.integers(0, 2))) + draw(st.integers(0, 3))
            case 6:
                return (n - 1 - base) % SIZE
            case 7:
                return select(base < 4, base, base + draw(st.integers(0, 4)))
            case 8:
                return base // draw(st.integers(1, 4))
        return k.tid + k.threads * draw(st.sampled_from(atoms))

    def condition() -> V:
        left = draw(st.sampled_from([k.tid, k.gid, k.block, *counters]))
        right = draw(st.integers(0, 7))
        return draw(st.sampled_from([left < right, left.eq(right), left.ne(right), left >= right, (left & 1).eq(0)]))

    def statements(depth: int) -> None:
        for _ in range(draw(st.integers(1, 3))):
            array: Array = draw(st.sampled_from([out, tile]))
            match draw(st.integers(0, 8 if depth < 2 else 5)):
                case 0 | 1:
                    k.store(array, index(), 1)
                case 2:
                    k.load(array, index())
                case 3:
                    k.sync()
                case 4:
                    k.atomic_add(array, index(), 1, draw(st.sampled_from([Scope.DEVICE, Scope.BLOCK])))
                case 5:
                    k.store(array, index(), k.load(array, index()))
                case 6:
                    with k.when(condition()):
                        statements(depth + 1)
                case 7:
                    end = draw(st.sampled_from([V(n.expr), k.tid + 1, k.block + 2]))
                    with k.count(
                        f"i{k.line}", draw(st.sampled_from([k.tid, k.tid * 0])), end % 6, draw(st.integers(1, 2))
                    ) as i:
                        counters.append(i)
                        statements(depth + 1)
                        counters.pop()
                case 8:
                    h = k.var(f"h{k.line}", 4)
                    with k.loop(h > 0):
                        counters.append(h)
                        statements(depth + 1)
                        counters.pop()
                        k.set(h, h // 2)

    statements(0)
    return k.build()
