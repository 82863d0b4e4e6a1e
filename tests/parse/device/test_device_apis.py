"""What the device APIs of the three dialects become."""

from __future__ import annotations

import pytest

from gpusafe.ir import kernel as k
from gpusafe.ir.kernel import Order, Scope
from tests.parse.device.lowering_of import Lower, shown, statements, unmodelled


def only(kernel: k.Kernel, kind: type[k.Stmt]) -> k.Stmt:
    found = [s for s in statements(kernel) if isinstance(s, kind)]
    assert len(found) == 1, found
    assert unmodelled(kernel) == []
    return found[0]


def test_stock_rustc_reads_special_registers_and_has_one_barrier(plain: Lower) -> None:
    made = plain("*out.add(_thread_idx_x() as usize) = _grid_dim_z(); _syncthreads();")
    assert shown(made) == ["store.4 &out+[(%tid.x as u64 * 4)] <- %nctaid.z", "barrier.block.sync"]


def test_a_static_of_rustc_is_global_whatever_its_section_is_called(plain: Lower) -> None:
    made = plain("TILE[0] = 1.0;", items='#[link_section = ".shared"] static mut TILE: [f32; 8] = [0.0; 8];')
    assert made.regions[-1].space is k.Space.GLOBAL


def test_core_atomics_have_system_scope(plain: Lower) -> None:
    made = plain("a.fetch_add(1, Ordering::Release);", "a: &AtomicU32")
    atomic = only(made, k.Atomic)
    assert isinstance(atomic, k.Atomic)
    assert (atomic.op, atomic.order, atomic.scope) == ("add", Order.RELEASE, Scope.SYSTEM)


def test_compare_exchange_gives_old_value_and_success(plain: Lower) -> None:
    made = plain(
        "if let Err(now) = a.compare_exchange(0, n, Ordering::AcqRel, Ordering::Acquire) { *out = now; }",
        "a: &AtomicU32, out: *mut u32, n: u32",
    )
    atomic = only(made, k.Atomic)
    assert isinstance(atomic, k.Atomic)
    assert (atomic.success, atomic.failure_order) == ("swapped", Order.ACQUIRE)
    assert shown(made)[1:] == ["if !(swapped) {", "store.4 &out <- old", "}"]


@pytest.mark.parametrize(
    ("call", "order", "scope"),
    [
        ("thread::grid_fence()", Order.SEQ_CST, Scope.BLOCK),  # membar.cta for all its name
        ("thread::device_fence()", Order.SEQ_CST, Scope.DEVICE),
        ("thread::system_fence()", Order.SEQ_CST, Scope.SYSTEM),
        (
            "cuda_std::atomic::mid::device_thread_fence(core::sync::atomic::Ordering::AcqRel)",
            Order.ACQ_REL,
            Scope.DEVICE,
        ),
        ("core::sync::atomic::fence(core::sync::atomic::Ordering::Acquire)", Order.ACQUIRE, Scope.SYSTEM),
    ],
)
def test_fences_of_cuda_std(cuda_std: Lower, call: str, order: Order, scope: Scope) -> None:
    fence = only(cuda_std(f"{call};"), k.Fence)
    assert isinstance(fence, k.Fence)
    assert (fence.order, fence.scope) == (order, scope)


def test_system_float_atomics_of_cuda_std_reach_the_device_only(cuda_std: Lower) -> None:
    items = "use cuda_std::atomic::SystemAtomicF32; use core::sync::atomic::Ordering;"
    atomic = only(cuda_std("a.fetch_add(1.0, Ordering::Relaxed);", "a: &SystemAtomicF32", items), k.Atomic)
    assert isinstance(atomic, k.Atomic)
    assert (atomic.op, atomic.scope) == ("fadd", Scope.DEVICE)


def test_free_atomics_of_cuda_std_say_their_scope(cuda_std: Lower) -> None:
    items = "use cuda_std::atomic::mid; use core::sync::atomic::Ordering;"
    made = cuda_std("*out = mid::atomic_fetch_max_u32_block(out.add(4), Ordering::Relaxed, n);", items=items)
    assert shown(made)[0] == "v = atomic.max.relaxed.block &out+[16], n"


def test_index_1d_of_cuda_std_is_the_x_axis_alone(cuda_std: Lower) -> None:
    assert shown(cuda_std("*out = thread::index_1d();")) == [
        "store.4 &out <- ((%ctaid.x * %ntid.x) + %tid.x)",
    ]


def test_shared_array_is_one_region_for_each_place_in_the_source(cuda_std: Lower) -> None:
    items = "unsafe fn tile() -> *mut f32 { shared_array![f32; 32 * 2] }"
    made = cuda_std("let a = tile(); let b = tile(); let c = shared_array![u8; 4]; *a = *b; *c = 1;", items=items)
    shared = [r for r in made.regions if r.space is k.Space.SHARED]
    assert [(r.elem_bytes, getattr(r.length, "value", 0)) for r in shared] == [(4, 64), (1, 4)]


