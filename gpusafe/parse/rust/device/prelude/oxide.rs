//! What kernels use of NVlabs' cuda-oxide (`cuda_device` 0.2). Only the lowering reads this file.
//!
//! `#[shared]` on a type: statics of it live in shared memory. `#[constant]`: in constant memory.

// -- threads ----------------------------------------------------------------------------------------------------------

pub fn threadIdx_x() -> u32 {
    __special("tid.x")
}
pub fn threadIdx_y() -> u32 {
    __special("tid.y")
}
pub fn threadIdx_z() -> u32 {
    __special("tid.z")
}
pub fn blockIdx_x() -> u32 {
    __special("ctaid.x")
}
pub fn blockIdx_y() -> u32 {
    __special("ctaid.y")
}
pub fn blockIdx_z() -> u32 {
    __special("ctaid.z")
}
pub fn blockDim_x() -> u32 {
    __special("ntid.x")
}
pub fn blockDim_y() -> u32 {
    __special("ntid.y")
}
pub fn blockDim_z() -> u32 {
    __special("ntid.z")
}
pub fn gridDim_x() -> u32 {
    __special("nctaid.x")
}
pub fn gridDim_y() -> u32 {
    __special("nctaid.y")
}
pub fn gridDim_z() -> u32 {
    __special("nctaid.z")
}

pub enum Index1D {}
pub enum Index2D<const ROW_STRIDE: usize> {}
pub enum WarpIndex {}
pub enum Runtime2DIndex {}
pub enum LinearTiles<const N: usize> {}
pub enum RowMajorTiles<const ROWS: usize, const COLS: usize, const ROW_STRIDE: usize> {}
pub enum RuntimeRowMajorTiles<const ROWS: usize, const COLS: usize> {}

/// A witness of the thread's own index; `usize::MAX` when it is not one. The library packs row and column of a
/// `Runtime2DIndex` into one word; here they stay apart.
pub struct ThreadIndex<IndexSpace = Index1D> {
    raw: usize,
    at_row: usize,
    at_col: usize,
}
fn flat_index<S>(raw: usize) -> ThreadIndex<S> {
    ThreadIndex { raw, at_row: 0, at_col: 0 }
}
impl<S> ThreadIndex<S> {
    fn is_valid(&self) -> bool {
        self.raw != usize::MAX
    }
    fn get(&self) -> usize {
        self.raw
    }
    fn in_bounds(&self, len: usize) -> bool {
        self.raw != usize::MAX && self.raw < len
    }
    fn row(&self) -> usize {
        self.at_row
    }
    fn col(&self) -> usize {
        self.at_col
    }
}

fn flat_x() -> usize {
    blockIdx_x() as usize * blockDim_x() as usize + threadIdx_x() as usize
}
fn flat_y() -> usize {
    blockIdx_y() as usize * blockDim_y() as usize + threadIdx_y() as usize
}
fn y_is_unit() -> bool {
    __launch_axes() < 2 || (blockDim_y() == 1 && gridDim_y() == 1)
}
fn z_is_unit() -> bool {
    __launch_axes() < 3 || (blockDim_z() == 1 && gridDim_z() == 1)
}

pub fn index_1d() -> ThreadIndex<Index1D> {
    flat_index(if y_is_unit() && z_is_unit() { flat_x() } else { usize::MAX })
}
pub fn index_2d<const ROW_STRIDE: usize>() -> Option<ThreadIndex<Index2D<ROW_STRIDE>>> {
    let row = flat_y();
    let col = flat_x();
    if z_is_unit() && col < ROW_STRIDE {
        Some(flat_index(row * ROW_STRIDE + col))
    } else {
        None
    }
}
pub fn index_2d_runtime<T>(slice: &DisjointSlice<T, Runtime2DIndex>) -> Option<ThreadIndex<Runtime2DIndex>> {
    let width = slice.space as usize;
    let row = flat_y();
    let col = flat_x();
    if width != 0 && z_is_unit() && col < width && row <= 0xffff_ffff {
        Some(ThreadIndex { raw: 0, at_row: row, at_col: col })
    } else {
        None
    }
}
pub fn warp_index() -> Option<ThreadIndex<WarpIndex>> {
    if y_is_unit() && z_is_unit() && lane_id() == 0 {
        let warps = blockDim_x().div_ceil(32) as usize;
        Some(flat_index(blockIdx_x() as usize * warps + (threadIdx_x() / 32) as usize))
    } else {
        None
    }
}
pub fn index_2d_row() -> usize {
    flat_y()
}
pub fn index_2d_col() -> usize {
    flat_x()
}

pub struct LaunchContext;
pub struct ThreadIndex32 {
    raw: u32,
}
impl ThreadIndex32 {
    fn get(&self) -> u32 {
        self.raw
    }
}
pub struct ThreadCoord2D32 {
    row: u32,
    col: u32,
}
impl ThreadCoord2D32 {
    fn row(&self) -> u32 {
        self.row
    }
    fn col(&self) -> u32 {
        self.col
    }
}
/// The host proves grid * block <= 2^32 for contracts with `coordinates = u32`.
pub fn index_1d_u32<C>(context: C) -> ThreadIndex32 {
    ThreadIndex32 { raw: blockIdx_x() * blockDim_x() + threadIdx_x() }
}
pub fn coord_2d_u32<C>(context: C) -> ThreadCoord2D32 {
    ThreadCoord2D32 {
        row: blockIdx_y() * blockDim_y() + threadIdx_y(),
        col: blockIdx_x() * blockDim_x() + threadIdx_x(),
    }
}

pub struct Uniform<T> {
    value: T,
}
impl<T> Uniform<T> {
    fn get(&self) -> T {
        self.value
    }
    fn new_unchecked(value: T) -> Uniform<T> {
        Uniform { value }
    }
    fn wrapping_add(self, other: Uniform<T>) -> Uniform<T> {
        Uniform { value: self.value + other.value }
    }
    fn wrapping_sub(self, other: Uniform<T>) -> Uniform<T> {
        Uniform { value: self.value - other.value }
    }
    fn wrapping_mul(self, other: Uniform<T>) -> Uniform<T> {
        Uniform { value: self.value * other.value }
    }
    fn wrapping_mul_const<const C: u32>(self) -> Uniform<T> {
        Uniform { value: self.value * C }
    }
    fn wrapping_add_const<const C: u32>(self) -> Uniform<T> {
        Uniform { value: self.value + C }
    }
}
pub fn block_dim_x() -> Uniform<u32> {
    Uniform { value: blockDim_x() }
}
pub fn block_dim_y() -> Uniform<u32> {
    Uniform { value: blockDim_y() }
}
pub fn block_dim_z() -> Uniform<u32> {
    Uniform { value: blockDim_z() }
}
pub fn grid_dim_x() -> Uniform<u32> {
    Uniform { value: gridDim_x() }
}
pub fn grid_dim_y() -> Uniform<u32> {
    Uniform { value: gridDim_y() }
}
pub fn grid_dim_z() -> Uniform<u32> {
    Uniform { value: gridDim_z() }
}

// -- exclusive views --------------------------------------------------------------------------------------------------

