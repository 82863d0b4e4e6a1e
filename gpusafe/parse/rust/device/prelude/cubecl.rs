//! What kernels use of CubeCL (tracel-ai/cubecl at 4057f39 and later). Only the lowering reads this file.
//!
//! A cube is a block, a unit a thread, a plane a warp. Arrays, tensors and slices are slices here; a vector counts as one
//! element of its array, so that its components are not told apart.

pub const UNIT_POS_X: u32 = __special("tid.x");
pub const UNIT_POS_Y: u32 = __special("tid.y");
pub const UNIT_POS_Z: u32 = __special("tid.z");
pub const CUBE_DIM_X: u32 = __special("ntid.x");
pub const CUBE_DIM_Y: u32 = __special("ntid.y");
pub const CUBE_DIM_Z: u32 = __special("ntid.z");
pub const CUBE_POS_X: u32 = __special("ctaid.x");
pub const CUBE_POS_Y: u32 = __special("ctaid.y");
pub const CUBE_POS_Z: u32 = __special("ctaid.z");
pub const CUBE_COUNT_X: u32 = __special("nctaid.x");
pub const CUBE_COUNT_Y: u32 = __special("nctaid.y");
pub const CUBE_COUNT_Z: u32 = __special("nctaid.z");
pub const UNIT_POS: u32 = UNIT_POS_X + UNIT_POS_Y * CUBE_DIM_X + UNIT_POS_Z * (CUBE_DIM_X * CUBE_DIM_Y);
pub const CUBE_DIM: u32 = CUBE_DIM_X * CUBE_DIM_Y * CUBE_DIM_Z;
pub const CUBE_COUNT: usize = CUBE_COUNT_X as usize * CUBE_COUNT_Y as usize * CUBE_COUNT_Z as usize;
pub const CUBE_POS: usize = CUBE_POS_X as usize
    + CUBE_POS_Y as usize * CUBE_COUNT_X as usize
    + CUBE_POS_Z as usize * (CUBE_COUNT_X as usize * CUBE_COUNT_Y as usize);
pub const ABSOLUTE_POS_X: u32 = CUBE_POS_X * CUBE_DIM_X + UNIT_POS_X;
pub const ABSOLUTE_POS_Y: u32 = CUBE_POS_Y * CUBE_DIM_Y + UNIT_POS_Y;
pub const ABSOLUTE_POS_Z: u32 = CUBE_POS_Z * CUBE_DIM_Z + UNIT_POS_Z;
pub const ABSOLUTE_POS: usize = ABSOLUTE_POS_X as usize
    + ABSOLUTE_POS_Y as usize * (CUBE_COUNT_X as usize * CUBE_DIM_X as usize)
    + ABSOLUTE_POS_Z as usize
        * (CUBE_COUNT_X as usize * CUBE_DIM_X as usize * (CUBE_COUNT_Y as usize * CUBE_DIM_Y as usize));
pub const PLANE_DIM: u32 = 32;
pub const UNIT_POS_PLANE: u32 = __special("laneid");
pub const PLANE_POS: u32 = UNIT_POS / 32;

pub type Array<T> = [T];
pub type Tensor<T> = [T];
pub type Slice<T> = [T];
pub type SliceMut<T> = [T];
pub type Line<T> = T;
pub type Vector<T, N> = T;

pub fn sync_cube() {
    __barrier("block")
}
pub fn sync_units() {
    __barrier("block")
}
pub fn sync_plane() {
    __unmodelled("`sync_plane`, an operation of a plane", "pure")
}
pub fn sync_storage() {
    __unmodelled("`sync_storage`, which orders buffers across cubes")
}

