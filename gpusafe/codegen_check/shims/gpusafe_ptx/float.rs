//! Floating-point functions. What they compute does not matter to a confirmation of order, so all but the simplest stand
//! for one arithmetic instruction.

macro_rules! functions {
    ($($ty:ident)*) => {$(
        impl GpuFloat for $ty {
            unary! { $ty floor ceil round trunc sqrt exp exp2 ln log2 log10 cbrt sin cos tan asin acos atan exp_m1 ln_1p
                     sinh cosh tanh asinh acosh atanh fract signum }
            #[inline(always)]
            fn abs(self) -> $ty { $ty::from_bits(self.to_bits() << 1 >> 1) }
            #[inline(always)]
            fn mul_add(self, a: $ty, b: $ty) -> $ty { self * a + b }
            #[inline(always)]
            fn powi(self, n: i32) -> $ty { external::$ty::of(self, n as $ty) }
            binary! { $ty copysign powf log hypot atan2 div_euclid rem_euclid }
            #[inline(always)]
            fn sin_cos(self) -> ($ty, $ty) { (self.sin(), self.cos()) }
        }
    )*};
}

macro_rules! unary {
    ($ty:ident $($name:ident)*) => {$(
        #[inline(always)]
        fn $name(self) -> $ty { external::$ty::of(self, self) }
    )*};
}

macro_rules! binary {
    ($ty:ident $($name:ident)*) => {$(
        #[inline(always)]
        fn $name(self, other: $ty) -> $ty { external::$ty::of(self, other) }
    )*};
}

mod external {
    pub mod f32 {
        #[inline(always)]
        pub fn of(a: f32, b: f32) -> f32 {
            let r: f32;
            unsafe {
                core::arch::asm!("fma.rn.f32 {r}, {a}, {b}, {a};", r = out(reg32) r, a = in(reg32) a, b = in(reg32) b,
                                 options(pure, nomem, nostack))
            };
            r
        }
    }

    pub mod f64 {
        #[inline(always)]
        pub fn of(a: f64, b: f64) -> f64 {
            let r: f64;
            unsafe {
                core::arch::asm!("fma.rn.f64 {r}, {a}, {b}, {a};", r = out(reg64) r, a = in(reg64) a, b = in(reg64) b,
                                 options(pure, nomem, nostack))
            };
            r
        }
    }
}

macro_rules! declare {
    (unary $($one:ident)*; binary $($two:ident)*) => {
        /// The functions of `std` floats, which `core` lacks.
        pub trait GpuFloat: Copy + PartialOrd {
            $(fn $one(self) -> Self;)*
            $(fn $two(self, other: Self) -> Self;)*
            fn powi(self, n: i32) -> Self;
            fn mul_add(self, a: Self, b: Self) -> Self;
            fn sin_cos(self) -> (Self, Self);
        }
    };
}

declare! {
    unary floor ceil round trunc fract abs signum sqrt exp exp2 ln log2 log10 cbrt sin cos tan asin acos atan exp_m1
          ln_1p sinh cosh tanh asinh acosh atanh;
    binary copysign powf log hypot atan2 div_euclid rem_euclid
}

functions! { f32 f64 }