pub struct DisjointSlice<T, IndexSpace = Index1D> {
    ptr: *mut T,
    len: usize,
    space: u32,
}
impl<T, S> DisjointSlice<T, S> {
    fn len(&self) -> usize {
        self.len
    }
    fn is_empty(&self) -> bool {
        self.len == 0
    }
    fn as_mut_ptr(&mut self) -> *mut T {
        self.ptr
    }
    fn as_ptr(&self) -> *const T {
        self.ptr
    }
    fn row_width(&self) -> u32 {
        self.space
    }
    fn get_unchecked_mut(&mut self, idx: usize) -> &mut T {
        &mut *self.ptr.add(idx)
    }
    fn from_raw_parts(ptr: *mut T, len: usize) -> DisjointSlice<T, S> {
        DisjointSlice { ptr, len, space: 0 }
    }
    /// The space is not written out as a rule; of those that hold a width, this is the one that users make themselves.
    fn from_raw_parts_with_space(ptr: *mut T, len: usize, space: u32) -> DisjointSlice<T, Runtime2DIndex> {
        DisjointSlice { ptr, len, space }
    }
    fn from_mut_slice(slice: &mut [T]) -> DisjointSlice<T, S> {
        DisjointSlice { ptr: slice.as_mut_ptr(), len: slice.len(), space: 0 }
    }
}
impl<T> DisjointSlice<T, Runtime2DIndex> {
    fn get_mut(&mut self, idx: ThreadIndex<Runtime2DIndex>) -> Option<&mut T> {
        let width = self.space as usize;
        let i = idx.at_row * width + idx.at_col;
        if idx.at_col < width && i < self.len {
            Some(&mut *self.ptr.add(i))
        } else {
            None
        }
    }
}
impl<T, S> DisjointSlice<T, S> {
    fn get_mut(&mut self, idx: ThreadIndex<S>) -> Option<&mut T> {
        let i = idx.raw;
        if i != usize::MAX && i < self.len {
            Some(&mut *self.ptr.add(i))
        } else {
            None
        }
    }
}
impl<T> DisjointSlice<T, Index1D> {
    fn get_mut_indexed<C>(&mut self, context: C) -> Option<(&mut T, ThreadIndex<Index1D>)> {
        let idx = index_1d();
        if idx.raw != usize::MAX && idx.raw < self.len {
            Some((&mut *self.ptr.add(idx.raw), idx))
        } else {
            None
        }
    }
    fn element_thread32(&mut self, thread: ThreadIndex32) -> Option<InBoundsMut32<T>> {
        let index = thread.raw as usize;
        if index < self.len {
            Some(InBoundsMut32 { ptr: self.ptr.add(index) })
        } else {
            None
        }
    }
}
impl<T, const ROW_STRIDE: usize> DisjointSlice<T, Index2D<ROW_STRIDE>> {
    fn get_mut_indexed<C>(&mut self, context: C) -> Option<(&mut T, ThreadIndex<Index2D<ROW_STRIDE>>)> {
        let row = flat_y();
        let col = flat_x();
        let raw = row * ROW_STRIDE + col;
        if z_is_unit() && col < ROW_STRIDE && raw < self.len {
            Some((&mut *self.ptr.add(raw), flat_index(raw)))
        } else {
            None
        }
    }
}
impl<T, const N: usize> DisjointSlice<T, LinearTiles<N>> {
    fn tile_thread32(&mut self, thread: ThreadIndex32) -> Option<StaticViewMut32<T, N>> {
        let start = thread.raw as usize * N;
        if N != 0 && start + N <= self.len {
            Some(StaticViewMut32 { ptr: self.ptr.add(start) })
        } else {
            None
        }
    }
    fn thread_run32(&mut self, thread: ThreadIndex32) -> Option<ThreadRunMut32<T, N>> {
        run_at::<T, N>(self.ptr, self.len, thread.raw as usize)
    }
    fn grid_stride_runs32(&mut self, thread: ThreadIndex32) -> GridStrideRuns32<T, N> {
        GridStrideRuns32 {
            ptr: self.ptr,
            len: self.len,
            next: thread.raw as usize,
            period: gridDim_x() as usize * blockDim_x() as usize,
        }
    }
}
fn run_at<T, const N: usize>(ptr: *mut T, len: usize, tile: usize) -> Option<ThreadRunMut32<T, N>> {
    let start = tile * N;
    if start >= len {
        return None;
    }
    if len - start >= N {
        Some(ThreadRunMut32::Full(StaticViewMut32 { ptr: ptr.add(start) }))
    } else {
        Some(ThreadRunMut32::Clipped(RuntimeViewMut32 { ptr: ptr.add(start), len: (len - start) as u32 }))
    }
}
impl<T, const ROWS: usize, const COLS: usize, const ROW_STRIDE: usize>
    DisjointSlice<T, RowMajorTiles<ROWS, COLS, ROW_STRIDE>>
{
    fn tile_2d32(&mut self, thread: ThreadCoord2D32) -> Option<StaticTileMut32<T, ROWS, COLS, ROW_STRIDE>> {
        let row = thread.row as usize * ROWS;
        let col = thread.col as usize * COLS;
        let last = (row + ROWS - 1) * ROW_STRIDE + col + COLS - 1;
        if col + COLS <= ROW_STRIDE && last < self.len {
            Some(StaticTileMut32 { ptr: self.ptr.add(row * ROW_STRIDE + col) })
        } else {
            None
        }
    }
}
impl<T, const ROWS: usize, const COLS: usize> DisjointSlice<T, RuntimeRowMajorTiles<ROWS, COLS>> {
    fn tile_2d32_rt(&mut self, thread: ThreadCoord2D32) -> Option<RuntimeTileMut32<T, ROWS, COLS>> {
        let stride = self.space as usize;
        let row = thread.row as usize * ROWS;
        let col = thread.col as usize * COLS;
        let last = (row + ROWS - 1) * stride + col + COLS - 1;
        if col + COLS <= stride && last < self.len {
            Some(RuntimeTileMut32 { ptr: self.ptr.add(row * stride + col), stride: self.space })
        } else {
            None
        }
    }
}

pub struct LocalIndex32<const N: usize> {
    raw: u32,
}
impl<const N: usize> LocalIndex32<N> {
    fn new(raw: u32) -> Option<LocalIndex32<N>> {
        if (raw as usize) < N {
            Some(LocalIndex32 { raw })
        } else {
            None
        }
    }
    fn constant<const I: u32>() -> LocalIndex32<N> {
        LocalIndex32 { raw: I }
    }
    fn get(&self) -> u32 {
        self.raw
    }
}
pub struct InBounds32<T> {
    ptr: *const T,
}
impl<T> InBounds32<T> {
    fn get(&self) -> &T {
        &*self.ptr
    }
    fn read(&self) -> T {
        *self.ptr
    }
}
pub struct InBoundsMut32<T> {
    ptr: *mut T,
}
impl<T> InBoundsMut32<T> {
    fn get(&self) -> &T {
        &*self.ptr
    }
    fn get_mut(&mut self) -> &mut T {
        &mut *self.ptr
    }
    fn read(&self) -> T {
        *self.ptr
    }
    fn write(&mut self, value: T) {
        *self.ptr = value;
    }
}
pub struct StaticView32<T, const N: usize> {
    ptr: *const T,
}
impl<T, const N: usize> StaticView32<T, N> {
    fn from_slice(slice: &[T]) -> Option<StaticView32<T, N>> {
        if slice.len() == N {
            Some(StaticView32 { ptr: slice.as_ptr() })
        } else {
            None
        }
    }
    fn at(&self, index: LocalIndex32<N>) -> InBounds32<T> {
        InBounds32 { ptr: self.ptr.add(index.raw as usize) }
    }
    fn at_const<const I: u32>(&self) -> InBounds32<T> {
        InBounds32 { ptr: self.ptr.add(I as usize) }
    }
    fn len(&self) -> u32 {
        N as u32
    }
}
pub struct StaticViewMut32<T, const N: usize> {
    ptr: *mut T,
}
impl<T, const N: usize> StaticViewMut32<T, N> {
    fn from_slice(slice: &mut [T]) -> Option<StaticViewMut32<T, N>> {
        if slice.len() == N {
            Some(StaticViewMut32 { ptr: slice.as_mut_ptr() })
        } else {
            None
        }
    }
    fn at(&mut self, index: LocalIndex32<N>) -> InBoundsMut32<T> {
        InBoundsMut32 { ptr: self.ptr.add(index.raw as usize) }
    }
    fn at_const<const I: u32>(&mut self) -> InBoundsMut32<T> {
        InBoundsMut32 { ptr: self.ptr.add(I as usize) }
    }
    fn len(&self) -> u32 {
        N as u32
    }
}
pub struct StaticTileMut32<T, const ROWS: usize, const COLS: usize, const ROW_STRIDE: usize> {
    ptr: *mut T,
}
impl<T, const ROWS: usize, const COLS: usize, const ROW_STRIDE: usize> StaticTileMut32<T, ROWS, COLS, ROW_STRIDE> {
    fn at(&mut self, row: LocalIndex32<ROWS>, col: LocalIndex32<COLS>) -> InBoundsMut32<T> {
        InBoundsMut32 { ptr: self.ptr.add(row.raw as usize * ROW_STRIDE + col.raw as usize) }
    }
    fn at_const<const ROW: u32, const COL: u32>(&mut self) -> InBoundsMut32<T> {
        InBoundsMut32 { ptr: self.ptr.add(ROW as usize * ROW_STRIDE + COL as usize) }
    }
    fn rows(&self) -> u32 {
        ROWS as u32
    }
    fn cols(&self) -> u32 {
        COLS as u32
    }
}
pub struct RuntimeTileMut32<T, const ROWS: usize, const COLS: usize> {
    ptr: *mut T,
    stride: u32,
}
impl<T, const ROWS: usize, const COLS: usize> RuntimeTileMut32<T, ROWS, COLS> {
    fn at(&mut self, row: LocalIndex32<ROWS>, col: LocalIndex32<COLS>) -> InBoundsMut32<T> {
        InBoundsMut32 { ptr: self.ptr.add(row.raw as usize * self.stride as usize + col.raw as usize) }
    }
    fn at_const<const ROW: u32, const COL: u32>(&mut self) -> InBoundsMut32<T> {
        InBoundsMut32 { ptr: self.ptr.add(ROW as usize * self.stride as usize + COL as usize) }
    }
    fn rows(&self) -> u32 {
        ROWS as u32
    }
    fn cols(&self) -> u32 {
        COLS as u32
    }
    fn stride(&self) -> u32 {
        self.stride
    }
}
pub struct RuntimeViewMut32<T> {
    ptr: *mut T,
    len: u32,
}
impl<T> RuntimeViewMut32<T> {
    fn at(&mut self, index: u32) -> Option<InBoundsMut32<T>> {
        if index < self.len {
            Some(InBoundsMut32 { ptr: self.ptr.add(index as usize) })
        } else {
            None
        }
    }
    fn len(&self) -> u32 {
        self.len
    }
    fn is_empty(&self) -> bool {
        self.len == 0
    }
}
pub enum ThreadRunMut32<T, const N: usize> {
    Full(StaticViewMut32<T, N>),
    Clipped(RuntimeViewMut32<T>),
}
impl<T, const N: usize> ThreadRunMut32<T, N> {
    fn len(&self) -> u32 {
        match self {
            ThreadRunMut32::Full(view) => N as u32,
            ThreadRunMut32::Clipped(view) => view.len,
        }
    }
    fn is_empty(&self) -> bool {
        false
    }
    fn is_clipped(&self) -> bool {
        match self {
            ThreadRunMut32::Full(view) => false,
            ThreadRunMut32::Clipped(view) => true,
        }
    }
    fn at(&mut self, index: u32) -> Option<InBoundsMut32<T>> {
        match self {
            ThreadRunMut32::Full(view) => {
                if (index as usize) < N {
                    Some(InBoundsMut32 { ptr: view.ptr.add(index as usize) })
                } else {
                    None
                }
            }
            ThreadRunMut32::Clipped(view) => view.at(index),
        }
    }
}
pub struct GridStrideRuns32<T, const N: usize> {
    ptr: *mut T,
    len: usize,
    next: usize,
    period: usize,
}
impl<T, const N: usize> GridStrideRuns32<T, N> {
    fn next_run(&mut self) -> Option<ThreadRunMut32<T, N>> {
        let tile = self.next;
        self.next = self.next + self.period;
        run_at::<T, N>(self.ptr, self.len, tile)
    }
    fn period(&self) -> u64 {
        self.period as u64
    }
}

