//! Atomics and fences with an explicit order and scope.
use core::arch::asm;

/// One module a scope, with the same functions in each.
macro_rules! scope {
    ($module:ident $scope:literal) => {
        pub mod $module {
            use super::*;

            #[inline(always)]
            pub unsafe fn fence_sc() {
                asm!(concat!("fence.sc.", $scope, ";"), options(nostack));
            }

            #[inline(always)]
            pub unsafe fn fence_acq_rel() {
                asm!(concat!("fence.acq_rel.", $scope, ";"), options(nostack));
            }

            types! { $scope
                u32 reg32 "b32" "u32" u64 reg64 "b64" "u64" i32 reg32 "b32" "s32" i64 reg64 "b64" "s64"
                f32 reg32 "b32" "f32" f64 reg64 "b64" "f64"
            }
            adds! { $scope
                u32 reg32 "u32" u64 reg64 "u64" i32 reg32 "s32" i64 reg64 "u64" f32 reg32 "f32" f64 reg64 "f64"
            }
            integers! { $scope
                u32 reg32 "b32" "u32" u64 reg64 "b64" "u64" i32 reg32 "b32" "s32" i64 reg64 "b64" "s64"
            }
        }
    };
}

macro_rules! types {
    ($scope:literal $($ty:ident $reg:ident $bits:literal $kind:literal)*) => {$(
        access! { $scope $ty $reg $bits }
        orders! { $scope $ty $reg exch $bits }
        cas! { $scope $ty $reg $bits }
    )*};
}

macro_rules! adds {
    ($scope:literal $($ty:ident $reg:ident $kind:literal)*) => {$( orders! { $scope $ty $reg add $kind } )*};
}

macro_rules! integers {
    ($scope:literal $($ty:ident $reg:ident $bits:literal $kind:literal)*) => {$(
        orders! { $scope $ty $reg and $bits }
        orders! { $scope $ty $reg or $bits }
        orders! { $scope $ty $reg xor $bits }
        orders! { $scope $ty $reg min $kind }
        orders! { $scope $ty $reg max $kind }
    )*};
}

macro_rules! access {
    ($scope:literal $ty:ident $reg:ident $bits:literal) => {
        load! { $scope $ty $reg $bits relaxed "relaxed" }
        load! { $scope $ty $reg $bits acquire "acquire" }
        store! { $scope $ty $reg $bits relaxed "relaxed" }
        store! { $scope $ty $reg $bits release "release" }
    };
}

macro_rules! load {
    ($scope:literal $ty:ident $reg:ident $bits:literal $order:ident $text:literal) => {
        #[inline(always)]
        pub unsafe fn ${concat(load_, $order, _, $ty)}(p: *const $ty) -> $ty {
            let v: $ty;
            asm!(concat!("ld.", $text, ".", $scope, ".", $bits, " {v}, [{p}];"), v = out($reg) v, p = in(reg64) p,
                 options(nostack));
            v
        }
    };
}

macro_rules! store {
    ($scope:literal $ty:ident $reg:ident $bits:literal $order:ident $text:literal) => {
        #[inline(always)]
        pub unsafe fn ${concat(store_, $order, _, $ty)}(p: *mut $ty, v: $ty) {
            asm!(concat!("st.", $text, ".", $scope, ".", $bits, " [{p}], {v};"), v = in($reg) v, p = in(reg64) p,
                 options(nostack));
        }
    };
}

macro_rules! orders {
    ($scope:literal $ty:ident $reg:ident $op:ident $kind:literal) => {
        rmw! { $scope $ty $reg $op $kind relaxed "relaxed" }
        rmw! { $scope $ty $reg $op $kind acquire "acquire" }
        rmw! { $scope $ty $reg $op $kind release "release" }
        rmw! { $scope $ty $reg $op $kind acq_rel "acq_rel" }
    };
}

macro_rules! rmw {
    ($scope:literal $ty:ident $reg:ident $op:ident $kind:literal $order:ident $text:literal) => {
        #[inline(always)]
        pub unsafe fn ${concat($op, _, $order, _, $ty)}(p: *mut $ty, v: $ty) -> $ty {
            let old: $ty;
            asm!(concat!("atom.", $text, ".", $scope, ".", stringify!($op), ".", $kind, " {o}, [{p}], {v};"),
                 o = out($reg) old, p = in(reg64) p, v = in($reg) v, options(nostack));
            old
        }
    };
}

macro_rules! cas {
    ($scope:literal $ty:ident $reg:ident $bits:literal) => {
        cas_order! { $scope $ty $reg $bits relaxed "relaxed" }
        cas_order! { $scope $ty $reg $bits acquire "acquire" }
        cas_order! { $scope $ty $reg $bits release "release" }
        cas_order! { $scope $ty $reg $bits acq_rel "acq_rel" }
    };
}

macro_rules! cas_order {
    ($scope:literal $ty:ident $reg:ident $bits:literal $order:ident $text:literal) => {
        #[inline(always)]
        pub unsafe fn ${concat(cas_, $order, _, $ty)}(p: *mut $ty, expected: $ty, new: $ty) -> $ty {
            let old: $ty;
            asm!(concat!("atom.", $text, ".", $scope, ".cas.", $bits, " {o}, [{p}], {e}, {n};"),
                 o = out($reg) old, p = in(reg64) p, e = in($reg) expected, n = in($reg) new, options(nostack));
            old
        }
    };
}

scope! { block "cta" }
scope! { cluster "cluster" }
scope! { device "gpu" }
scope! { system "sys" }
