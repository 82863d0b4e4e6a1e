//! What kernels use of Rust-CUDA's `cuda_std` (0.2, Rust-GPU/Rust-CUDA at ac2674f). Only the lowering reads this file.

pub struct UVec2 {
    pub x: u32,
    pub y: u32,
}
pub struct UVec3 {
    pub x: u32,
    pub y: u32,
    pub z: u32,
}
impl UVec2 {
    fn new(x: u32, y: u32) -> UVec2 {
        UVec2 { x, y }
    }
}
impl UVec3 {
    fn new(x: u32, y: u32, z: u32) -> UVec3 {
        UVec3 { x, y, z }
    }
    fn element_product(self) -> u32 {
        self.x * self.y * self.z
    }
}
pub fn thread_idx_x() -> u32 {
    __special("tid.x")
}
pub fn thread_idx_y() -> u32 {
    __special("tid.y")
}
pub fn thread_idx_z() -> u32 {
    __special("tid.z")
}
pub fn thread_idx() -> UVec3 {
    UVec3 { x: thread_idx_x(), y: thread_idx_y(), z: thread_idx_z() }
}
pub fn block_idx_x() -> u32 {
    __special("ctaid.x")
}
pub fn block_idx_y() -> u32 {
    __special("ctaid.y")
}
pub fn block_idx_z() -> u32 {
    __special("ctaid.z")
}
pub fn block_idx() -> UVec3 {
    UVec3 { x: block_idx_x(), y: block_idx_y(), z: block_idx_z() }
}
pub fn block_dim_x() -> u32 {
    __special("ntid.x")
}
pub fn block_dim_y() -> u32 {
    __special("ntid.y")
}
pub fn block_dim_z() -> u32 {
    __special("ntid.z")
}
pub fn block_dim() -> UVec3 {
    UVec3 { x: block_dim_x(), y: block_dim_y(), z: block_dim_z() }
}
pub fn grid_dim_x() -> u32 {
    __special("nctaid.x")
}
pub fn grid_dim_y() -> u32 {
    __special("nctaid.y")
}
pub fn grid_dim_z() -> u32 {
    __special("nctaid.z")
}
pub fn grid_dim() -> UVec3 {
    UVec3 { x: grid_dim_x(), y: grid_dim_y(), z: grid_dim_z() }
}

/// The linear index of the thread in the grid: unique for every launch.
pub fn index() -> u32 {
    let block = block_idx_x() + block_idx_y() * grid_dim_x() + block_idx_z() * (grid_dim_x() * grid_dim_y());
    let threads = block_dim_x() * block_dim_y() * block_dim_z();
    block * threads + thread_idx_z() * (block_dim_x() * block_dim_y()) + thread_idx_y() * block_dim_x() + thread_idx_x()
}

/// The x axis alone: not unique when a launch has more axes.
pub fn index_1d() -> u32 {
    block_idx_x() * block_dim_x() + thread_idx_x()
}
pub fn index_2d() -> UVec2 {
    UVec2 {
        x: block_idx_x() * block_dim_x() + thread_idx_x(),
        y: block_idx_y() * block_dim_y() + thread_idx_y(),
    }
}
pub fn index_3d() -> UVec3 {
    UVec3 {
        x: block_idx_x() * block_dim_x() + thread_idx_x(),
        y: block_idx_y() * block_dim_y() + thread_idx_y(),
        z: block_idx_z() * block_dim_z() + thread_idx_z(),
    }
}
pub fn first() -> bool {
    block_idx_x() == 0
        && block_idx_y() == 0
        && block_idx_z() == 0
        && thread_idx_x() == 0
        && thread_idx_y() == 0
        && thread_idx_z() == 0
}
pub fn warp_size() -> u32 {
    32
}

pub fn sync_threads() {
    __barrier("block")
}
pub fn sync_threads_count(predicate: u32) -> u32 {
    __barrier_reduce("count", predicate)
}
pub fn sync_threads_and(predicate: u32) -> u32 {
    __barrier_reduce("and", predicate)
}
pub fn sync_threads_or(predicate: u32) -> u32 {
    __barrier_reduce("or", predicate)
}