pub struct MatrixView32<T> {
    ptr: *const T,
    len: usize,
    stride: u32,
}
impl<T> MatrixView32<T> {
    fn new(slice: &[T], stride: u32) -> MatrixView32<T> {
        MatrixView32 { ptr: slice.as_ptr(), len: slice.len(), stride }
    }
    fn row(&self, row: u32, cols: u32) -> Option<RowView32<T>> {
        let start = row as usize * self.stride as usize;
        if cols != 0 && cols <= self.stride && start + (cols as usize - 1) < self.len {
            Some(RowView32 { ptr: self.ptr.add(start), len: cols })
        } else {
            None
        }
    }
    fn col(&self, col: u32, rows: u32) -> Option<ColView32<T>> {
        let last = (rows as usize - 1) * self.stride as usize + col as usize;
        if rows != 0 && col < self.stride && last < self.len {
            Some(ColView32 { ptr: self.ptr.add(col as usize), stride: self.stride, len: rows })
        } else {
            None
        }
    }
    fn stride(&self) -> u32 {
        self.stride
    }
    fn len(&self) -> usize {
        self.len
    }
}
pub struct RowView32<T> {
    ptr: *const T,
    len: u32,
}
impl<T> RowView32<T> {
    fn get(&self, i: u32) -> Option<T> {
        if i < self.len {
            Some(*self.ptr.add(i as usize))
        } else {
            None
        }
    }
    fn iter(&self) -> RowViewIter32<T> {
        RowViewIter32 { ptr: self.ptr, len: self.len, at: 0 }
    }
    fn zip_exact(self, col: ColView32<T>) -> Option<ZipView32<T>> {
        if self.len == col.len {
            Some(ZipView32 { row: self.ptr, col: col.ptr, stride: col.stride, len: self.len, at: 0 })
        } else {
            None
        }
    }
    fn len(&self) -> u32 {
        self.len
    }
}
pub struct ColView32<T> {
    ptr: *const T,
    stride: u32,
    len: u32,
}
impl<T> ColView32<T> {
    fn get(&self, i: u32) -> Option<T> {
        if i < self.len {
            Some(*self.ptr.add(i as usize * self.stride as usize))
        } else {
            None
        }
    }
    fn iter(&self) -> ColViewIter32<T> {
        ColViewIter32 { ptr: self.ptr, stride: self.stride, len: self.len, at: 0 }
    }
    fn len(&self) -> u32 {
        self.len
    }
}
pub struct RowViewIter32<T> {
    ptr: *const T,
    len: u32,
    at: u32,
}
impl<T> RowViewIter32<T> {
    fn next(&mut self) -> Option<T> {
        if self.at < self.len {
            let value = *self.ptr.add(self.at as usize);
            self.at = self.at + 1;
            Some(value)
        } else {
            None
        }
    }
}
pub struct ColViewIter32<T> {
    ptr: *const T,
    stride: u32,
    len: u32,
    at: u32,
}
impl<T> ColViewIter32<T> {
    fn next(&mut self) -> Option<T> {
        if self.at < self.len {
            let value = *self.ptr.add(self.at as usize * self.stride as usize);
            self.at = self.at + 1;
            Some(value)
        } else {
            None
        }
    }
}
pub struct ZipView32<T> {
    row: *const T,
    col: *const T,
    stride: u32,
    len: u32,
    at: u32,
}
impl<T> ZipView32<T> {
    fn next(&mut self) -> Option<(T, T)> {
        if self.at < self.len {
            let i = self.at as usize;
            self.at = self.at + 1;
            Some((*self.row.add(i), *self.col.add(i * self.stride as usize)))
        } else {
            None
        }
    }
}

// -- shared and constant memory ---------------------------------------------------------------------------------------

#[shared]
pub struct SharedArray<T, const N: usize, const ALIGN: usize = 0> {
    data: [T; N],
}
impl<T, const N: usize, const ALIGN: usize> SharedArray<T, N, ALIGN> {
    const UNINIT: usize = 0;
    fn len() -> usize {
        N
    }
    fn as_ptr(&self) -> *const T {
        &raw const self.data as *const T
    }
    fn as_mut_ptr(&mut self) -> *mut T {
        &raw mut self.data as *mut T
    }
    fn as_raw_mut_ptr(shared: *mut SharedArray<T, N, ALIGN>) -> *mut T {
        shared as *mut T
    }
    fn iter(&self) -> &[T; N] {
        &self.data
    }
}
pub struct DynamicSharedArray<T, const ALIGN: usize = 16>;
impl<T, const ALIGN: usize> DynamicSharedArray<T, ALIGN> {
    fn get() -> *mut T {
        __dynamic_shared::<T>()
    }
    fn get_raw() -> *mut u8 {
        __dynamic_shared::<u8>()
    }
    fn offset(byte_offset: usize) -> *mut T {
        __dynamic_shared::<u8>().add(byte_offset) as *mut T
    }
}
pub fn dynamic_smem_size() -> u32 {
    __special("dynamic_smem_bytes")
}
pub fn cvta_generic_to_shared_offset(ptr: *const u8) -> u64 {
    ptr as u64
}

#[constant]
pub struct ConstantMemory<T> {
    value: T,
}
impl<T> ConstantMemory<T> {
    fn get(&self) -> T {
        self.value
    }
    fn get_ref(&self) -> &T {
        &self.value
    }
}

