//! Vectors of scalars.

pub unsafe trait Vector: Copy {
    type Elem: Copy;
    const LANES: usize;
}

macro_rules! vectors {
    ($($name:ident $elem:ty, $lanes:literal $align:literal;)*) => {$(
        #[repr(C, align($align))]
        #[derive(Clone, Copy, PartialEq)]
        pub struct $name(pub [$elem; $lanes]);

        unsafe impl Vector for $name {
            type Elem = $elem;
            const LANES: usize = $lanes;
        }

        impl $name {
            #[inline(always)]
            pub const fn new(lanes: [$elem; $lanes]) -> Self { Self(lanes) }
            #[inline(always)]
            pub const fn splat(value: $elem) -> Self { Self([value; $lanes]) }
            #[inline(always)]
            pub const fn to_array(self) -> [$elem; $lanes] { self.0 }
            #[inline(always)]
            pub fn as_slice(&self) -> &[$elem] { &self.0 }
            #[inline(always)]
            pub fn as_mut_slice(&mut self) -> &mut [$elem] { &mut self.0 }
        }
    )*};
}

vectors! {
    F32x2 f32, 2 8; F32x4 f32, 4 16; F64x2 f64, 2 16; U32x2 u32, 2 8; U32x4 u32, 4 16; U16x4 u16, 4 8; U16x8 u16, 8 16;
}

#[inline(always)]
fn fits<V: Vector>(len: usize, address: usize) -> bool {
    len % V::LANES == 0 && address % core::mem::align_of::<V>() == 0
}

#[inline(always)]
pub fn as_vectors<V: Vector>(slice: &[V::Elem]) -> Option<&[V]> {
    if !fits::<V>(slice.len(), slice.as_ptr() as usize) {
        return None;
    }
    Some(unsafe { core::slice::from_raw_parts(slice.as_ptr() as *const V, slice.len() / V::LANES) })
}

#[inline(always)]
pub fn as_vectors_mut<V: Vector>(slice: &mut [V::Elem]) -> Option<&mut [V]> {
    if !fits::<V>(slice.len(), slice.as_ptr() as usize) {
        return None;
    }
    Some(unsafe { core::slice::from_raw_parts_mut(slice.as_mut_ptr() as *mut V, slice.len() / V::LANES) })
}