pub struct SharedMemory<T> {
    data: T,
}
impl<T> SharedMemory<T> {
    fn new(count: usize) -> &mut [T] {
        __shared_array::<T>(count)
    }
    fn new_slice(count: usize) -> &mut [T] {
        __shared_array::<T>(count)
    }
    fn new_lined(count: usize, line: u32) -> &mut [T] {
        __shared_array::<T>(count)
    }
}
pub struct Shared<T> {
    data: T,
}
impl<T> Shared<T> {
    fn new_slice(count: usize) -> &mut [T] {
        __shared_array::<T>(count)
    }
    fn new() -> &mut T {
        __shared_array::<T>(1usize)
    }
}

// Which units of a plane take part is not followed: such a kernel is unknown.
pub fn plane_shuffle<T>(value: T, lane: u32) -> T {
    __unmodelled("`plane_shuffle`, an operation of a plane", "pure");
    __havoc::<T>("what a plane operation gives")
}
pub fn plane_broadcast<T>(value: T, lane: u32) -> T {
    __unmodelled("`plane_broadcast`, an operation of a plane", "pure");
    __havoc::<T>("what a plane operation gives")
}
pub fn plane_shuffle_xor<T>(value: T, mask: u32) -> T {
    __unmodelled("`plane_shuffle_xor`, an operation of a plane", "pure");
    __havoc::<T>("what a plane operation gives")
}
pub fn plane_shuffle_up<T>(value: T, delta: u32) -> T {
    __unmodelled("`plane_shuffle_up`, an operation of a plane", "pure");
    __havoc::<T>("what a plane operation gives")
}
pub fn plane_shuffle_down<T>(value: T, delta: u32) -> T {
    __unmodelled("`plane_shuffle_down`, an operation of a plane", "pure");
    __havoc::<T>("what a plane operation gives")
}
pub fn plane_sum<T>(value: T) -> T {
    __unmodelled("`plane_sum`, an operation of a plane", "pure");
    __havoc::<T>("what a plane operation gives")
}
pub fn plane_prod<T>(value: T) -> T {
    __unmodelled("`plane_prod`, an operation of a plane", "pure");
    __havoc::<T>("what a plane operation gives")
}
pub fn plane_min<T>(value: T) -> T {
    __unmodelled("`plane_min`, an operation of a plane", "pure");
    __havoc::<T>("what a plane operation gives")
}
pub fn plane_max<T>(value: T) -> T {
    __unmodelled("`plane_max`, an operation of a plane", "pure");
    __havoc::<T>("what a plane operation gives")
}
pub fn plane_inclusive_sum<T>(value: T) -> T {
    __unmodelled("`plane_inclusive_sum`, an operation of a plane", "pure");
    __havoc::<T>("what a plane operation gives")
}
pub fn plane_exclusive_sum<T>(value: T) -> T {
    __unmodelled("`plane_exclusive_sum`, an operation of a plane", "pure");
    __havoc::<T>("what a plane operation gives")
}
pub fn plane_inclusive_prod<T>(value: T) -> T {
    __unmodelled("`plane_inclusive_prod`, an operation of a plane", "pure");
    __havoc::<T>("what a plane operation gives")
}
pub fn plane_exclusive_prod<T>(value: T) -> T {
    __unmodelled("`plane_exclusive_prod`, an operation of a plane", "pure");
    __havoc::<T>("what a plane operation gives")
}
pub fn plane_all(value: bool) -> bool {
    __unmodelled("`plane_all`, an operation of a plane", "pure");
    __havoc::<bool>("what a plane operation gives")
}
pub fn plane_any(value: bool) -> bool {
    __unmodelled("`plane_any`, an operation of a plane", "pure");
    __havoc::<bool>("what a plane operation gives")
}
pub fn plane_elect() -> bool {
    __unmodelled("`plane_elect`, an operation of a plane", "pure");
    __havoc::<bool>("what a plane operation gives")
}
pub fn plane_ballot(value: bool) -> u32 {
    __unmodelled("`plane_ballot`, an operation of a plane", "pure");
    __havoc::<u32>("what a plane operation gives")
}

pub fn select<T>(cond: bool, yes: T, no: T) -> T {
    if cond { yes } else { no }
}
pub fn comment(text: &str) {}