// -- barriers and fences ----------------------------------------------------------------------------------------------

pub fn sync_threads() {
    __barrier("block")
}
pub fn sync_mask(mask: u32) {
    __barrier_warp(mask)
}
pub fn threadfence_block() {
    __fence("seq_cst", "block")
}
pub fn threadfence() {
    __fence("seq_cst", "device")
}
pub fn threadfence_system() {
    __fence("seq_cst", "system")
}
pub fn nanosleep(ns: u32) {}
pub fn trap() {
    __trap()
}
pub mod grid {
    pub fn sync() {
        __barrier("device")
    }
}

pub mod cluster {
    pub fn cluster_sync() {
        __cluster_barrier("arrive");
        __cluster_barrier("wait")
    }
    pub fn barrier_cluster_arrive() {
        __cluster_barrier("arrive")
    }
    pub fn barrier_cluster_arrive_aligned() {
        __cluster_barrier("arrive")
    }
    pub fn barrier_cluster_arrive_relaxed() {
        __cluster_barrier("arrive", "relaxed")
    }
    pub fn barrier_cluster_arrive_relaxed_aligned() {
        __cluster_barrier("arrive", "relaxed")
    }
    pub fn barrier_cluster_wait() {
        __cluster_barrier("wait")
    }
    pub fn barrier_cluster_wait_aligned() {
        __cluster_barrier("wait")
    }
    pub fn block_rank() -> u32 {
        __special("cluster_ctarank")
    }
    pub fn cluster_size() -> u32 {
        __special("cluster_nctarank")
    }
    pub fn cluster_ctaidX() -> u32 {
        __special("cluster_ctaid.x")
    }
    pub fn cluster_ctaidY() -> u32 {
        __special("cluster_ctaid.y")
    }
    pub fn cluster_ctaidZ() -> u32 {
        __special("cluster_ctaid.z")
    }
    pub fn cluster_nctaidX() -> u32 {
        __special("cluster_nctaid.x")
    }
    pub fn cluster_nctaidY() -> u32 {
        __special("cluster_nctaid.y")
    }
    pub fn cluster_nctaidZ() -> u32 {
        __special("cluster_nctaid.z")
    }
    pub fn cluster_idx() -> u32 {
        __special("clusterid.x")
    }
    pub fn num_clusters() -> u32 {
        __special("nclusterid.x")
    }
    pub fn map_shared_rank<T>(local_ptr: *const T, target_rank: u32) -> *const T {
        __peer(local_ptr, target_rank)
    }
    pub fn map_shared_rank_mut<T>(local_ptr: *mut T, target_rank: u32) -> *mut T {
        __peer(local_ptr, target_rank)
    }
    pub fn dsmem_read_u32(local_ptr: *const u32, target_rank: u32) -> u32 {
        *__peer(local_ptr, target_rank)
    }
}

#[shared]
pub struct Barrier {
    state: u64,
}
pub fn mbarrier_init(bar: *mut Barrier, expected_count: u32) {
    __mbarrier("init", "relaxed", "block", bar, expected_count)
}
pub fn mbarrier_inval(bar: *mut Barrier) {
    __mbarrier("inval", "relaxed", "block", bar)
}
pub fn mbarrier_arrive(bar: *const Barrier) -> u64 {
    __mbarrier("arrive", "release", "block", bar)
}
pub fn mbarrier_arrive_no_complete(bar: *const Barrier) {
    __mbarrier("arrive", "release", "block", bar);
}
/// The second argument is ignored by cuda-oxide: one arrival.
pub fn mbarrier_arrive_expect_tx(bar: *const Barrier, tx_count: u32, bytes: u32) -> u64 {
    __mbarrier("arrive_expect_tx", "release", "block", bar, bytes)
}
pub fn mbarrier_test_wait(bar: *const Barrier, token: u64) -> bool {
    __mbarrier("test_wait", "acquire", "block", bar, token)
}
pub fn mbarrier_try_wait(bar: *const Barrier, token: u64) -> bool {
    __mbarrier("try_wait", "acquire", "block", bar, token)
}
pub fn mbarrier_try_wait_parity(bar: *const Barrier, parity: u32) -> bool {
    __mbarrier("try_wait_parity", "acquire", "block", bar, parity)
}
pub fn mbarrier_try_wait_parity_cluster(bar: *const Barrier, parity: u32) -> bool {
    __mbarrier("try_wait_parity", "acquire", "cluster", bar, parity)
}
pub fn mbarrier_wait(bar: *const Barrier, token: u64) {
    __mbarrier("wait", "acquire", "block", bar, token)
}
pub fn mbarrier_arrive_and_wait(bar: *const Barrier) {
    let token = mbarrier_arrive(bar);
    mbarrier_wait(bar, token)
}
pub fn fence_proxy_async_shared_cta() {
    __proxy_fence("async.shared::cta")
}
pub fn fence_mbarrier_init_release_cluster() {
    __fence("release", "cluster")
}
pub fn fence_proxy_async_generic_acquire_shared_cluster_cluster() {
    __proxy_fence("async::generic.acquire.sync_restrict::shared::cluster.cluster")
}
pub fn fence_proxy_async_generic_release_shared_cta_cluster() {
    __proxy_fence("async::generic.release.sync_restrict::shared::cta.cluster")
}

pub struct Uninit;
pub struct Ready;
pub struct Invalidated;
pub struct TmaBarrier;
pub struct MmaBarrier;
pub struct GeneralBarrier;
pub struct BarrierToken {
    token: u64,
}
impl BarrierToken {
    fn raw(self) -> u64 {
        self.token
    }
    fn from_raw(raw: u64) -> BarrierToken {
        BarrierToken { token: raw }
    }
}
pub struct ManagedBarrier<State, Kind, const ID: usize = 0> {
    ptr: *mut Barrier,
}
pub type TmaBarrierHandle<S> = ManagedBarrier<S, TmaBarrier, 0>;
pub type MmaBarrierHandle<S> = ManagedBarrier<S, MmaBarrier, 0>;
pub type TmaBarrier0<S> = ManagedBarrier<S, TmaBarrier, 0>;
pub type TmaBarrier1<S> = ManagedBarrier<S, TmaBarrier, 1>;
impl<S, K, const ID: usize> ManagedBarrier<S, K, ID> {
    fn from_static(ptr: *mut Barrier) -> ManagedBarrier<S, K, ID> {
        ManagedBarrier { ptr }
    }
    fn init(self, count: u32) -> ManagedBarrier<Ready, K, ID> {
        self.init_by(count, 0)
    }
    fn init_by(self, count: u32, init_thread: u32) -> ManagedBarrier<Ready, K, ID> {
        if threadIdx_x() == init_thread {
            mbarrier_init(self.ptr, count);
            fence_proxy_async_shared_cta();
        }
        sync_threads();
        ManagedBarrier { ptr: self.ptr }
    }
    fn as_ptr(&self) -> *const Barrier {
        self.ptr
    }
    fn arrive(&self) -> BarrierToken {
        BarrierToken { token: mbarrier_arrive(self.ptr) }
    }
    fn arrive_expect_tx(&self, bytes: u32) -> BarrierToken {
        BarrierToken { token: mbarrier_arrive_expect_tx(self.ptr, 1, bytes) }
    }
    fn wait(&self, token: BarrierToken) {
        mbarrier_wait(self.ptr, token.token)
    }
    fn try_wait(&self, token: BarrierToken) -> bool {
        mbarrier_try_wait(self.ptr, token.token)
    }
    fn test_wait(&self, token: BarrierToken) -> bool {
        mbarrier_test_wait(self.ptr, token.token)
    }
    fn try_wait_parity(&self, parity: u32) -> bool {
        mbarrier_try_wait_parity(self.ptr, parity)
    }
    fn inval(self) -> ManagedBarrier<Invalidated, K, ID> {
        self.inval_by(0)
    }
    fn inval_by(self, inval_thread: u32) -> ManagedBarrier<Invalidated, K, ID> {
        sync_threads();
        if threadIdx_x() == inval_thread {
            mbarrier_inval(self.ptr);
        }
        sync_threads();
        ManagedBarrier { ptr: self.ptr }
    }
}

// -- asynchronous copies ----------------------------------------------------------------------------------------------

