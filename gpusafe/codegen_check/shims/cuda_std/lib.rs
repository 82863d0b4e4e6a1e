//! Device API of `cuda_std` for stock rustc, as far as gpusafe confirms kernels that use it.
#![no_std]
#![feature(asm_experimental_arch, stdarch_nvptx, macro_metavar_expr_concat, core_intrinsics)]
#![allow(internal_features, clippy::missing_safety_doc)]

pub mod atomic;
pub mod float {
    pub use gpusafe_ptx::float::GpuFloat;
}
pub mod shared;
pub mod thread;
pub mod warp;

pub use float::GpuFloat;

#[doc(hidden)]
pub use gpusafe_ptx;

pub mod misc {
    #[inline(always)]
    pub fn clock() -> u64 {
        gpusafe_ptx::special::clock64()
    }
}

pub mod mem {
    #[inline(always)]
    pub fn dynamic_smem_size() -> u32 {
        gpusafe_ptx::special::dynamic_smem_size()
    }

    #[inline(always)]
    pub fn total_smem_size() -> u32 {
        gpusafe_ptx::special::total_smem_size()
    }
}

pub mod prelude {
    pub use crate::float::GpuFloat;
    pub use crate::thread;
}
