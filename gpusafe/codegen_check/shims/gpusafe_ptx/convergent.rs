//! Barriers and warp collectives.
use core::arch::asm;

unsafe extern "unadjusted" {
    #[link_name = "llvm.nvvm.barrier.cta.sync.aligned.all"]
    fn cta_sync(id: u32);
    #[link_name = "llvm.nvvm.barrier.cta.sync.aligned.count"]
    fn cta_sync_count(id: u32, threads: u32);
    #[link_name = "llvm.nvvm.barrier.cta.arrive.aligned.count"]
    fn cta_arrive_count(id: u32, threads: u32);
    #[link_name = "llvm.nvvm.barrier0.popc"]
    fn cta_popc(value: u32) -> u32;
    #[link_name = "llvm.nvvm.barrier0.and"]
    fn cta_and(value: u32) -> u32;
    #[link_name = "llvm.nvvm.barrier0.or"]
    fn cta_or(value: u32) -> u32;
    #[link_name = "llvm.nvvm.bar.warp.sync"]
    fn warp_sync(mask: u32);
    #[link_name = "llvm.nvvm.barrier.cluster.arrive"]
    fn cluster_arrive();
    #[link_name = "llvm.nvvm.barrier.cluster.arrive.aligned"]
    fn cluster_arrive_aligned();
    #[link_name = "llvm.nvvm.barrier.cluster.arrive.relaxed"]
    fn cluster_arrive_relaxed();
    #[link_name = "llvm.nvvm.barrier.cluster.arrive.relaxed.aligned"]
    fn cluster_arrive_relaxed_aligned();
    #[link_name = "llvm.nvvm.barrier.cluster.wait"]
    fn cluster_wait();
    #[link_name = "llvm.nvvm.barrier.cluster.wait.aligned"]
    fn cluster_wait_aligned();
    #[link_name = "llvm.nvvm.shfl.sync.idx.i32"]
    fn shfl_idx(mask: u32, value: u32, lane: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.up.i32"]
    fn shfl_up(mask: u32, value: u32, delta: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.down.i32"]
    fn shfl_down(mask: u32, value: u32, delta: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.bfly.i32"]
    fn shfl_bfly(mask: u32, value: u32, lanes: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.vote.all.sync"]
    fn vote_all(mask: u32, value: bool) -> bool;
    #[link_name = "llvm.nvvm.vote.any.sync"]
    fn vote_any(mask: u32, value: bool) -> bool;
    #[link_name = "llvm.nvvm.vote.ballot.sync"]
    fn vote_ballot(mask: u32, value: bool) -> u32;
    #[link_name = "llvm.nvvm.match.any.sync.i32"]
    fn match_any_32(mask: u32, value: u32) -> u32;
    #[link_name = "llvm.nvvm.match.any.sync.i64"]
    fn match_any_64(mask: u32, value: u64) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.add"]
    fn redux_add(value: u32, mask: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.umin"]
    fn redux_umin(value: u32, mask: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.umax"]
    fn redux_umax(value: u32, mask: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.min"]
    fn redux_min(value: u32, mask: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.max"]
    fn redux_max(value: u32, mask: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.and"]
    fn redux_and(value: u32, mask: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.or"]
    fn redux_or(value: u32, mask: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.xor"]
    fn redux_xor(value: u32, mask: u32) -> u32;
    #[link_name = "llvm.nvvm.activemask"]
    fn active() -> u32;
}

macro_rules! forward {
    ($($name:ident = $inner:ident($($arg:ident: $type:ty),*) $(-> $result:ty)?;)*) => {$(
        #[inline(always)]
        pub fn $name($($arg: $type),*) $(-> $result)? { unsafe { $inner($($arg),*) } }
    )*};
}

forward! {
    barrier_sync_count = cta_sync_count(id: u32, threads: u32);
    barrier_arrive_count = cta_arrive_count(id: u32, threads: u32);
    sync_threads_count = cta_popc(value: u32) -> u32;
    sync_threads_and = cta_and(value: u32) -> u32;
    sync_threads_or = cta_or(value: u32) -> u32;
    sync_warp = warp_sync(mask: u32);
    barrier_cluster_arrive = cluster_arrive();
    barrier_cluster_arrive_aligned = cluster_arrive_aligned();
    barrier_cluster_arrive_relaxed = cluster_arrive_relaxed();
    barrier_cluster_arrive_relaxed_aligned = cluster_arrive_relaxed_aligned();
    barrier_cluster_wait = cluster_wait();
    barrier_cluster_wait_aligned = cluster_wait_aligned();
    shuffle_idx = shfl_idx(mask: u32, value: u32, lane: u32, clamp: u32) -> u32;
    shuffle_up = shfl_up(mask: u32, value: u32, delta: u32, clamp: u32) -> u32;
    shuffle_down = shfl_down(mask: u32, value: u32, delta: u32, clamp: u32) -> u32;
    shuffle_xor = shfl_bfly(mask: u32, value: u32, lanes: u32, clamp: u32) -> u32;
    all_sync = vote_all(mask: u32, value: bool) -> bool;
    any_sync = vote_any(mask: u32, value: bool) -> bool;
    ballot_sync = vote_ballot(mask: u32, value: bool) -> u32;
    match_any_sync = match_any_32(mask: u32, value: u32) -> u32;
    match_any_64_sync = match_any_64(mask: u32, value: u64) -> u32;
    redux_sync_add = redux_add(value: u32, mask: u32) -> u32;
    redux_sync_umin = redux_umin(value: u32, mask: u32) -> u32;
    redux_sync_umax = redux_umax(value: u32, mask: u32) -> u32;
    redux_sync_min = redux_min(value: u32, mask: u32) -> u32;
    redux_sync_max = redux_max(value: u32, mask: u32) -> u32;
    redux_sync_and = redux_and(value: u32, mask: u32) -> u32;
    redux_sync_or = redux_or(value: u32, mask: u32) -> u32;
    redux_sync_xor = redux_xor(value: u32, mask: u32) -> u32;
    active_mask = active() -> u32;
}

/// `bar.sync 0`.
#[inline(always)]
pub fn sync_threads() {
    unsafe { cta_sync(0) }
}

/// Clamp operand of `shfl.sync` for a segment width (a power of two up to 32); `up` counts from the other end.
#[inline(always)]
pub fn clamp(width: u32, up: bool) -> u32 {
    ((32 - width) << 8) | if up { 0 } else { 31 }
}

/// The mask when all values are equal, else 0.
#[inline(always)]
pub fn match_all_sync(mask: u32, value: u32) -> u32 {
    let found: u32;
    unsafe {
        asm!("{{ .reg .pred p; match.all.sync.b32 {f}|p, {v}, {m}; }}", f = out(reg32) found, v = in(reg32) value,
             m = in(reg32) mask)
    };
    found
}

#[inline(always)]
pub fn match_all_64_sync(mask: u32, value: u64) -> u32 {
    let found: u32;
    unsafe {
        asm!("{{ .reg .pred p; match.all.sync.b64 {f}|p, {v}, {m}; }}", f = out(reg32) found, v = in(reg64) value,
             m = in(reg32) mask)
    };
    found
}

/// The leader's lane and whether this lane is it.
#[inline(always)]
pub fn elect_sync(mask: u32) -> (u32, bool) {
    let leader: u32;
    let chosen: u32;
    unsafe {
        asm!("{{ .reg .pred p; elect.sync {l}|p, {m}; selp.u32 {c}, 1, 0, p; }}", l = out(reg32) leader,
             c = out(reg32) chosen, m = in(reg32) mask)
    };
    (leader, chosen != 0)
}