pub fn cp_async_ca_4<D, S>(dst: *mut D, src: *const S) {
    __async_copy("cp.async", dst, src, 4)
}
/// Reads `src_size` bytes and writes 4: the rest is zero.
pub fn cp_async_ca_zfill_4<D, S>(dst: *mut D, src: *const S, src_size: u32) {
    __async_copy("cp.async", dst, src, 4)
}
pub fn cp_async_ca_8<D, S>(dst: *mut D, src: *const S) {
    __async_copy("cp.async", dst, src, 8)
}
/// Reads `src_size` bytes and writes 8: the rest is zero.
pub fn cp_async_ca_zfill_8<D, S>(dst: *mut D, src: *const S, src_size: u32) {
    __async_copy("cp.async", dst, src, 8)
}
pub fn cp_async_ca_16<D, S>(dst: *mut D, src: *const S) {
    __async_copy("cp.async", dst, src, 16)
}
/// Reads `src_size` bytes and writes 16: the rest is zero.
pub fn cp_async_ca_zfill_16<D, S>(dst: *mut D, src: *const S, src_size: u32) {
    __async_copy("cp.async", dst, src, 16)
}
pub fn cp_async_cg_16<D, S>(dst: *mut D, src: *const S) {
    __async_copy("cp.async", dst, src, 16)
}
/// Reads `src_size` bytes and writes 16: the rest is zero.
pub fn cp_async_cg_zfill_16<D, S>(dst: *mut D, src: *const S, src_size: u32) {
    __async_copy("cp.async", dst, src, 16)
}
pub fn cp_async_bulk_tensor_1d_g2s(dst: *mut u8, map: *const TmaDescriptor, c0: i32, bar: *mut Barrier) {
    __tensor_copy(dst, map, bar)
}
pub fn cp_async_bulk_tensor_1d_s2g(src: *const u8, map: *const TmaDescriptor, c0: i32) {
    __tensor_copy(map, src)
}
pub fn cp_async_bulk_tensor_2d_g2s(dst: *mut u8, map: *const TmaDescriptor, c0: i32, c1: i32, bar: *mut Barrier) {
    __tensor_copy(dst, map, bar)
}
pub fn cp_async_bulk_tensor_2d_s2g(src: *const u8, map: *const TmaDescriptor, c0: i32, c1: i32) {
    __tensor_copy(map, src)
}
pub fn cp_async_bulk_tensor_3d_g2s(dst: *mut u8, map: *const TmaDescriptor, c0: i32, c1: i32, c2: i32, bar: *mut Barrier) {
    __tensor_copy(dst, map, bar)
}
pub fn cp_async_bulk_tensor_3d_s2g(src: *const u8, map: *const TmaDescriptor, c0: i32, c1: i32, c2: i32) {
    __tensor_copy(map, src)
}
pub fn cp_async_bulk_tensor_4d_g2s(dst: *mut u8, map: *const TmaDescriptor, c0: i32, c1: i32, c2: i32, c3: i32, bar: *mut Barrier) {
    __tensor_copy(dst, map, bar)
}
pub fn cp_async_bulk_tensor_4d_s2g(src: *const u8, map: *const TmaDescriptor, c0: i32, c1: i32, c2: i32, c3: i32) {
    __tensor_copy(map, src)
}
pub fn cp_async_bulk_tensor_5d_g2s(dst: *mut u8, map: *const TmaDescriptor, c0: i32, c1: i32, c2: i32, c3: i32, c4: i32, bar: *mut Barrier) {
    __tensor_copy(dst, map, bar)
}
pub fn cp_async_bulk_tensor_5d_s2g(src: *const u8, map: *const TmaDescriptor, c0: i32, c1: i32, c2: i32, c3: i32, c4: i32) {
    __tensor_copy(map, src)
}
pub fn cp_async_bulk_tensor_2d_g2s_multicast(
    dst: *mut u8,
    map: *const TmaDescriptor,
    c0: i32,
    c1: i32,
    bar: *mut Barrier,
    mask: u16,
) {
    __unmodelled("a multicast copy")
}
pub fn cp_async_commit_group() {
    __async_control("commit", "cp.async")
}
pub fn cp_async_wait_all() {
    __async_control("wait", "cp.async")
}
pub fn cp_async_wait_group(max_pending: u32) {
    __async_control("wait", "cp.async", max_pending)
}
pub fn cp_async_bulk_commit_group() {
    __async_control("commit", "bulk")
}
pub fn cp_async_bulk_wait_group(n: u32) {
    __async_control("wait", "bulk", n)
}
pub fn cp_async_bulk_wait_group_read(n: u32) {
    __async_control("wait_read", "bulk", n)
}

#[repr(C, align(64))]
pub struct TmaDescriptor {
    opaque: [u64; 16],
}

// -- warps ------------------------------------------------------------------------------------------------------------

