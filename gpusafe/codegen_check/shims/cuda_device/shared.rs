//! Shared memory. The extract turns shared statics into variables in `.shared`; this type is what their address points to.
use core::cell::UnsafeCell;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ops::{Index, IndexMut};

/// `N` elements in shared memory.
#[repr(C, align(16))]
pub struct SharedArray<T, const N: usize, const ALIGN: usize = 0>(UnsafeCell<MaybeUninit<[T; N]>>);

unsafe impl<T, const N: usize, const ALIGN: usize> Sync for SharedArray<T, N, ALIGN> {}

impl<T, const N: usize, const ALIGN: usize> SharedArray<T, N, ALIGN> {
    pub const UNINIT: Self = Self(UnsafeCell::new(MaybeUninit::uninit()));

    pub const fn len() -> usize {
        N
    }

    pub const fn is_empty() -> bool {
        N == 0
    }

    pub const fn alignment() -> usize {
        if ALIGN == 0 { core::mem::align_of::<T>() } else { ALIGN }
    }

    #[inline(always)]
    pub fn as_ptr(&self) -> *const T {
        self.0.get() as *const T
    }

    #[inline(always)]
    pub fn as_mut_ptr(&mut self) -> *mut T {
        self.0.get() as *mut T
    }

    #[inline(always)]
    pub unsafe fn as_raw_mut_ptr(shared: *mut Self) -> *mut T {
        shared as *mut T
    }
}

impl<T, const N: usize, const ALIGN: usize> Index<usize> for SharedArray<T, N, ALIGN> {
    type Output = T;
    #[inline(always)]
    fn index(&self, i: usize) -> &T {
        if i >= N {
            unsafe { core::arch::nvptx::trap() }
        }
        unsafe { &*(self.0.get() as *const T).add(i) }
    }
}

impl<T, const N: usize, const ALIGN: usize> IndexMut<usize> for SharedArray<T, N, ALIGN> {
    #[inline(always)]
    fn index_mut(&mut self, i: usize) -> &mut T {
        if i >= N {
            unsafe { core::arch::nvptx::trap() }
        }
        unsafe { &mut *(self.0.get() as *mut T).add(i) }
    }
}

/// The dynamic shared memory of the block.
pub struct DynamicSharedArray<T, const ALIGN: usize = 16>(PhantomData<UnsafeCell<T>>);

impl<T, const ALIGN: usize> DynamicSharedArray<T, ALIGN> {
    pub const fn alignment() -> usize {
        ALIGN
    }

    #[inline(always)]
    pub fn get() -> *mut T {
        gpusafe_ptx::special::dynamic_shared() as *mut T
    }

    #[inline(always)]
    pub fn get_raw() -> *mut u8 {
        gpusafe_ptx::special::dynamic_shared()
    }

    #[inline(always)]
    pub fn offset(bytes: usize) -> *mut T {
        unsafe { gpusafe_ptx::special::dynamic_shared().add(bytes) as *mut T }
    }
}

#[inline(always)]
pub unsafe fn cvta_generic_to_shared_offset(p: *const u8) -> u64 {
    gpusafe_ptx::special::shared_address(p) as u64
}
