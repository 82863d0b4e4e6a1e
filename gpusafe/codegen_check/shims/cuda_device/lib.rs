//! Device API of cuda-oxide's `cuda_device` for stock rustc, as far as gpusafe confirms kernels that use it.
#![no_std]
#![feature(asm_experimental_arch, stdarch_nvptx, macro_metavar_expr_concat)]
#![allow(internal_features, non_snake_case, clippy::missing_safety_doc)]

pub mod async_copy;
pub mod atomic;
pub mod barrier;
pub mod cluster;
pub mod constant;
pub mod cooperative_groups;
pub mod debug;
pub mod disjoint;
pub mod fence;
pub mod grid;
pub mod shared;
pub mod thread;
pub mod tma;
pub mod uniform;
pub mod vector;
pub mod view;
pub mod warp;

pub use barrier::{
    Barrier, BarrierToken, GeneralBarrier, Invalidated, ManagedBarrier, MmaBarrier, MmaBarrierHandle, Ready, TmaBarrier,
    TmaBarrier0, TmaBarrier1, TmaBarrierHandle, Uninit,
};
pub use constant::ConstantMemory;
pub use disjoint::{DisjointSlice, SpaceLayout};
pub use fence::*;
pub use gpusafe_ptx::float::GpuFloat;
pub use shared::{DynamicSharedArray, SharedArray};
pub use thread::*;
pub use uniform::Uniform;
pub use view::*;