pub fn lane_id() -> u32 {
    __special("laneid")
}
/// tx / 32 in that snapshot: the warp's number in one-dimensional blocks only.
pub fn warp_id() -> u32 {
    threadIdx_x() / 32
}
pub fn lanemask_eq() -> u32 {
    1u32 << lane_id()
}
pub fn lanemask_lt() -> u32 {
    (1u32 << lane_id()) - 1
}
pub fn lanemask_le() -> u32 {
    ((1u32 << lane_id()) - 1) | (1u32 << lane_id())
}
pub fn lanemask_ge() -> u32 {
    !((1u32 << lane_id()) - 1)
}
pub fn lanemask_gt() -> u32 {
    !(((1u32 << lane_id()) - 1) | (1u32 << lane_id()))
}
pub fn active_mask() -> u32 {
    __warp("activemask")
}
pub fn all_sync(mask: u32, predicate: bool) -> bool {
    __warp("all", mask, predicate)
}
pub fn any_sync(mask: u32, predicate: bool) -> bool {
    __warp("any", mask, predicate)
}
pub fn ballot_sync(mask: u32, predicate: bool) -> u32 {
    __warp("ballot", mask, predicate)
}
pub fn all(predicate: bool) -> bool {
    __warp("all", u32::MAX, predicate)
}
pub fn any(predicate: bool) -> bool {
    __warp("any", u32::MAX, predicate)
}
pub fn ballot(predicate: bool) -> u32 {
    __warp("ballot", u32::MAX, predicate)
}
pub fn popc(predicate: bool) -> u32 {
    ballot(predicate).count_ones()
}
pub fn match_any_sync(mask: u32, value: u32) -> u32 {
    __warp("match_any", mask, value)
}
pub fn match_any_i64_sync(mask: u32, value: u64) -> u32 {
    __warp("match_any", mask, value)
}
pub fn match_all_sync(mask: u32, value: u32) -> u32 {
    __warp("match_all", mask, value)
}
pub fn match_all_i64_sync(mask: u32, value: u64) -> u32 {
    __warp("match_all", mask, value)
}
/// The elected lane is not specified.
pub fn elect_sync(mask: u32) -> (u32, bool) {
    (__havoc::<u32>("the elected lane"), __warp("elect", mask))
}
pub fn is_elected_sync(mask: u32) -> bool {
    __warp("elect", mask)
}
pub fn live_lanes_1d() -> u32 {
    let first = threadIdx_x() & !31;
    let left = blockDim_x() - first;
    if left < 32 {
        left
    } else {
        32
    }
}
pub fn shuffle_sync(mask: u32, var: u32, src_lane: u32) -> u32 {
    __warp("shfl_idx", mask, var, src_lane, 32)
}
pub fn shuffle(var: u32, src_lane: u32) -> u32 {
    __warp("shfl_idx", u32::MAX, var, src_lane, 32)
}
pub fn shuffle_xor_sync(mask: u32, var: u32, lane_mask: u32) -> u32 {
    __warp("shfl_xor", mask, var, lane_mask, 32)
}
pub fn shuffle_xor(var: u32, lane_mask: u32) -> u32 {
    __warp("shfl_xor", u32::MAX, var, lane_mask, 32)
}
pub fn shuffle_down_sync(mask: u32, var: u32, delta: u32) -> u32 {
    __warp("shfl_down", mask, var, delta, 32)
}
pub fn shuffle_down(var: u32, delta: u32) -> u32 {
    __warp("shfl_down", u32::MAX, var, delta, 32)
}
pub fn shuffle_up_sync(mask: u32, var: u32, delta: u32) -> u32 {
    __warp("shfl_up", mask, var, delta, 32)
}
pub fn shuffle_up(var: u32, delta: u32) -> u32 {
    __warp("shfl_up", u32::MAX, var, delta, 32)
}
pub fn shuffle_f32_sync(mask: u32, var: f32, src_lane: u32) -> f32 {
    __warp("shfl_idx", mask, var, src_lane, 32)
}
pub fn shuffle_f32(var: f32, src_lane: u32) -> f32 {
    __warp("shfl_idx", u32::MAX, var, src_lane, 32)
}
pub fn shuffle_xor_f32_sync(mask: u32, var: f32, lane_mask: u32) -> f32 {
    __warp("shfl_xor", mask, var, lane_mask, 32)
}
pub fn shuffle_xor_f32(var: f32, lane_mask: u32) -> f32 {
    __warp("shfl_xor", u32::MAX, var, lane_mask, 32)
}
pub fn shuffle_down_f32_sync(mask: u32, var: f32, delta: u32) -> f32 {
    __warp("shfl_down", mask, var, delta, 32)
}
pub fn shuffle_down_f32(var: f32, delta: u32) -> f32 {
    __warp("shfl_down", u32::MAX, var, delta, 32)
}
pub fn shuffle_up_f32_sync(mask: u32, var: f32, delta: u32) -> f32 {
    __warp("shfl_up", mask, var, delta, 32)
}
pub fn shuffle_up_f32(var: f32, delta: u32) -> f32 {
    __warp("shfl_up", u32::MAX, var, delta, 32)
}
pub fn shuffle_u64_sync(mask: u32, var: u64, src_lane: u32) -> u64 {
    __warp("shfl_idx", mask, var, src_lane, 32)
}
pub fn shuffle_u64(var: u64, src_lane: u32) -> u64 {
    __warp("shfl_idx", u32::MAX, var, src_lane, 32)
}
pub fn shuffle_xor_u64_sync(mask: u32, var: u64, lane_mask: u32) -> u64 {
    __warp("shfl_xor", mask, var, lane_mask, 32)
}
pub fn shuffle_xor_u64(var: u64, lane_mask: u32) -> u64 {
    __warp("shfl_xor", u32::MAX, var, lane_mask, 32)
}
pub fn shuffle_down_u64_sync(mask: u32, var: u64, delta: u32) -> u64 {
    __warp("shfl_down", mask, var, delta, 32)
}
pub fn shuffle_down_u64(var: u64, delta: u32) -> u64 {
    __warp("shfl_down", u32::MAX, var, delta, 32)
}
pub fn shuffle_up_u64_sync(mask: u32, var: u64, delta: u32) -> u64 {
    __warp("shfl_up", mask, var, delta, 32)
}
pub fn shuffle_up_u64(var: u64, delta: u32) -> u64 {
    __warp("shfl_up", u32::MAX, var, delta, 32)
}
pub fn shuffle_f64_sync(mask: u32, var: f64, src_lane: u32) -> f64 {
    __warp("shfl_idx", mask, var, src_lane, 32)
}
pub fn shuffle_f64(var: f64, src_lane: u32) -> f64 {
    __warp("shfl_idx", u32::MAX, var, src_lane, 32)
}
pub fn shuffle_xor_f64_sync(mask: u32, var: f64, lane_mask: u32) -> f64 {
    __warp("shfl_xor", mask, var, lane_mask, 32)
}
pub fn shuffle_xor_f64(var: f64, lane_mask: u32) -> f64 {
    __warp("shfl_xor", u32::MAX, var, lane_mask, 32)
}
pub fn shuffle_down_f64_sync(mask: u32, var: f64, delta: u32) -> f64 {
    __warp("shfl_down", mask, var, delta, 32)
}
pub fn shuffle_down_f64(var: f64, delta: u32) -> f64 {
    __warp("shfl_down", u32::MAX, var, delta, 32)
}
pub fn shuffle_up_f64_sync(mask: u32, var: f64, delta: u32) -> f64 {
    __warp("shfl_up", mask, var, delta, 32)
}
pub fn shuffle_up_f64(var: f64, delta: u32) -> f64 {
    __warp("shfl_up", u32::MAX, var, delta, 32)
}
pub fn redux_sync_add(mask: u32, value: u32) -> u32 {
    __warp("redux_add", mask, value)
}
pub fn redux_sync_and(mask: u32, value: u32) -> u32 {
    __warp("redux_and", mask, value)
}
pub fn redux_sync_or(mask: u32, value: u32) -> u32 {
    __warp("redux_or", mask, value)
}
pub fn redux_sync_xor(mask: u32, value: u32) -> u32 {
    __warp("redux_xor", mask, value)
}
pub fn redux_sync_min_u32(mask: u32, value: u32) -> u32 {
    __warp("redux_min", mask, value)
}
pub fn redux_sync_max_u32(mask: u32, value: u32) -> u32 {
    __warp("redux_max", mask, value)
}
pub fn redux_sync_min_i32(mask: u32, value: i32) -> i32 {
    __warp("redux_min", mask, value)
}
pub fn redux_sync_max_i32(mask: u32, value: i32) -> i32 {
    __warp("redux_max", mask, value)
}
pub fn reduce_sum_f32(val: f32) -> f32 {
    let mut value = val;
    let mut delta = 16u32;
    while delta > 0 {
        let other = shuffle_xor_f32(value, delta);
        value = value + other;
        delta >>= 1;
    }
    value
}
pub fn reduce_sum_f32_partial(val: f32, live_lanes: u32) -> f32 {
    let mask = if live_lanes >= 32 { u32::MAX } else { (1u32 << live_lanes) - 1 };
    let mut value = val;
    let mut delta = 16u32;
    while delta > 0 {
        let other = shuffle_down_f32_sync(mask, value, delta);
        if lane_id() + delta < live_lanes {
            value = value + other;
        }
        delta >>= 1;
    }
    shuffle_f32_sync(mask, value, 0)
}
pub fn reduce_sum_f64(val: f64) -> f64 {
    let mut value = val;
    let mut delta = 16u32;
    while delta > 0 {
        let other = shuffle_xor_f64(value, delta);
        value = value + other;
        delta >>= 1;
    }
    value
}
pub fn reduce_sum_f64_partial(val: f64, live_lanes: u32) -> f64 {
    let mask = if live_lanes >= 32 { u32::MAX } else { (1u32 << live_lanes) - 1 };
    let mut value = val;
    let mut delta = 16u32;
    while delta > 0 {
        let other = shuffle_down_f64_sync(mask, value, delta);
        if lane_id() + delta < live_lanes {
            value = value + other;
        }
        delta >>= 1;
    }
    shuffle_f64_sync(mask, value, 0)
}
pub fn reduce_max_f32(val: f32) -> f32 {
    let mut value = val;
    let mut delta = 16u32;
    while delta > 0 {
        let other = shuffle_xor_f32(value, delta);
        value = value.max(other);
        delta >>= 1;
    }
    value
}
pub fn reduce_max_f32_partial(val: f32, live_lanes: u32) -> f32 {
    let mask = if live_lanes >= 32 { u32::MAX } else { (1u32 << live_lanes) - 1 };
    let mut value = val;
    let mut delta = 16u32;
    while delta > 0 {
        let other = shuffle_down_f32_sync(mask, value, delta);
        if lane_id() + delta < live_lanes {
            value = value.max(other);
        }
        delta >>= 1;
    }
    shuffle_f32_sync(mask, value, 0)
}
pub fn reduce_max_f64(val: f64) -> f64 {
    let mut value = val;
    let mut delta = 16u32;
    while delta > 0 {
        let other = shuffle_xor_f64(value, delta);
        value = value.max(other);
        delta >>= 1;
    }
    value
}
pub fn reduce_max_f64_partial(val: f64, live_lanes: u32) -> f64 {
    let mask = if live_lanes >= 32 { u32::MAX } else { (1u32 << live_lanes) - 1 };
    let mut value = val;
    let mut delta = 16u32;
    while delta > 0 {
        let other = shuffle_down_f64_sync(mask, value, delta);
        if lane_id() + delta < live_lanes {
            value = value.max(other);
        }
        delta >>= 1;
    }
    shuffle_f64_sync(mask, value, 0)
}
pub fn reduce_min_f32(val: f32) -> f32 {
    let mut value = val;
    let mut delta = 16u32;
    while delta > 0 {
        let other = shuffle_xor_f32(value, delta);
        value = value.min(other);
        delta >>= 1;
    }
    value
}
pub fn reduce_min_f32_partial(val: f32, live_lanes: u32) -> f32 {
    let mask = if live_lanes >= 32 { u32::MAX } else { (1u32 << live_lanes) - 1 };
    let mut value = val;
    let mut delta = 16u32;
    while delta > 0 {
        let other = shuffle_down_f32_sync(mask, value, delta);
        if lane_id() + delta < live_lanes {
            value = value.min(other);
        }
        delta >>= 1;
    }
    shuffle_f32_sync(mask, value, 0)
}
pub fn reduce_min_f64(val: f64) -> f64 {
    let mut value = val;
    let mut delta = 16u32;
    while delta > 0 {
        let other = shuffle_xor_f64(value, delta);
        value = value.min(other);
        delta >>= 1;
    }
    value
}
pub fn reduce_min_f64_partial(val: f64, live_lanes: u32) -> f64 {
    let mask = if live_lanes >= 32 { u32::MAX } else { (1u32 << live_lanes) - 1 };
    let mut value = val;
    let mut delta = 16u32;
    while delta > 0 {
        let other = shuffle_down_f64_sync(mask, value, delta);
        if lane_id() + delta < live_lanes {
            value = value.min(other);
        }
        delta >>= 1;
    }
    shuffle_f64_sync(mask, value, 0)
}

