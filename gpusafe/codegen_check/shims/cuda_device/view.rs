//! Tiles and views with checked 32-bit indices.
use crate::disjoint::DisjointSlice;
use crate::thread::{Index1D, ThreadCoord2D32, ThreadIndex32};
use core::marker::PhantomData;

pub enum LinearTiles<const N: usize> {}
pub enum RowMajorTiles<const ROWS: usize, const COLS: usize, const ROW_STRIDE: usize> {}
pub enum RuntimeRowMajorTiles<const ROWS: usize, const COLS: usize> {}

pub struct LocalIndex32<const N: usize>(u32);

impl<const N: usize> LocalIndex32<N> {
    #[inline(always)]
    pub const fn new(raw: u32) -> Option<Self> {
        if (raw as usize) < N { Some(Self(raw)) } else { None }
    }

    #[inline(always)]
    pub const fn constant<const I: u32>() -> Self {
        Self(I)
    }

    #[inline(always)]
    pub const fn get(&self) -> u32 {
        self.0
    }
}

pub struct InBounds32<'a, T>(*const T, PhantomData<&'a T>);

impl<'a, T> InBounds32<'a, T> {
    #[inline(always)]
    pub fn get(&self) -> &T {
        unsafe { &*self.0 }
    }

    #[inline(always)]
    pub fn read(&self) -> T
    where
        T: Copy,
    {
        unsafe { *self.0 }
    }
}

pub struct InBoundsMut32<'a, T>(*mut T, PhantomData<&'a mut T>);

impl<'a, T> InBoundsMut32<'a, T> {
    #[inline(always)]
    pub fn get(&self) -> &T {
        unsafe { &*self.0 }
    }

    #[inline(always)]
    pub fn get_mut(&mut self) -> &mut T {
        unsafe { &mut *self.0 }
    }

    #[inline(always)]
    pub fn read(&self) -> T
    where
        T: Copy,
    {
        unsafe { *self.0 }
    }

    #[inline(always)]
    pub fn write(&mut self, value: T) {
        unsafe { *self.0 = value }
    }
}

pub struct StaticViewMut32<'a, T, const N: usize>(*mut T, PhantomData<&'a mut T>);

impl<'a, T, const N: usize> StaticViewMut32<'a, T, N> {
    #[inline(always)]
    pub fn at(&mut self, index: LocalIndex32<N>) -> InBoundsMut32<'_, T> {
        InBoundsMut32(unsafe { self.0.add(index.get() as usize) }, PhantomData)
    }

    #[inline(always)]
    pub fn at_const<const I: u32>(&mut self) -> InBoundsMut32<'_, T> {
        InBoundsMut32(unsafe { self.0.add(I as usize) }, PhantomData)
    }
}

pub struct StaticTileMut32<'a, T, const R: usize, const C: usize, const S: usize>(*mut T, PhantomData<&'a mut T>);

impl<'a, T, const R: usize, const C: usize, const S: usize> StaticTileMut32<'a, T, R, C, S> {
    #[inline(always)]
    pub fn at(&mut self, row: LocalIndex32<R>, col: LocalIndex32<C>) -> InBoundsMut32<'_, T> {
        InBoundsMut32(unsafe { self.0.add(row.get() as usize * S + col.get() as usize) }, PhantomData)
    }

    #[inline(always)]
    pub fn at_const<const ROW: u32, const COL: u32>(&mut self) -> InBoundsMut32<'_, T> {
        InBoundsMut32(unsafe { self.0.add(ROW as usize * S + COL as usize) }, PhantomData)
    }
}

impl<'a, T> DisjointSlice<'a, T, Index1D> {
    #[inline(always)]
    pub fn element_thread32<'kernel>(&mut self, thread: ThreadIndex32<'kernel>) -> Option<InBoundsMut32<'_, T>> {
        let i = thread.get() as usize;
        if i < self.len() { Some(InBoundsMut32(unsafe { self.as_mut_ptr().add(i) }, PhantomData)) } else { None }
    }
}

impl<'a, T, const N: usize> DisjointSlice<'a, T, LinearTiles<N>> {
    #[inline(always)]
    pub fn tile_thread32<'kernel>(&mut self, thread: ThreadIndex32<'kernel>) -> Option<StaticViewMut32<'_, T, N>> {
        let start = thread.get() as usize * N;
        if start + N > self.len() {
            return None;
        }
        Some(StaticViewMut32(unsafe { self.as_mut_ptr().add(start) }, PhantomData))
    }
}

impl<'a, T, const R: usize, const C: usize, const S: usize> DisjointSlice<'a, T, RowMajorTiles<R, C, S>> {
    #[inline(always)]
    pub fn tile_2d32<'kernel>(&mut self, at: ThreadCoord2D32<'kernel>) -> Option<StaticTileMut32<'_, T, R, C, S>> {
        let (row, col) = (at.row() as usize * R, at.col() as usize * C);
        if col + C > S || (row + R - 1) * S + col + C > self.len() {
            return None;
        }
        Some(StaticTileMut32(unsafe { self.as_mut_ptr().add(row * S + col) }, PhantomData))
    }
}
