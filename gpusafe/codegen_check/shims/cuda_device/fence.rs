//! Memory fences.
use core::arch::asm;

#[inline(always)]
pub fn threadfence_block() {
    unsafe { asm!("membar.cta;", options(nostack)) }
}

#[inline(always)]
pub fn threadfence() {
    unsafe { asm!("membar.gl;", options(nostack)) }
}

#[inline(always)]
pub fn threadfence_system() {
    unsafe { asm!("membar.sys;", options(nostack)) }
}