def test_dynamic_shared_memory_is_one_allocation(cuda_std: Lower) -> None:
    items = "use cuda_std::shared::dynamic_shared_mem;"
    made = cuda_std("*dynamic_shared_mem::<f32>() = 1.0; *dynamic_shared_mem::<u8>().add(9) = 2;", items=items)
    assert [r.space for r in made.regions].count(k.Space.DYNAMIC_SHARED) == 1


def test_counting_barriers_give_a_value(cuda_std: Lower) -> None:
    barrier = only(cuda_std("*out = thread::sync_threads_count(n);"), k.Barrier)
    assert isinstance(barrier, k.Barrier)
    assert (barrier.reduce, barrier.scope) == ("count", Scope.BLOCK)


def test_warp_functions_of_cuda_std_take_the_mask_first(cuda_std: Lower) -> None:
    made = cuda_std("*out = warp::warp_shuffle_down(0xff, n, 4, 8).0; warp::sync_warp(0xff);")
    assert shown(made) == [
        "v = warp.shfl_down mask=255 n, 4, 8",
        "store.4 &out <- v",
        "barrier.warp.sync mask=255",
    ]


def test_the_witness_of_cuda_oxide_is_invalid_in_launches_of_more_axes(oxide: Lower) -> None:
    made = oxide("if let Some(x) = out.get_mut(thread::index_1d()) { *x = 1; }")
    text = "\n".join(shown(made))
    assert "%nctaid.y == 1" in text
    assert "18446744073709551615" in text


def test_a_contract_of_one_axis_makes_the_witness_valid(oxide: Lower) -> None:
    made = oxide(
        "if let Some(x) = out.get_mut(thread::index_1d()) { *x = 1; }", attributes="#[launch_contract(domain = 1)]"
    )
    assert "nctaid.y" not in "\n".join(shown(made))


def test_an_exclusive_reference_that_is_kept_is_a_borrow(oxide: Lower) -> None:
    kept = oxide("if let Some(x) = out.get_mut(thread::index_1d()) { *x = 1; }")
    assert any(isinstance(s, k.ExclusiveBorrow) for s in statements(kept))
    used_at_once = oxide("unsafe { *out.get_unchecked_mut(3) = 1 };")
    assert not any(isinstance(s, k.ExclusiveBorrow) for s in statements(used_at_once))


def test_a_store_is_placed_at_the_element_that_it_writes(oxide: Lower) -> None:
    store = only(oxide("unsafe { *out.get_unchecked_mut(3) = 1 };"), k.Store)
    assert (store.span.col, store.span.end_col) == (10, 35)


@pytest.mark.parametrize(
    ("name", "scope"), [("Device", Scope.DEVICE), ("Block", Scope.BLOCK), ("System", Scope.SYSTEM)]
)
def test_scoped_atomics_of_cuda_oxide(oxide: Lower, name: str, scope: Scope) -> None:
    made = oxide("bins[0].fetch_sub(2, AtomicOrdering::AcqRel);", f"bins: &[{name}AtomicI64]")
    atomic = only(made, k.Atomic)
    assert isinstance(atomic, k.Atomic)
    assert (atomic.op, atomic.scope, atomic.type.bits) == ("sub", scope, 64)
    assert not made.regions[0].read_only


def test_cluster_barriers_arrive_and_wait(oxide: Lower) -> None:
    made = oxide("cluster::cluster_sync(); unsafe { cluster::barrier_cluster_arrive_relaxed_aligned() };")
    found = [(s.action, s.relaxed) for s in statements(made) if isinstance(s, k.Barrier)]
    assert found == [("arrive", False), ("wait", False), ("arrive", True)]


def test_grid_sync_is_a_barrier_of_the_device(oxide: Lower) -> None:
    barriers = [s for s in statements(oxide("this_grid().sync(); grid::sync();")) if isinstance(s, k.Barrier)]
    assert [b.scope for b in barriers] == [Scope.DEVICE, Scope.DEVICE]


def test_a_place_in_a_peers_shared_memory_is_a_mapped_pointer(oxide: Lower) -> None:
    body = (
        "static mut P: SharedArray<u32, 4> = SharedArray::UNINIT;\n"
        "let x = unsafe { cluster::dsmem_read_u32(&raw const P as *const u32, 1) };"
    )
    assert shown(oxide(body)) == ["v: u32 = load mapa[&P, 1]"]


def test_mbarriers_keep_their_order_and_scope(oxide: Lower) -> None:
    body = (
        "static mut B: Barrier = Barrier::UNINIT;\nunsafe { mbarrier_init(&raw mut B, 32);\n"
        "let t = mbarrier_arrive(&raw const B);\nwhile !mbarrier_try_wait(&raw const B, t) {}\n"
        "while !mbarrier_try_wait_parity(&raw const B, 1) {} }"
    )
    found = [(s.op, s.order, s.scope) for s in statements(oxide(body)) if isinstance(s, k.MBarrier)]
    assert found == [
        ("init", Order.RELAXED, Scope.BLOCK),
        ("arrive", Order.RELEASE, Scope.BLOCK),
        ("try_wait", Order.ACQUIRE, Scope.BLOCK),
        ("try_wait_parity", Order.ACQUIRE, Scope.BLOCK),
    ]


