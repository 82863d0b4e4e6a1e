//! `cp.async`.
use crate::barrier::Barrier;
use core::arch::asm;
use gpusafe_ptx::special::shared_address;

macro_rules! copies {
    ($($name:ident $zfill:ident $cache:literal $bytes:literal)*) => {$(
        #[inline(always)]
        pub unsafe fn $name(to: *mut u32, from: *const u32) {
            asm!(concat!("cp.async.", $cache, ".shared.global [{t}], [{f}], ", $bytes, ";"),
                 t = in(reg32) shared_address(to), f = in(reg64) from, options(nostack));
        }
        #[inline(always)]
        pub unsafe fn $zfill(to: *mut u32, from: *const u8, size: u32) {
            asm!(concat!("cp.async.", $cache, ".shared.global [{t}], [{f}], ", $bytes, ", {s};"),
                 t = in(reg32) shared_address(to), f = in(reg64) from, s = in(reg32) size, options(nostack));
        }
    )*};
}

copies! {
    cp_async_ca_4 cp_async_ca_zfill_4 "ca" 4 cp_async_ca_8 cp_async_ca_zfill_8 "ca" 8
    cp_async_ca_16 cp_async_ca_zfill_16 "ca" 16 cp_async_cg_16 cp_async_cg_zfill_16 "cg" 16
}

#[inline(always)]
pub unsafe fn cp_async_commit_group() {
    asm!("cp.async.commit_group;", options(nostack));
}

#[inline(always)]
pub unsafe fn cp_async_wait_all() {
    asm!("cp.async.wait_all;", options(nostack));
}

/// The bound must be a constant where it is used.
#[inline(always)]
pub unsafe fn cp_async_wait_group(pending: u32) {
    match pending {
        0 => asm!("cp.async.wait_group 0;", options(nostack)),
        1 => asm!("cp.async.wait_group 1;", options(nostack)),
        2 => asm!("cp.async.wait_group 2;", options(nostack)),
        3 => asm!("cp.async.wait_group 3;", options(nostack)),
        4 => asm!("cp.async.wait_group 4;", options(nostack)),
        5 => asm!("cp.async.wait_group 5;", options(nostack)),
        6 => asm!("cp.async.wait_group 6;", options(nostack)),
        _ => asm!("cp.async.wait_group 7;", options(nostack)),
    }
}

#[inline(always)]
pub unsafe fn cp_async_mbarrier_arrive(bar: *mut Barrier) {
    asm!("cp.async.mbarrier.arrive.shared.b64 [{a}];", a = in(reg32) shared_address(bar), options(nostack));
}

#[inline(always)]
pub unsafe fn cp_async_mbarrier_arrive_shared(bar: *mut Barrier) {
    cp_async_mbarrier_arrive(bar)
}

#[inline(always)]
pub unsafe fn cp_async_mbarrier_arrive_noinc_shared(bar: *mut Barrier) {
    cp_async_mbarrier_arrive_noinc(bar)
}

#[inline(always)]
pub unsafe fn cp_async_mbarrier_arrive_noinc(bar: *mut Barrier) {
    asm!("cp.async.mbarrier.arrive.noinc.shared.b64 [{a}];", a = in(reg32) shared_address(bar), options(nostack));
}
