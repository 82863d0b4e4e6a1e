//! Special registers.
use core::arch::asm;
pub use core::arch::nvptx::{
    _block_dim_x, _block_dim_y, _block_dim_z, _block_idx_x, _block_idx_y, _block_idx_z, _grid_dim_x, _grid_dim_y,
    _grid_dim_z, _thread_idx_x, _thread_idx_y, _thread_idx_z,
};

macro_rules! registers {
    ($($name:ident $register:literal)*) => {$(
        #[inline(always)]
        pub fn $name() -> u32 {
            let v: u32;
            unsafe {
                asm!(concat!("mov.u32 {v}, %", $register, ";"), v = out(reg32) v,
                     options(pure, nomem, nostack, preserves_flags))
            };
            v
        }
    )*};
}

registers! {
    laneid "laneid" lanemask_eq "lanemask_eq" lanemask_lt "lanemask_lt" lanemask_le "lanemask_le"
    lanemask_gt "lanemask_gt" lanemask_ge "lanemask_ge"
    cluster_ctaid_x "cluster_ctaid.x" cluster_ctaid_y "cluster_ctaid.y" cluster_ctaid_z "cluster_ctaid.z"
    cluster_nctaid_x "cluster_nctaid.x" cluster_nctaid_y "cluster_nctaid.y" cluster_nctaid_z "cluster_nctaid.z"
    cluster_ctarank "cluster_ctarank" cluster_nctarank "cluster_nctarank" clusterid_x "clusterid.x"
    nclusterid_x "nclusterid.x" dynamic_smem_size "dynamic_smem_size" total_smem_size "total_smem_size"
}

#[inline(always)]
pub fn clock64() -> u64 {
    let v: u64;
    unsafe { asm!("mov.u64 {v}, %clock64;", v = out(reg64) v, options(nomem, nostack)) };
    v
}

#[inline(always)]
pub fn globaltimer() -> u64 {
    let v: u64;
    unsafe { asm!("mov.u64 {v}, %globaltimer;", v = out(reg64) v, options(nomem, nostack)) };
    v
}

#[inline(always)]
pub fn nanosleep(ns: u32) {
    unsafe { asm!("nanosleep.u32 {};", in(reg32) ns, options(nostack)) };
}

/// The window address of a generic pointer into shared memory.
#[inline(always)]
pub fn shared_address<T>(p: *const T) -> u32 {
    let a: u64;
    unsafe {
        asm!("cvta.to.shared.u64 {a}, {p};", a = out(reg64) a, p = in(reg64) p,
             options(pure, nomem, nostack, preserves_flags))
    };
    a as u32
}

/// The dynamic shared memory of the block; the extract declares the symbol.
#[inline(always)]
pub fn dynamic_shared() -> *mut u8 {
    let p: u64;
    unsafe {
        asm!("cvta.shared.u64 {p}, gpusafe_dynamic_shared;", p = out(reg64) p,
             options(pure, nomem, nostack, preserves_flags))
    };
    p as *mut u8
}

/// The address of a peer's copy of a shared variable.
#[inline(always)]
pub unsafe fn map_to_rank(p: u64, rank: u32) -> u64 {
    let q: u64;
    asm!("mapa.u64 {q}, {p}, {r};", q = out(reg64) q, p = in(reg64) p, r = in(reg32) rank,
         options(pure, nomem, nostack, preserves_flags));
    q
}
