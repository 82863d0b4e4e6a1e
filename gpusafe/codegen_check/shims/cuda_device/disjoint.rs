//! The slice whose elements have one owner each.
use crate::thread::{FlatIndexSpace, Index1D, Index2D, Runtime2DIndex, ThreadIndex, WarpIndex};
use crate::view::{LinearTiles, RowMajorTiles, RuntimeRowMajorTiles};
use core::marker::PhantomData;

/// What an index space carries at run time.
pub trait SpaceLayout {
    type Data: Copy;
}

impl SpaceLayout for Index1D {
    type Data = ();
}
impl<const S: usize> SpaceLayout for Index2D<S> {
    type Data = ();
}
impl SpaceLayout for WarpIndex {
    type Data = ();
}
impl SpaceLayout for Runtime2DIndex {
    type Data = u32;
}
impl<const N: usize> SpaceLayout for LinearTiles<N> {
    type Data = ();
}
impl<const R: usize, const C: usize, const S: usize> SpaceLayout for RowMajorTiles<R, C, S> {
    type Data = ();
}
impl<const R: usize, const C: usize> SpaceLayout for RuntimeRowMajorTiles<R, C> {
    type Data = u32;
}

#[repr(C)]
pub struct DisjointSlice<'a, T, IndexSpace: SpaceLayout = Index1D> {
    ptr: *mut T,
    len: usize,
    space: IndexSpace::Data,
    _marker: PhantomData<(&'a mut [T], fn() -> IndexSpace)>,
}

impl<'a, T, S: SpaceLayout> DisjointSlice<'a, T, S> {
    #[inline(always)]
    pub unsafe fn from_raw_parts_with_space(ptr: *mut T, len: usize, space: S::Data) -> Self {
        Self { ptr, len, space, _marker: PhantomData }
    }

    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len
    }

    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline(always)]
    pub fn as_mut_ptr(&mut self) -> *mut T {
        self.ptr
    }

    #[inline(always)]
    pub unsafe fn get_unchecked_mut(&mut self, i: usize) -> &mut T {
        unsafe { &mut *self.ptr.add(i) }
    }
}

impl<'a, T, S: SpaceLayout<Data = ()>> DisjointSlice<'a, T, S> {
    #[inline(always)]
    pub unsafe fn from_raw_parts(ptr: *mut T, len: usize) -> Self {
        Self { ptr, len, space: (), _marker: PhantomData }
    }

    #[inline(always)]
    pub unsafe fn from_mut_slice(slice: &'a mut [T]) -> Self {
        Self { ptr: slice.as_mut_ptr(), len: slice.len(), space: (), _marker: PhantomData }
    }
}

impl<'a, T, S: SpaceLayout<Data = u32>> DisjointSlice<'a, T, S> {
    #[inline(always)]
    pub fn row_width(&self) -> u32 {
        self.space
    }
}

impl<'a, T, S: FlatIndexSpace + SpaceLayout> DisjointSlice<'a, T, S> {
    #[inline(always)]
    pub fn get_mut<'kernel>(&mut self, index: ThreadIndex<'kernel, S>) -> Option<&mut T> {
        if index.get() < self.len { Some(unsafe { &mut *self.ptr.add(index.get()) }) } else { None }
    }
}

impl<'a, T> DisjointSlice<'a, T, Index1D> {
    #[inline(always)]
    pub fn get_mut_indexed(&mut self) -> Option<(&mut T, ThreadIndex<'a, Index1D>)> {
        let index = crate::thread::index_1d();
        let i = index.get();
        if i < self.len { Some((unsafe { &mut *self.ptr.add(i) }, index)) } else { None }
    }
}

impl<'a, T> DisjointSlice<'a, T, Runtime2DIndex> {
    #[inline(always)]
    pub fn get_mut<'kernel>(&mut self, index: ThreadIndex<'kernel, Runtime2DIndex>) -> Option<&mut T> {
        let width = self.space as usize;
        let i = index.row() * width + index.col();
        if index.col() < width && i < self.len { Some(unsafe { &mut *self.ptr.add(i) }) } else { None }
    }
}
