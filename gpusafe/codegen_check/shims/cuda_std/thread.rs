//! Threads, block barriers, fences.
use core::arch::asm;
use gpusafe_ptx::{convergent, special};

macro_rules! indices {
    ($($name:ident $inner:ident)*) => {$(
        #[inline(always)]
        pub fn $name() -> u32 { unsafe { special::$inner() } }
    )*};
}

indices! {
    thread_idx_x _thread_idx_x thread_idx_y _thread_idx_y thread_idx_z _thread_idx_z
    block_idx_x _block_idx_x block_idx_y _block_idx_y block_idx_z _block_idx_z
    block_dim_x _block_dim_x block_dim_y _block_dim_y block_dim_z _block_dim_z
    grid_dim_x _grid_dim_x grid_dim_y _grid_dim_y grid_dim_z _grid_dim_z
}

/// Two coordinates.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct UVec2 {
    pub x: u32,
    pub y: u32,
}

/// Three coordinates.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct UVec3 {
    pub x: u32,
    pub y: u32,
    pub z: u32,
}

#[inline(always)]
pub fn thread_idx() -> UVec3 {
    UVec3 { x: thread_idx_x(), y: thread_idx_y(), z: thread_idx_z() }
}

#[inline(always)]
pub fn block_idx() -> UVec3 {
    UVec3 { x: block_idx_x(), y: block_idx_y(), z: block_idx_z() }
}

#[inline(always)]
pub fn block_dim() -> UVec3 {
    UVec3 { x: block_dim_x(), y: block_dim_y(), z: block_dim_z() }
}

#[inline(always)]
pub fn grid_dim() -> UVec3 {
    UVec3 { x: grid_dim_x(), y: grid_dim_y(), z: grid_dim_z() }
}

#[inline(always)]
pub fn index_1d() -> u32 {
    thread_idx_x() + block_idx_x() * block_dim_x()
}

#[inline(always)]
pub fn index_2d() -> UVec2 {
    UVec2 { x: index_1d(), y: thread_idx_y() + block_idx_y() * block_dim_y() }
}

#[inline(always)]
pub fn index_3d() -> UVec3 {
    let at = index_2d();
    UVec3 { x: at.x, y: at.y, z: thread_idx_z() + block_idx_z() * block_dim_z() }
}

#[inline(always)]
pub fn index() -> u32 {
    let (grid, block) = (grid_dim(), block_dim());
    let block_id = block_idx_x() + block_idx_y() * grid.x + grid.x * grid.y * block_idx_z();
    block_id * (block.x * block.y * block.z)
        + thread_idx_z() * (block.x * block.y)
        + thread_idx_y() * block.x
        + thread_idx_x()
}

#[inline(always)]
pub fn first() -> bool {
    block_idx() == UVec3 { x: 0, y: 0, z: 0 } && thread_idx() == UVec3 { x: 0, y: 0, z: 0 }
}

#[inline(always)]
pub fn warp_size() -> u32 {
    32
}

#[inline(always)]
pub fn sync_threads() {
    convergent::sync_threads()
}

#[inline(always)]
pub fn sync_threads_count(predicate: u32) -> u32 {
    convergent::sync_threads_count(predicate)
}

#[inline(always)]
pub fn sync_threads_and(predicate: u32) -> u32 {
    convergent::sync_threads_and(predicate)
}

#[inline(always)]
pub fn sync_threads_or(predicate: u32) -> u32 {
    convergent::sync_threads_or(predicate)
}

/// The real one is `membar.cta`, whatever its name says.
#[inline(always)]
pub fn grid_fence() {
    unsafe { asm!("membar.cta;", options(nostack)) }
}

#[inline(always)]
pub fn device_fence() {
    unsafe { asm!("membar.gl;", options(nostack)) }
}

#[inline(always)]
pub fn system_fence() {
    unsafe { asm!("membar.sys;", options(nostack)) }
}

#[inline(always)]
pub fn nanosleep(nanos: u32) {
    special::nanosleep(nanos)
}