// -- cooperative groups -----------------------------------------------------------------------------------------------

fn linear_thread() -> u32 {
    (threadIdx_z() * blockDim_y() + threadIdx_y()) * blockDim_x() + threadIdx_x()
}
fn block_threads() -> u32 {
    blockDim_x() * blockDim_y() * blockDim_z()
}
fn grid_blocks() -> u32 {
    gridDim_x() * gridDim_y() * gridDim_z()
}
fn linear_block() -> u32 {
    (blockIdx_z() * gridDim_y() + blockIdx_y()) * gridDim_x() + blockIdx_x()
}

pub struct Grid;
pub fn this_grid() -> Grid {
    Grid
}
impl Grid {
    fn num_blocks(&self) -> u32 {
        grid_blocks()
    }
    fn block_rank(&self) -> u32 {
        linear_block()
    }
    fn size(&self) -> u32 {
        grid_blocks() * block_threads()
    }
    fn thread_rank(&self) -> u32 {
        linear_block() * block_threads() + linear_thread()
    }
    fn sync(&self) {
        __barrier("device")
    }
}
pub struct Cluster;
pub fn this_cluster() -> Cluster {
    Cluster
}
impl Cluster {
    fn num_blocks(&self) -> u32 {
        cluster::cluster_size()
    }
    fn block_rank(&self) -> u32 {
        cluster::block_rank()
    }
    fn size(&self) -> u32 {
        cluster::cluster_size() * block_threads()
    }
    fn thread_rank(&self) -> u32 {
        cluster::block_rank() * block_threads() + linear_thread()
    }
    fn sync(&self) {
        cluster::cluster_sync()
    }
}
pub struct ThreadBlock;
pub fn this_thread_block() -> ThreadBlock {
    ThreadBlock
}
impl ThreadBlock {
    fn tiled_partition<const N: u32>(self) -> WarpTile<N> {
        WarpTile {}
    }
    fn size(&self) -> u32 {
        block_threads()
    }
    fn thread_rank(&self) -> u32 {
        linear_thread()
    }
    fn sync(&self) {
        sync_threads()
    }
}
pub fn tiled_partition<const N: u32>(block: ThreadBlock) -> WarpTile<N> {
    WarpTile {}
}

pub struct WarpTile<const N: u32> {}
impl<const N: u32> WarpTile<N> {
    fn mask(&self) -> u32 {
        if N == 32 {
            u32::MAX
        } else {
            ((1u32 << N) - 1) << (lane_id() / N * N)
        }
    }
    fn size(&self) -> u32 {
        N
    }
    fn thread_rank(&self) -> u32 {
        lane_id() & (N - 1)
    }
    fn sync(&self) {
        sync_mask(self.mask())
    }
    fn ballot(&self, predicate: bool) -> u32 {
        let raw = ballot_sync(self.mask(), predicate);
        if N == 32 {
            raw
        } else {
            (raw >> (lane_id() & !(N - 1))) & ((1u32 << N) - 1)
        }
    }
    fn all(&self, predicate: bool) -> bool {
        all_sync(self.mask(), predicate)
    }
    fn any(&self, predicate: bool) -> bool {
        any_sync(self.mask(), predicate)
    }
    fn shfl(&self, var: u32, src_rank: u32) -> u32 {
        __warp("shfl_idx", self.mask(), var, src_rank & (N - 1), N)
    }
    fn shfl_f32(&self, var: f32, src_rank: u32) -> f32 {
        __warp("shfl_idx", self.mask(), var, src_rank & (N - 1), N)
    }
    fn shfl_xor<T>(&self, var: T, lane_mask: u32) -> T {
        __warp("shfl_xor", self.mask(), var, lane_mask, N)
    }
    fn shfl_xor_f32(&self, var: f32, lane_mask: u32) -> f32 {
        __warp("shfl_xor", self.mask(), var, lane_mask, N)
    }
    fn shfl_down(&self, var: u32, delta: u32) -> u32 {
        __warp("shfl_down", self.mask(), var, delta, N)
    }
    fn shfl_down_f32(&self, var: f32, delta: u32) -> f32 {
        __warp("shfl_down", self.mask(), var, delta, N)
    }
    fn shfl_up<T>(&self, var: T, delta: u32) -> T {
        __warp("shfl_up", self.mask(), var, delta, N)
    }
    fn shfl_up_f32(&self, var: f32, delta: u32) -> f32 {
        __warp("shfl_up", self.mask(), var, delta, N)
    }
    fn match_any(&self, value: u32) -> u32 {
        __warp("match_any", self.mask(), value)
    }
    fn match_any_i64(&self, value: u64) -> u32 {
        __warp("match_any", self.mask(), value)
    }
    fn match_all(&self, value: u32) -> u32 {
        __warp("match_all", self.mask(), value)
    }
    fn match_all_i64(&self, value: u64) -> u32 {
        __warp("match_all", self.mask(), value)
    }
}

pub struct CoalescedThreads {
    mask: u32,
}
pub fn coalesced_threads() -> CoalescedThreads {
    CoalescedThreads { mask: active_mask() }
}
impl CoalescedThreads {
    fn raw_mask(&self) -> u32 {
        self.mask
    }
    fn size(&self) -> u32 {
        self.mask.count_ones()
    }
    fn thread_rank(&self) -> u32 {
        (self.mask & lanemask_lt()).count_ones()
    }
    fn sync(&self) {
        sync_mask(self.mask)
    }
    fn ballot(&self, predicate: bool) -> u32 {
        ballot_sync(self.mask, predicate) & self.mask
    }
    fn all(&self, predicate: bool) -> bool {
        all_sync(self.mask, predicate)
    }
    fn any(&self, predicate: bool) -> bool {
        any_sync(self.mask, predicate)
    }
    fn shfl<T>(&self, var: T, src_rank: u32) -> T {
        __warp("shfl_idx", self.mask, var, __opaque::<u32>("lane_of_rank", self.mask, src_rank), 32)
    }
    fn shfl_f32(&self, var: f32, src_rank: u32) -> f32 {
        __warp("shfl_idx", self.mask, var, __opaque::<u32>("lane_of_rank", self.mask, src_rank), 32)
    }
    fn shfl_xor<T>(&self, var: T, lane_mask: u32) -> T {
        let present = self.mask & (1u32 << (lane_id() ^ (lane_mask & 31))) != 0;
        __warp("shfl_xor", self.mask, var, if present { lane_mask } else { 0 }, 32)
    }
    fn shfl_down<T>(&self, var: T, delta: u32) -> T {
        let to = lane_id() + (delta & 31);
        let present = to < 32 && self.mask & (1u32 << (to & 31)) != 0;
        __warp("shfl_down", self.mask, var, if present { delta } else { 0 }, 32)
    }
    fn shfl_up<T>(&self, var: T, delta: u32) -> T {
        let present = (delta & 31) <= lane_id() && self.mask & (1u32 << ((lane_id() - (delta & 31)) & 31)) != 0;
        __warp("shfl_up", self.mask, var, if present { delta } else { 0 }, 32)
    }
    fn match_any(&self, value: u32) -> u32 {
        __warp("match_any", self.mask, value) & self.mask
    }
    fn match_all(&self, value: u32) -> u32 {
        __warp("match_all", self.mask, value)
    }
}

