//! Shared memory.

/// A shared array; each place that it is written at has one of its own.
#[macro_export]
macro_rules! shared_array {
    ($type:ty; $len:expr) => {{
        let p: u64;
        #[allow(unused_unsafe)]
        unsafe {
            ::core::arch::asm!(
                "{{ .shared .align 16 .b8 gpusafe_array[{n}]; cvta.shared.u64 {p}, gpusafe_array; }}",
                p = out(reg64) p,
                n = const $len * ::core::mem::size_of::<$type>(),
                options(pure, nomem, nostack, preserves_flags)
            )
        };
        p as *mut $type
    }};
}

#[inline(always)]
pub fn dynamic_shared_mem<T>() -> *mut T {
    gpusafe_ptx::special::dynamic_shared() as *mut T
}
