//! The instructions that both frameworks' shims build on.
//!
//! Barriers and warp collectives go through LLVM's intrinsics, which are convergent; inline assembly is not, and LLVM
//! would clone it into the arms of branches. Everything that only orders memory is inline assembly with its exact PTX.
#![no_std]
#![feature(asm_experimental_arch, stdarch_nvptx, link_llvm_intrinsics, abi_unadjusted, macro_metavar_expr_concat)]
#![allow(improper_ctypes, internal_features, clippy::missing_safety_doc)]

pub mod atomic;
pub mod convergent;
pub mod float;
pub mod special;