def test_async_copies_and_their_groups(oxide: Lower) -> None:
    body = (
        "use cuda_device::async_copy::*;\nstatic mut S: SharedArray<u32, 64, 16> = SharedArray::UNINIT;\n"
        "unsafe { cp_async_ca_16(&raw mut S as *mut u32, xs.as_ptr());\n"
        "cp_async_commit_group(); cp_async_wait_group(1); }"
    )
    made = oxide(body, "xs: &[u32]")
    assert shown(made) == ["cp.async &S <- &xs size 16", "cp.async.commit 0", "cp.async.wait 1"]


def test_block_reduce_has_a_barrier_before_the_second_step_and_one_after_it(oxide: Lower) -> None:
    body = (
        "static mut S: SharedArray<u32, 8> = SharedArray::UNINIT;\n"
        "let sum = block_reduce::<u32, Sum, _>(&this_thread_block(), xs[0], &raw mut S);"
    )
    made = oxide(body, "xs: &[u32]")
    kinds = [type(s).__name__ for s in statements(made) if isinstance(s, k.Store | k.Load | k.Barrier)]
    assert kinds == ["Load", "Store", "Barrier", "Load", "Store", "Barrier", "Load"]
    assert all(s.span.line == kernel_line(made) for s in statements(made) if isinstance(s, k.Store))


def kernel_line(kernel: k.Kernel) -> int:
    """The line of the call in the body above."""
    return kernel.span.line + 2


def test_tiles_of_a_warp_have_their_own_mask(oxide: Lower) -> None:
    made = oxide("let t = this_thread_block().tiled_partition::<8>(); t.sync();")
    barrier = only(made, k.Barrier)
    assert isinstance(barrier, k.Barrier)
    assert "255" in "\n".join(shown(made))


def test_inline_ptx_is_read(plain: Lower) -> None:
    items = "use core::arch::asm;"
    body = (
        'let v: u32; asm!("ld.acquire.gpu.u32 {v}, [{p}];", v = out(reg32) v, p = in(reg64) out, options(nostack));\n'
        'asm!("bar.sync 0;"); asm!("fence.acq_rel.sys;"); *out = v;'
    )
    assert shown(plain(body, items=items)) == [
        "v = atomic.load.acquire.device &out",
        "barrier.block.sync",
        "fence.acq_rel.system",
        "store.4 &out <- v",
    ]


def test_shared_memory_that_assembly_declares_is_a_region(plain: Lower) -> None:
    items = 'use core::arch::{asm, global_asm};\nglobal_asm!(".shared .align 16 .b8 ROW[256];");'
    body = 'let p: u64; asm!("cvta.shared.u64 {p}, ROW;", p = out(reg64) p); *(p as *mut u32).add(2) = n;'
    made = plain(body, items=items)
    assert (made.regions[-1].name, made.regions[-1].space) == ("ROW", k.Space.SHARED)
    assert shown(made) == ["store.4 &ROW+[8] <- n"]


def test_instructions_that_are_not_known_are_said_to_be(plain: Lower) -> None:
    made = plain('asm!("frobnicate.b32 {x};", x = in(reg32) n);', items="use core::arch::asm;")
    assert unmodelled(made) == ["inline assembly: the PTX instruction `frobnicate.b32 %[x]`"]


def test_calls_without_source_may_do_anything_they_can_reach(plain: Lower) -> None:
    items = 'extern "C" { fn touch(p: *mut u32); fn mix(a: u32) -> u32; }'
    made = plain("touch(out); let x = mix(n);", items=items)
    found = [(s.what.split("`")[1], s.accesses, s.syncs) for s in statements(made) if isinstance(s, k.Unmodelled)]
    assert found == [("crate::touch", True, True), ("crate::mix", False, False)]


def test_a_broken_body_costs_only_that_kernel(plain: Lower) -> None:
    made = plain("let x = yield_something!(1, 2);", items="")
    assert unmodelled(made) == ["the macro `yield_something!`"]


def test_recursion_ends(plain: Lower) -> None:
    made = plain("*out = f(n);", items="fn f(n: u32) -> u32 { if n == 0 { 1 } else { n * f(n - 1) } }")
    assert unmodelled(made) == ["the recursive call of `f`"]


def test_bounds_checks_stop_the_thread_and_unchecked_access_does_not(plain: Lower) -> None:
    checked = plain("*out = xs[n as usize];", "out: *mut u32, n: u32, xs: &[u32]")
    assert shown(checked)[0] == "assume (n as u64 < len(xs))"
    unchecked = plain("*out = *xs.get_unchecked(n as usize);", "out: *mut u32, n: u32, xs: &[u32]")
    assert not any(isinstance(s, k.Assume) for s in statements(unchecked))


def test_volatile_accesses_stay_volatile(plain: Lower) -> None:
    made = plain("while out.read_volatile() == 0 {} out.write_volatile(2);")
    assert [s.volatile for s in statements(made) if isinstance(s, k.Load | k.Store)] == [True, True]
