//! Debugging aids.

#[inline(always)]
pub fn clock64() -> u64 {
    gpusafe_ptx::special::clock64()
}

#[inline(always)]
pub fn globaltimer() -> u64 {
    gpusafe_ptx::special::globaltimer()
}

#[inline(always)]
pub fn trap() -> ! {
    unsafe { core::arch::nvptx::trap() }
}

#[inline(always)]
pub fn breakpoint() {
    unsafe { core::arch::asm!("brkpt;", options(nomem, nostack)) }
}

/// Printing has no place in a confirmation.
#[macro_export]
macro_rules! gpu_printf {
    ($($argument:tt)*) => {};
}

#[macro_export]
macro_rules! gpu_assert {
    ($condition:expr $(, $($message:tt)*)?) => {
        if !$condition {
            #[allow(unused_unsafe)]
            unsafe { ::core::arch::nvptx::trap() }
        }
    };
}
