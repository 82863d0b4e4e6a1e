//! Scoped atomics. As cuda-oxide does it, an ordered read-modify-write is a relaxed one between fences.
use core::cell::UnsafeCell;
use gpusafe_ptx::atomic::{block, device, system};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AtomicOrdering {
    Relaxed,
    Acquire,
    Release,
    AcqRel,
    SeqCst,
}

use AtomicOrdering::*;

macro_rules! common {
    ($name:ident $ty:ident $scope:ident) => {
        #[repr(transparent)]
        pub struct $name(UnsafeCell<$ty>);

        unsafe impl Sync for $name {}

        impl $name {
            pub const fn new(v: $ty) -> Self {
                Self(UnsafeCell::new(v))
            }

            #[inline(always)]
            pub const unsafe fn from_ptr<'a>(p: *mut $ty) -> &'a Self {
                unsafe { &*(p as *const Self) }
            }

            #[inline(always)]
            pub fn load(&self, order: AtomicOrdering) -> $ty {
                unsafe {
                    match order {
                        Relaxed => $scope::${concat(load_relaxed_, $ty)}(self.0.get()),
                        Acquire => $scope::${concat(load_acquire_, $ty)}(self.0.get()),
                        _ => {
                            $scope::fence_sc();
                            $scope::${concat(load_acquire_, $ty)}(self.0.get())
                        }
                    }
                }
            }

            #[inline(always)]
            pub fn store(&self, v: $ty, order: AtomicOrdering) {
                unsafe {
                    match order {
                        Relaxed => $scope::${concat(store_relaxed_, $ty)}(self.0.get(), v),
                        Release => $scope::${concat(store_release_, $ty)}(self.0.get(), v),
                        _ => {
                            $scope::fence_sc();
                            $scope::${concat(store_release_, $ty)}(self.0.get(), v)
                        }
                    }
                }
            }

            #[inline(always)]
            fn before(order: AtomicOrdering) {
                unsafe {
                    match order {
                        Release | AcqRel => $scope::fence_acq_rel(),
                        SeqCst => $scope::fence_sc(),
                        _ => {}
                    }
                }
            }

            #[inline(always)]
            fn after(order: AtomicOrdering) {
                unsafe {
                    match order {
                        Acquire | AcqRel => $scope::fence_acq_rel(),
                        SeqCst => $scope::fence_sc(),
                        _ => {}
                    }
                }
            }

            rmw! { $ty $scope fetch_add add }
            rmw! { $ty $scope swap exch }
        }
    };
}

macro_rules! rmw {
    ($ty:ident $scope:ident $name:ident $op:ident) => {
        #[inline(always)]
        pub fn $name(&self, v: $ty, order: AtomicOrdering) -> $ty {
            Self::before(order);
            let old = unsafe { $scope::${concat($op, _relaxed_, $ty)}(self.0.get(), v) };
            Self::after(order);
            old
        }
    };
}

macro_rules! integers {
    ($($name:ident $ty:ident $scope:ident)*) => {$(
        common! { $name $ty $scope }

        impl $name {
            #[inline(always)]
            pub fn fetch_sub(&self, v: $ty, order: AtomicOrdering) -> $ty {
                self.fetch_add((0 as $ty).wrapping_sub(v), order)
            }

            rmw! { $ty $scope fetch_and and }
            rmw! { $ty $scope fetch_or or }
            rmw! { $ty $scope fetch_xor xor }
            rmw! { $ty $scope fetch_min min }
            rmw! { $ty $scope fetch_max max }

            #[inline(always)]
            pub fn compare_exchange(
                &self,
                current: $ty,
                new: $ty,
                success: AtomicOrdering,
                _failure: AtomicOrdering,
            ) -> Result<$ty, $ty> {
                let p = self.0.get();
                let old = unsafe {
                    match success {
                        Relaxed => $scope::${concat(cas_relaxed_, $ty)}(p, current, new),
                        Acquire => $scope::${concat(cas_acquire_, $ty)}(p, current, new),
                        Release => $scope::${concat(cas_release_, $ty)}(p, current, new),
                        AcqRel => $scope::${concat(cas_acq_rel_, $ty)}(p, current, new),
                        SeqCst => {
                            $scope::fence_sc();
                            $scope::${concat(cas_acq_rel_, $ty)}(p, current, new)
                        }
                    }
                };
                if old == current { Ok(old) } else { Err(old) }
            }
        }
    )*};
}

macro_rules! floats {
    ($($name:ident $ty:ident $scope:ident)*) => {$(
        common! { $name $ty $scope }

        impl $name {
            #[inline(always)]
            pub fn fetch_sub(&self, v: $ty, order: AtomicOrdering) -> $ty {
                self.fetch_add(-v, order)
            }
        }
    )*};
}

integers! {
    DeviceAtomicU32 u32 device DeviceAtomicI32 i32 device DeviceAtomicU64 u64 device DeviceAtomicI64 i64 device
    BlockAtomicU32 u32 block BlockAtomicI32 i32 block BlockAtomicU64 u64 block BlockAtomicI64 i64 block
    SystemAtomicU32 u32 system SystemAtomicI32 i32 system SystemAtomicU64 u64 system SystemAtomicI64 i64 system
}

floats! {
    DeviceAtomicF32 f32 device DeviceAtomicF64 f64 device BlockAtomicF32 f32 block BlockAtomicF64 f64 block
    SystemAtomicF32 f32 system SystemAtomicF64 f64 system
}
