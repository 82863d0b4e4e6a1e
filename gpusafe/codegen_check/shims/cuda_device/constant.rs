//! Constant memory. Where it lies does not matter to what a confirmation compares.
use core::cell::UnsafeCell;

pub struct ConstantMemory<T: Copy>(UnsafeCell<T>);

unsafe impl<T: Copy> Sync for ConstantMemory<T> {}

impl<T: Copy> ConstantMemory<T> {
    pub const fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    pub const UNINIT: Self = Self(UnsafeCell::new(unsafe { core::mem::zeroed() }));

    #[inline(always)]
    pub fn get(&self) -> T {
        unsafe { *self.0.get() }
    }

    #[inline(always)]
    pub fn get_ref(&self) -> &T {
        unsafe { &*self.0.get() }
    }
}
