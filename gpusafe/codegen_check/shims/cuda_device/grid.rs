//! The grid barrier of a cooperative launch.
use core::arch::asm;
use gpusafe_ptx::atomic::device;

#[inline(always)]
pub fn sync() {
    crate::thread::sync_threads();
    if crate::thread::threadIdx_x() == 0 && crate::thread::threadIdx_y() == 0 && crate::thread::threadIdx_z() == 0 {
        unsafe {
            let (high, low): (u32, u32);
            asm!("mov.u32 {h}, %envreg1; mov.u32 {l}, %envreg2;", h = out(reg32) high, l = out(reg32) low,
                 options(pure, nomem, nostack));
            let word = (((high as u64) << 32 | low as u64) as *mut u32).add(1);
            device::fence_acq_rel();
            let old = device::add_acq_rel_u32(word, 1);
            while (old ^ device::load_acquire_u32(word)) & 0x8000_0000 == 0 {}
            device::fence_acq_rel();
        }
    }
    crate::thread::sync_threads();
}