pub struct Sum;
pub struct Min;
pub struct Max;
pub struct BitAnd;
pub struct BitOr;
pub struct BitXor;
impl Sum {
    fn combine<T>(a: T, b: T) -> T {
        a + b
    }
}
impl Min {
    fn combine<T>(a: T, b: T) -> T {
        if a < b { a } else { b }
    }
}
impl Max {
    fn combine<T>(a: T, b: T) -> T {
        if a > b { a } else { b }
    }
}
impl BitAnd {
    fn combine<T>(a: T, b: T) -> T {
        a & b
    }
}
impl BitOr {
    fn combine<T>(a: T, b: T) -> T {
        a | b
    }
}
impl BitXor {
    fn combine<T>(a: T, b: T) -> T {
        a ^ b
    }
}

pub fn warp_reduce<T, Op, const N: u32>(tile: &WarpTile<N>, value: T) -> T {
    let mut acc = value;
    let mut delta = N >> 1;
    while delta > 0 {
        let other = tile.shfl_xor(acc, delta);
        acc = Op::combine(acc, other);
        delta >>= 1;
    }
    acc
}
pub fn warp_scan<T, Op, const N: u32>(tile: &WarpTile<N>, value: T) -> T {
    let mut acc = value;
    let rank = tile.thread_rank();
    let mut delta = 1u32;
    while delta < N {
        let other = tile.shfl_up(acc, delta);
        if rank >= delta {
            acc = Op::combine(acc, other);
        }
        delta <<= 1;
    }
    acc
}
/// One slot per warp; a barrier after the warps' totals and one after the block's. No barrier before the first store
/// and none after the last load: that is the caller's contract.
pub fn block_reduce<T, Op, const NUM_WARPS: usize>(block: &ThreadBlock, value: T, smem: *mut SharedArray<T, NUM_WARPS>) -> T {
    let slots = smem as *mut T;
    let warp = WarpTile::<32> {};
    let lane = warp.thread_rank();
    let number = linear_thread() / 32;
    let total = warp_reduce::<T, Op, 32>(&warp, value);
    if lane == 0 {
        *slots.add(number as usize) = total;
    }
    sync_threads();
    if number == 0 {
        let mine = if (lane as usize) < NUM_WARPS { *slots.add(lane as usize) } else { __havoc::<T>("the identity") };
        let all = warp_reduce::<T, Op, 32>(&warp, mine);
        if lane == 0 {
            *slots = all;
        }
    }
    sync_threads();
    *slots
}
pub fn block_scan<T, Op, const NUM_WARPS: usize>(block: &ThreadBlock, value: T, smem: *mut SharedArray<T, NUM_WARPS>) -> T {
    let slots = smem as *mut T;
    let warp = WarpTile::<32> {};
    let lane = warp.thread_rank();
    let number = linear_thread() / 32;
    let inclusive = warp_scan::<T, Op, 32>(&warp, value);
    if lane == 31 {
        *slots.add(number as usize) = inclusive;
    }
    sync_threads();
    if number == 0 {
        let mine = if (lane as usize) < NUM_WARPS { *slots.add(lane as usize) } else { __havoc::<T>("the identity") };
        let scanned = warp_scan::<T, Op, 32>(&warp, mine);
        let shifted = warp.shfl_up(scanned, 1);
        if (lane as usize) < NUM_WARPS {
            *slots.add(lane as usize) = shifted;
        }
    }
    sync_threads();
    Op::combine(*slots.add(number as usize), inclusive)
}

// -- atomics ----------------------------------------------------------------------------------------------------------

pub enum AtomicOrdering {
    Relaxed,
    Acquire,
    Release,
    AcqRel,
    SeqCst,
}

// -- small vectors, clocks --------------------------------------------------------------------------------------------

pub struct CuSimd<T, const N: usize> {
    data: [T; N],
}
pub type Float2 = CuSimd<f32, 2>;
pub type Float4 = CuSimd<f32, 4>;
impl<T, const N: usize> CuSimd<T, N> {
    fn new(data: [T; N]) -> CuSimd<T, N> {
        CuSimd { data }
    }
    fn get<const I: usize>(&self) -> T {
        self.data[I]
    }
    fn at(&self, i: usize) -> T {
        self.data[i]
    }
    fn index(&self, i: usize) -> &T {
        &self.data[i]
    }
    fn to_array(self) -> [T; N] {
        self.data
    }
    fn len(&self) -> usize {
        N
    }
    fn x(&self) -> T {
        self.data[0]
    }
    fn y(&self) -> T {
        self.data[1]
    }
    fn z(&self) -> T {
        self.data[2]
    }
    fn w(&self) -> T {
        self.data[3]
    }
    fn xy(self) -> (T, T) {
        (self.data[0], self.data[1])
    }
    fn xyzw(self) -> (T, T, T, T) {
        (self.data[0], self.data[1], self.data[2], self.data[3])
    }
}
pub fn clock() -> u32 {
    __havoc::<u32>("a clock")
}
pub fn clock64() -> u64 {
    __havoc::<u64>("a clock")
}
pub fn globaltimer() -> u64 {
    __havoc::<u64>("a clock")
}
pub fn smid() -> u32 {
    __havoc::<u32>("the number of a multiprocessor")
}
pub fn nsmid() -> u32 {
    __havoc::<u32>("the number of multiprocessors")
}
pub fn gridid() -> u64 {
    __havoc::<u64>("the number of the grid")
}
pub fn warpid() -> u32 {
    __havoc::<u32>("the hardware's number of a warp")
}
pub fn nwarpid() -> u32 {
    __havoc::<u32>("the number of warps")
}

/// The raw names of `cuda_intrinsics`.
pub mod sreg {
    pub fn thread_idx_x() -> u32 {
        __special("tid.x")
    }
    pub fn thread_idx_y() -> u32 {
        __special("tid.y")
    }
    pub fn thread_idx_z() -> u32 {
        __special("tid.z")
    }
    pub fn block_idx_x() -> u32 {
        __special("ctaid.x")
    }
    pub fn block_idx_y() -> u32 {
        __special("ctaid.y")
    }
    pub fn block_idx_z() -> u32 {
        __special("ctaid.z")
    }
    pub fn block_dim_x() -> u32 {
        __special("ntid.x")
    }
    pub fn block_dim_y() -> u32 {
        __special("ntid.y")
    }
    pub fn block_dim_z() -> u32 {
        __special("ntid.z")
    }
    pub fn grid_dim_x() -> u32 {
        __special("nctaid.x")
    }
    pub fn grid_dim_y() -> u32 {
        __special("nctaid.y")
    }
    pub fn grid_dim_z() -> u32 {
        __special("nctaid.z")
    }
}

pub struct Swizzle<const B: usize, const M: usize, const S: usize> {}
impl<const B: usize, const M: usize, const S: usize> Swizzle<B, M, S> {
    fn apply(offset: usize) -> usize {
        offset ^ (((offset >> S) & ((1 << B) - 1)) << M)
    }
    fn undo(offset: usize) -> usize {
        offset ^ (((offset >> S) & ((1 << B) - 1)) << M)
    }
}
impl<T> RowView32<T> {
    fn empty() -> RowView32<T> {
        RowView32 { ptr: core::ptr::null(), len: 0 }
    }
    fn is_empty(&self) -> bool {
        self.len == 0
    }
}
impl<T> ColView32<T> {
    fn empty() -> ColView32<T> {
        ColView32 { ptr: core::ptr::null(), stride: 0, len: 0 }
    }
    fn is_empty(&self) -> bool {
        self.len == 0
    }
}
impl CoalescedThreads {
    fn shfl_xor_f32(&self, var: f32, lane_mask: u32) -> f32 {
        self.shfl_xor(var, lane_mask)
    }
    fn shfl_down_f32(&self, var: f32, delta: u32) -> f32 {
        self.shfl_down(var, delta)
    }
    fn shfl_up_f32(&self, var: f32, delta: u32) -> f32 {
        self.shfl_up(var, delta)
    }
}
