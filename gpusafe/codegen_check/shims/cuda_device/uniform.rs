//! Values that are the same in all threads of a launch.

#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Uniform<T>(T);

impl<T: Copy> Uniform<T> {
    #[inline(always)]
    pub const unsafe fn new_unchecked(value: T) -> Self {
        Self(value)
    }

    #[inline(always)]
    pub const fn get(&self) -> T {
        self.0
    }
}

macro_rules! extents {
    ($($name:ident $inner:ident)*) => {$(
        #[inline(always)]
        pub fn $name() -> Uniform<u32> { Uniform(crate::thread::$inner()) }
    )*};
}

extents! {
    block_dim_x blockDim_x block_dim_y blockDim_y block_dim_z blockDim_z
    grid_dim_x gridDim_x grid_dim_y gridDim_y grid_dim_z gridDim_z
}
