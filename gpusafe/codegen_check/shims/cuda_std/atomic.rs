//! Scoped atomics: `mid` (with an ordering argument), `intrinsics` (one function an ordering), and the float types.

pub mod intrinsics {
    //! One function for each operation, order, type and scope.
    use gpusafe_ptx::atomic::{block, device, system};

    macro_rules! fences {
        ($($name:ident $text:literal)*) => {$(
            #[inline(always)]
            pub unsafe fn $name() { core::arch::asm!($text, options(nostack)); }
        )*};
    }

    fences! {
        membar_device "membar.gl;" membar_block "membar.cta;" membar_system "membar.sys;"
        fence_sc_device "fence.sc.gpu;" fence_sc_block "fence.sc.cta;" fence_sc_system "fence.sc.sys;"
        fence_acqrel_device "fence.acq_rel.gpu;" fence_acqrel_block "fence.acq_rel.sys;"
        fence_acqrel_system "fence.acq_rel.sys;"
    }

    macro_rules! scoped {
        ($($scope:ident)*) => {$(
            accesses! { $scope u32 32 u64 64 }
            operations! { $scope add u32 u64 i32 i64 f32 f64 }
            operations! { $scope exch u32 u64 i32 i64 f32 f64 }
            operations! { $scope and u32 u64 i32 i64 }
            operations! { $scope or u32 u64 i32 i64 }
            operations! { $scope xor u32 u64 i32 i64 }
            operations! { $scope min u32 u64 i32 i64 }
            operations! { $scope max u32 u64 i32 i64 }
            subtractions! { $scope u32 u64 i32 i64 f32 f64 }
            compares! { $scope u32 u64 i32 i64 }
        )*};
    }

    macro_rules! accesses {
        ($scope:ident $($ty:ident $width:literal)*) => {$(
            #[inline(always)]
            pub unsafe fn ${concat(atomic_load_relaxed_, $width, _, $scope)}(p: *const $ty) -> $ty {
                $scope::${concat(load_relaxed_, $ty)}(p)
            }
            #[inline(always)]
            pub unsafe fn ${concat(atomic_load_acquire_, $width, _, $scope)}(p: *const $ty) -> $ty {
                $scope::${concat(load_acquire_, $ty)}(p)
            }
            #[inline(always)]
            pub unsafe fn ${concat(atomic_store_relaxed_, $width, _, $scope)}(p: *mut $ty, v: $ty) {
                $scope::${concat(store_relaxed_, $ty)}(p, v)
            }
            #[inline(always)]
            pub unsafe fn ${concat(atomic_store_release_, $width, _, $scope)}(p: *mut $ty, v: $ty) {
                $scope::${concat(store_release_, $ty)}(p, v)
            }
        )*};
    }

    macro_rules! operations {
        ($scope:ident $op:ident $($ty:ident)*) => {$(
            operation! { $scope $op $ty relaxed relaxed }
            operation! { $scope $op $ty acquire acquire }
            operation! { $scope $op $ty release release }
            operation! { $scope $op $ty acqrel acq_rel }
        )*};
    }

    macro_rules! operation {
        ($scope:ident $op:ident $ty:ident $order:ident $inner:ident) => {
            #[inline(always)]
            pub unsafe fn ${concat(atomic_fetch_, $op, _, $order, _, $ty, _, $scope)}(p: *mut $ty, v: $ty) -> $ty {
                $scope::${concat($op, _, $inner, _, $ty)}(p, v)
            }
        };
    }

    macro_rules! subtractions {
        ($scope:ident $($ty:ident)*) => {$(
            subtraction! { $scope $ty relaxed relaxed }
            subtraction! { $scope $ty acquire acquire }
            subtraction! { $scope $ty release release }
            subtraction! { $scope $ty acqrel acq_rel }
        )*};
    }

    macro_rules! subtraction {
        ($scope:ident $ty:ident $order:ident $inner:ident) => {
            #[inline(always)]
            pub unsafe fn ${concat(atomic_fetch_sub_, $order, _, $ty, _, $scope)}(p: *mut $ty, v: $ty) -> $ty {
                $scope::${concat(add_, $inner, _, $ty)}(p, <$ty as Negate>::negate(v))
            }
        };
    }