/// `membar.cta` for all its name (libintrinsics.ll of that snapshot): block scope.
pub fn grid_fence() {
    __fence("seq_cst", "block")
}
pub fn device_fence() {
    __fence("seq_cst", "device")
}
pub fn system_fence() {
    __fence("seq_cst", "system")
}
pub fn nanosleep(nanos: u32) {}

pub fn dynamic_shared_mem<T>() -> *mut T {
    __dynamic_shared::<T>()
}

// cuda_std::warp
pub fn lane_id() -> u32 {
    __special("laneid")
}
pub fn activemask() -> u32 {
    __warp("activemask")
}
pub fn sync_warp(mask: u32) {
    __barrier_warp(mask)
}
pub fn warp_vote_all(mask: u32, predicate: bool) -> bool {
    __warp("all", mask, predicate)
}
pub fn warp_vote_any(mask: u32, predicate: bool) -> bool {
    __warp("any", mask, predicate)
}
pub fn warp_vote_ballot(mask: u32, predicate: bool) -> u32 {
    __warp("ballot", mask, predicate)
}
pub fn warp_match_any<T>(mask: u32, value: T) -> u32 {
    __warp("match_any", mask, value)
}
pub fn warp_match_all<T>(mask: u32, value: T) -> Option<u32> {
    let lanes = __warp("match_all", mask, value);
    if lanes != 0 {
        Some(lanes)
    } else {
        None
    }
}
pub enum WarpReductionOp {
    Umax,
    Umin,
    Add,
    And,
    Or,
    Xor,
    Min,
    Max,
}
pub fn warp_reduce<T>(mask: u32, value: T, op: WarpReductionOp) -> T {
    match op {
        WarpReductionOp::Add => __warp("redux_add", mask, value),
        WarpReductionOp::And => __warp("redux_and", mask, value),
        WarpReductionOp::Or => __warp("redux_or", mask, value),
        WarpReductionOp::Xor => __warp("redux_xor", mask, value),
        WarpReductionOp::Min => __warp("redux_min", mask, value),
        WarpReductionOp::Max => __warp("redux_max", mask, value),
        WarpReductionOp::Umin => __warp("redux_min", mask, value),
        WarpReductionOp::Umax => __warp("redux_max", mask, value),
    }
}
/// The second part says whether the source lane takes part.
pub fn warp_shuffle_down<T>(mask: u32, value: T, delta: u32, width: u32) -> (T, bool) {
    (__warp("shfl_down", mask, value, delta, width), __opaque::<bool>("shuffle_in_range", delta, width))
}
pub fn warp_shuffle_up<T>(mask: u32, value: T, delta: u32, width: u32) -> (T, bool) {
    (__warp("shfl_up", mask, value, delta, width), __opaque::<bool>("shuffle_in_range", delta, width))
}
pub fn warp_shuffle_idx<T>(mask: u32, value: T, idx: u32, width: u32) -> (T, bool) {
    (__warp("shfl_idx", mask, value, idx, width), __opaque::<bool>("shuffle_in_range", idx, width))
}
pub fn warp_shuffle_xor<T>(mask: u32, value: T, lane_mask: u32, width: u32) -> (T, bool) {
    (__warp("shfl_xor", mask, value, lane_mask, width), __opaque::<bool>("shuffle_in_range", lane_mask, width))
}

// cuda_std::atomic
pub fn device_thread_fence(ordering: Ordering) {
    __fence(ordering, "device")
}
/// `fence_acqrel_block` emits `.sys` in that snapshot (issue 376); what the source asks for is the block.
pub fn block_thread_fence(ordering: Ordering) {
    __fence(ordering, "block")
}
pub fn system_thread_fence(ordering: Ordering) {
    __fence(ordering, "system")
}
pub fn membar_device() {
    __fence("seq_cst", "device")
}
pub fn fence_sc_device() {
    __fence("seq_cst", "device")
}
pub fn fence_acqrel_device() {
    __fence("acq_rel", "device")
}
pub fn membar_block() {
    __fence("seq_cst", "block")
}
pub fn fence_sc_block() {
    __fence("seq_cst", "block")
}
pub fn fence_acqrel_block() {
    __fence("acq_rel", "block")
}
pub fn membar_system() {
    __fence("seq_cst", "system")
}
pub fn fence_sc_system() {
    __fence("seq_cst", "system")
}
pub fn fence_acqrel_system() {
    __fence("acq_rel", "system")
}
