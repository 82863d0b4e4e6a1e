//! Bulk tensor copies.
use crate::barrier::Barrier;
use core::arch::asm;
use gpusafe_ptx::special::shared_address;

#[repr(C, align(64))]
#[derive(Clone, Copy)]
pub struct TmaDescriptor {
    _opaque: [u64; 16],
}

impl TmaDescriptor {
    pub const UNINIT: Self = Self { _opaque: [0; 16] };
}

macro_rules! tensors {
    ($($load:ident $store:ident $rank:literal $at:literal $($c:ident)*;)*) => {$(
        #[inline(always)]
        pub unsafe fn $load(to: *mut u8, map: *const TmaDescriptor, $($c: i32,)* bar: *mut Barrier) {
            asm!(concat!("cp.async.bulk.tensor.", $rank,
                         ".shared::cluster.global.mbarrier::complete_tx::bytes [{to}], [{map}, {{", $at, "}}], [{bar}];"),
                 to = in(reg32) shared_address(to), map = in(reg64) map, bar = in(reg32) shared_address(bar),
                 $($c = in(reg32) $c,)* options(nostack));
        }
        #[inline(always)]
        pub unsafe fn $store(from: *const u8, map: *const TmaDescriptor, $($c: i32),*) {
            asm!(concat!("cp.async.bulk.tensor.", $rank,
                         ".global.shared::cta.bulk_group [{map}, {{", $at, "}}], [{from}];"),
                 from = in(reg32) shared_address(from), map = in(reg64) map, $($c = in(reg32) $c,)* options(nostack));
        }
    )*};
}

tensors! {
    cp_async_bulk_tensor_1d_g2s cp_async_bulk_tensor_1d_s2g "1d" "{c0}" c0;
    cp_async_bulk_tensor_2d_g2s cp_async_bulk_tensor_2d_s2g "2d" "{c0}, {c1}" c0 c1;
    cp_async_bulk_tensor_3d_g2s cp_async_bulk_tensor_3d_s2g "3d" "{c0}, {c1}, {c2}" c0 c1 c2;
    cp_async_bulk_tensor_4d_g2s cp_async_bulk_tensor_4d_s2g "4d" "{c0}, {c1}, {c2}, {c3}" c0 c1 c2 c3;
    cp_async_bulk_tensor_5d_g2s cp_async_bulk_tensor_5d_s2g "5d" "{c0}, {c1}, {c2}, {c3}, {c4}" c0 c1 c2 c3 c4;
}

#[inline(always)]
pub unsafe fn cp_async_bulk_tensor_2d_g2s_multicast(
    to: *mut u8,
    map: *const TmaDescriptor,
    c0: i32,
    c1: i32,
    bar: *mut Barrier,
    mask: u16,
) {
    asm!("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster",
         "[{to}], [{map}, {{{c0}, {c1}}}], [{bar}], {mask};",
         to = in(reg32) shared_address(to), map = in(reg64) map, bar = in(reg32) shared_address(bar),
         c0 = in(reg32) c0, c1 = in(reg32) c1, mask = in(reg16) mask, options(nostack));
}

#[inline(always)]
pub fn cp_async_bulk_commit_group() {
    unsafe { asm!("cp.async.bulk.commit_group;", options(nostack)) }
}

/// The bound must be a constant where it is used.
#[inline(always)]
pub fn cp_async_bulk_wait_group(pending: u32) {
    unsafe {
        match pending {
            0 => asm!("cp.async.bulk.wait_group 0;", options(nostack)),
            1 => asm!("cp.async.bulk.wait_group 1;", options(nostack)),
            _ => asm!("cp.async.bulk.wait_group 2;", options(nostack)),
        }
    }
}

/// The bound must be a constant where it is used.
#[inline(always)]
pub fn cp_async_bulk_wait_group_read(pending: u32) {
    unsafe {
        match pending {
            0 => asm!("cp.async.bulk.wait_group.read 0;", options(nostack)),
            1 => asm!("cp.async.bulk.wait_group.read 1;", options(nostack)),
            _ => asm!("cp.async.bulk.wait_group.read 2;", options(nostack)),
        }
    }
}