    macro_rules! compares {
        ($scope:ident $($ty:ident)*) => {$(
            compare! { $scope $ty relaxed relaxed }
            compare! { $scope $ty acquire acquire }
            compare! { $scope $ty release release }
            compare! { $scope $ty acqrel acq_rel }
        )*};
    }

    macro_rules! compare {
        ($scope:ident $ty:ident $order:ident $inner:ident) => {
            #[inline(always)]
            pub unsafe fn ${concat(atomic_fetch_cas_, $order, _, $ty, _, $scope)}(p: *mut $ty, e: $ty, n: $ty) -> $ty {
                $scope::${concat(cas_, $inner, _, $ty)}(p, e, n)
            }
        };
    }

    pub trait Negate {
        fn negate(self) -> Self;
    }

    macro_rules! negations {
        ($($ty:ident)*) => {$(
            impl Negate for $ty {
                #[inline(always)]
                fn negate(self) -> $ty { (0 as $ty).wrapping_sub(self) }
            }
        )*};
    }

    negations! { u32 u64 i32 i64 }

    impl Negate for f32 {
        #[inline(always)]
        fn negate(self) -> f32 {
            -self
        }
    }

    impl Negate for f64 {
        #[inline(always)]
        fn negate(self) -> f64 {
            -self
        }
    }

    scoped! { block device system }
}

pub mod mid {
    //! One function for each operation, type and scope; the ordering is an argument.
    use super::intrinsics::*;
    use core::sync::atomic::Ordering::{self, *};

    macro_rules! thread_fences {
        ($($name:ident $sc:ident $acqrel:ident)*) => {$(
            #[inline(always)]
            pub fn $name(ordering: Ordering) {
                match ordering {
                    Relaxed => {}
                    SeqCst => unsafe { $sc() },
                    _ => unsafe { $acqrel() },
                }
            }
        )*};
    }

    thread_fences! {
        device_thread_fence fence_sc_device fence_acqrel_device
        block_thread_fence fence_sc_block fence_acqrel_block
        system_thread_fence fence_sc_system fence_acqrel_system
    }

    macro_rules! scoped {
        ($($scope:ident)*) => {$(
            loads! { $scope u32 32 u64 64 }
            fetches! { $scope add u32 u64 i32 i64 f32 f64 }
            fetches! { $scope sub u32 u64 i32 i64 f32 f64 }
            fetches! { $scope exch u32 u64 i32 i64 f32 f64 }
            fetches! { $scope and u32 u64 i32 i64 }
            fetches! { $scope or u32 u64 i32 i64 }
            fetches! { $scope xor u32 u64 i32 i64 }
            fetches! { $scope min u32 u64 i32 i64 }
            fetches! { $scope max u32 u64 i32 i64 }
            swaps! { $scope u32 u64 i32 i64 }
        )*};
    }

    macro_rules! loads {
        ($scope:ident $($ty:ident $width:literal)*) => {$(
            #[inline(always)]
            pub unsafe fn ${concat(atomic_load_, $width, _, $scope)}(p: *mut $ty, ordering: Ordering) -> $ty {
                match ordering {
                    Relaxed => ${concat(atomic_load_relaxed_, $width, _, $scope)}(p),
                    Acquire => ${concat(atomic_load_acquire_, $width, _, $scope)}(p),
                    SeqCst => {
                        ${concat(fence_sc_, $scope)}();
                        ${concat(atomic_load_acquire_, $width, _, $scope)}(p)
                    }
                    _ => panic!(),
                }
            }
            #[inline(always)]
            pub unsafe fn ${concat(atomic_store_, $width, _, $scope)}(p: *mut $ty, ordering: Ordering, v: $ty) {
                match ordering {
                    Relaxed => ${concat(atomic_store_relaxed_, $width, _, $scope)}(p, v),
                    Release => ${concat(atomic_store_release_, $width, _, $scope)}(p, v),
                    SeqCst => {
                        ${concat(fence_sc_, $scope)}();
                        ${concat(atomic_store_relaxed_, $width, _, $scope)}(p, v)
                    }
                    _ => panic!(),
                }
            }
        )*};
    }

    macro_rules! fetches {
        ($scope:ident $op:ident $($ty:ident)*) => {$( fetch! { $scope $op $ty } )*};
    }

