//! Threads, their indices, and the block barrier.
use crate::disjoint::DisjointSlice;
use core::marker::PhantomData;
use gpusafe_ptx::{convergent, special};

pub enum Index1D {}
pub enum Index2D<const ROW_STRIDE: usize> {}
pub enum Runtime2DIndex {}
pub enum WarpIndex {}

macro_rules! registers {
    ($($name:ident $inner:ident)*) => {$(
        #[inline(always)]
        pub fn $name() -> u32 { unsafe { special::$inner() } }
    )*};
}

registers! {
    threadIdx_x _thread_idx_x threadIdx_y _thread_idx_y threadIdx_z _thread_idx_z
    blockIdx_x _block_idx_x blockIdx_y _block_idx_y blockIdx_z _block_idx_z
    blockDim_x _block_dim_x blockDim_y _block_dim_y blockDim_z _block_dim_z
    gridDim_x _grid_dim_x gridDim_y _grid_dim_y gridDim_z _grid_dim_z
}

/// A thread's own index in an index space.
pub struct ThreadIndex<'kernel, IndexSpace = Index1D> {
    raw: usize,
    row: usize,
    col: usize,
    _kernel: PhantomData<(&'kernel (), fn() -> IndexSpace, *mut ())>,
}

impl<'kernel, S> ThreadIndex<'kernel, S> {
    #[inline(always)]
    fn of(raw: usize, row: usize, col: usize) -> Self {
        Self { raw, row, col, _kernel: PhantomData }
    }

    #[inline(always)]
    pub fn is_valid(&self) -> bool {
        self.raw != usize::MAX
    }

    #[inline(always)]
    pub fn get(&self) -> usize {
        self.raw
    }

    #[inline(always)]
    pub fn in_bounds(&self, len: usize) -> bool {
        self.raw < len
    }

    #[inline(always)]
    pub fn row(&self) -> usize {
        self.row
    }

    #[inline(always)]
    pub fn col(&self) -> usize {
        self.col
    }
}

pub trait FlatIndexSpace {}
impl FlatIndexSpace for Index1D {}
impl<const S: usize> FlatIndexSpace for Index2D<S> {}
impl FlatIndexSpace for WarpIndex {}

/// An index of 32 bits.
pub struct ThreadIndex32<'kernel>(u32, PhantomData<&'kernel ()>);

impl ThreadIndex32<'_> {
    #[inline(always)]
    pub fn get(&self) -> u32 {
        self.0
    }
}

/// Two coordinates of 32 bits.
pub struct ThreadCoord2D32<'kernel>(u32, u32, PhantomData<&'kernel ()>);

impl ThreadCoord2D32<'_> {
    #[inline(always)]
    pub fn row(&self) -> u32 {
        self.0
    }

    #[inline(always)]
    pub fn col(&self) -> u32 {
        self.1
    }
}

#[inline(always)]
fn along(block: u32, extent: u32, thread: u32) -> usize {
    block as usize * extent as usize + thread as usize
}

#[inline(always)]
pub fn index_2d_row() -> usize {
    along(blockIdx_y(), blockDim_y(), threadIdx_y())
}

#[inline(always)]
pub fn index_2d_col() -> usize {
    along(blockIdx_x(), blockDim_x(), threadIdx_x())
}

#[inline(always)]
fn one_dimensional() -> bool {
    blockDim_y() == 1 && blockDim_z() == 1 && gridDim_y() == 1 && gridDim_z() == 1
}

#[inline(always)]
pub fn index_1d<'kernel>() -> ThreadIndex<'kernel> {
    let raw = if one_dimensional() { index_2d_col() } else { usize::MAX };
    ThreadIndex::of(raw, 0, raw)
}

#[inline(always)]
pub fn index_2d<'kernel, const ROW_STRIDE: usize>() -> Option<ThreadIndex<'kernel, Index2D<ROW_STRIDE>>> {
    let (row, col) = (index_2d_row(), index_2d_col());
    if blockDim_z() != 1 || gridDim_z() != 1 || col >= ROW_STRIDE {
        return None;
    }
    Some(ThreadIndex::of(row * ROW_STRIDE + col, row, col))
}

#[inline(always)]
pub fn index_2d_runtime<'kernel, T>(
    slice: &DisjointSlice<'_, T, Runtime2DIndex>,
) -> Option<ThreadIndex<'kernel, Runtime2DIndex>> {
    let (row, col) = (index_2d_row(), index_2d_col());
    let width = slice.row_width() as usize;
    if blockDim_z() != 1 || gridDim_z() != 1 || col >= width {
        return None;
    }
    Some(ThreadIndex::of(row * width + col, row, col))
}

#[inline(always)]
pub fn warp_index<'kernel>() -> Option<ThreadIndex<'kernel, WarpIndex>> {
    if !one_dimensional() || special::laneid() != 0 {
        return None;
    }
    let warps = blockDim_x().div_ceil(32) as usize;
    Some(ThreadIndex::of(blockIdx_x() as usize * warps + (threadIdx_x() / 32) as usize, 0, 0))
}

/// What `#[kernel(launch_context = lc)]` binds.
pub struct LaunchContext;

#[inline(always)]
pub fn index_1d_u32<'kernel>(_: &LaunchContext) -> ThreadIndex32<'kernel> {
    ThreadIndex32(blockIdx_x().wrapping_mul(blockDim_x()).wrapping_add(threadIdx_x()), PhantomData)
}

#[inline(always)]
pub fn coord_2d_u32<'kernel>(_: &LaunchContext) -> ThreadCoord2D32<'kernel> {
    ThreadCoord2D32(
        blockIdx_y().wrapping_mul(blockDim_y()).wrapping_add(threadIdx_y()),
        blockIdx_x().wrapping_mul(blockDim_x()).wrapping_add(threadIdx_x()),
        PhantomData,
    )
}

#[inline(always)]
pub fn sync_threads() {
    convergent::sync_threads()
}
