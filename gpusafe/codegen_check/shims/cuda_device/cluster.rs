//! Clusters and distributed shared memory.
use core::arch::asm;
use gpusafe_ptx::{convergent, special};

macro_rules! registers {
    ($($name:ident $inner:ident)*) => {$(
        #[inline(always)]
        pub fn $name() -> u32 { special::$inner() }
    )*};
}

registers! {
    cluster_ctaidX cluster_ctaid_x cluster_ctaidY cluster_ctaid_y cluster_ctaidZ cluster_ctaid_z
    cluster_nctaidX cluster_nctaid_x cluster_nctaidY cluster_nctaid_y cluster_nctaidZ cluster_nctaid_z
    block_rank cluster_ctarank cluster_size cluster_nctarank cluster_idx clusterid_x num_clusters nclusterid_x
}

#[inline(always)]
pub fn cluster_sync() {
    convergent::barrier_cluster_arrive_aligned();
    convergent::barrier_cluster_wait_aligned();
}

macro_rules! halves {
    ($($name:ident)*) => {$(
        #[inline(always)]
        pub unsafe fn $name() { convergent::$name() }
    )*};
}

halves! {
    barrier_cluster_arrive barrier_cluster_arrive_aligned barrier_cluster_arrive_relaxed
    barrier_cluster_arrive_relaxed_aligned barrier_cluster_wait barrier_cluster_wait_aligned
}

#[inline(always)]
pub unsafe fn map_shared_rank<T>(p: *const T, rank: u32) -> *const T {
    special::map_to_rank(p as u64, rank) as *const T
}

#[inline(always)]
pub unsafe fn map_shared_rank_mut<T>(p: *mut T, rank: u32) -> *mut T {
    special::map_to_rank(p as u64, rank) as *mut T
}

#[inline(always)]
pub unsafe fn dsmem_read_u32(p: *const u32, rank: u32) -> u32 {
    let v: u32;
    asm!("{{ .reg .b32 a; mapa.shared::cluster.u32 a, {p}, {r}; ld.shared::cluster.u32 {v}, [a]; }}",
         v = out(reg32) v, p = in(reg32) special::shared_address(p), r = in(reg32) rank, options(nostack));
    v
}