    macro_rules! fetch {
        ($scope:ident $op:ident $ty:ident) => {
            #[inline(always)]
            pub unsafe fn ${concat(atomic_fetch_, $op, _, $ty, _, $scope)}(p: *mut $ty, ordering: Ordering, v: $ty) -> $ty {
                match ordering {
                    Relaxed => ${concat(atomic_fetch_, $op, _relaxed_, $ty, _, $scope)}(p, v),
                    Acquire => ${concat(atomic_fetch_, $op, _acquire_, $ty, _, $scope)}(p, v),
                    Release => ${concat(atomic_fetch_, $op, _release_, $ty, _, $scope)}(p, v),
                    AcqRel => ${concat(atomic_fetch_, $op, _acqrel_, $ty, _, $scope)}(p, v),
                    _ => {
                        ${concat(fence_sc_, $scope)}();
                        ${concat(atomic_fetch_, $op, _acquire_, $ty, _, $scope)}(p, v)
                    }
                }
            }
        };
    }

    macro_rules! swaps {
        ($scope:ident $($ty:ident)*) => {$( swap! { $scope $ty } )*};
    }

    macro_rules! swap {
        ($scope:ident $ty:ident) => {
            #[inline(always)]
            pub unsafe fn ${concat(atomic_compare_and_swap_, $ty, _, $scope)}(
                p: *mut $ty,
                current: $ty,
                new: $ty,
                ordering: Ordering,
            ) -> $ty {
                match ordering {
                    Relaxed => ${concat(atomic_fetch_cas_relaxed_, $ty, _, $scope)}(p, current, new),
                    Acquire => ${concat(atomic_fetch_cas_acquire_, $ty, _, $scope)}(p, current, new),
                    Release => ${concat(atomic_fetch_cas_release_, $ty, _, $scope)}(p, current, new),
                    AcqRel => ${concat(atomic_fetch_cas_acqrel_, $ty, _, $scope)}(p, current, new),
                    _ => {
                        ${concat(fence_sc_, $scope)}();
                        ${concat(atomic_fetch_cas_acquire_, $ty, _, $scope)}(p, current, new)
                    }
                }
            }
        };
    }

    scoped! { block device system }
}

use core::cell::UnsafeCell;
use core::sync::atomic::Ordering;

macro_rules! float_types {
    ($($name:ident $ty:ident $bits:ident $width:literal $scope:ident)*) => {$(
        /// A float that threads share.
        #[repr(C)]
        pub struct $name(UnsafeCell<$ty>);

        unsafe impl Sync for $name {}

        impl $name {
            pub const fn new(v: $ty) -> Self { Self(UnsafeCell::new(v)) }
            #[inline(always)]
            pub fn fetch_add(&self, v: $ty, order: Ordering) -> $ty {
                unsafe { mid::${concat(atomic_fetch_add_, $ty, _, $scope)}(self.0.get(), order, v) }
            }
            #[inline(always)]
            pub fn fetch_sub(&self, v: $ty, order: Ordering) -> $ty {
                unsafe { mid::${concat(atomic_fetch_sub_, $ty, _, $scope)}(self.0.get(), order, v) }
            }
            #[inline(always)]
            pub fn swap(&self, v: $ty, order: Ordering) -> $ty {
                unsafe { mid::${concat(atomic_fetch_exch_, $ty, _, $scope)}(self.0.get(), order, v) }
            }
            #[inline(always)]
            pub fn load(&self, order: Ordering) -> $ty {
                $ty::from_bits(unsafe { mid::${concat(atomic_load_, $width, _, $scope)}(self.0.get() as *mut $bits, order) })
            }
            #[inline(always)]
            pub fn store(&self, v: $ty, order: Ordering) {
                unsafe { mid::${concat(atomic_store_, $width, _, $scope)}(self.0.get() as *mut $bits, order, v.to_bits()) }
            }
        }
    )*};
}

float_types! {
    AtomicF32 f32 u32 32 device AtomicF64 f64 u64 64 device
    BlockAtomicF32 f32 u32 32 block BlockAtomicF64 f64 u64 64 block
    SystemAtomicF32 f32 u32 32 system SystemAtomicF64 f64 u64 64 system
}
