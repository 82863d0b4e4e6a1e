//! Cooperative groups.
use crate::shared::SharedArray;
use crate::{cluster, grid, thread, warp};
use ops::ReduceOp;

pub trait ThreadGroup: Copy {
    fn size(&self) -> u32;
    fn thread_rank(&self) -> u32;
    fn sync(&self);
}

pub trait WarpCollective: ThreadGroup {
    fn mask(&self) -> u32;
    fn base(&self) -> u32;

    #[inline(always)]
    fn ballot(&self, predicate: bool) -> u32 {
        (warp::ballot_sync(self.mask(), predicate) & self.mask()) >> self.base()
    }
    #[inline(always)]
    fn all(&self, predicate: bool) -> bool {
        warp::all_sync(self.mask(), predicate)
    }
    #[inline(always)]
    fn any(&self, predicate: bool) -> bool {
        warp::any_sync(self.mask(), predicate)
    }
    #[inline(always)]
    fn shfl(&self, value: u32, rank: u32) -> u32 {
        warp::shuffle_sync(self.mask(), value, self.base() + rank)
    }
    #[inline(always)]
    fn shfl_xor(&self, value: u32, lanes: u32) -> u32 {
        warp::shuffle_xor_sync(self.mask(), value, lanes)
    }
    #[inline(always)]
    fn shfl_down(&self, value: u32, delta: u32) -> u32 {
        warp::shuffle_down_sync(self.mask(), value, delta)
    }
    #[inline(always)]
    fn shfl_up(&self, value: u32, delta: u32) -> u32 {
        warp::shuffle_up_sync(self.mask(), value, delta)
    }
    #[inline(always)]
    fn shfl_f32(&self, value: f32, rank: u32) -> f32 {
        f32::from_bits(self.shfl(value.to_bits(), rank))
    }
    #[inline(always)]
    fn shfl_xor_f32(&self, value: f32, lanes: u32) -> f32 {
        f32::from_bits(self.shfl_xor(value.to_bits(), lanes))
    }
    #[inline(always)]
    fn shfl_down_f32(&self, value: f32, delta: u32) -> f32 {
        f32::from_bits(self.shfl_down(value.to_bits(), delta))
    }
    #[inline(always)]
    fn shfl_up_f32(&self, value: f32, delta: u32) -> f32 {
        f32::from_bits(self.shfl_up(value.to_bits(), delta))
    }
    #[inline(always)]
    fn match_any(&self, value: u32) -> u32 {
        warp::match_any_sync(self.mask(), value) & self.mask()
    }
    #[inline(always)]
    fn match_all(&self, value: u32) -> u32 {
        warp::match_all_sync(self.mask(), value)
    }
}

#[inline(always)]
fn rank_in_block() -> u32 {
    (thread::threadIdx_z() * thread::blockDim_y() + thread::threadIdx_y()) * thread::blockDim_x()
        + thread::threadIdx_x()
}

#[inline(always)]
fn block_size() -> u32 {
    thread::blockDim_x() * thread::blockDim_y() * thread::blockDim_z()
}

#[inline(always)]
fn blocks() -> u32 {
    thread::gridDim_x() * thread::gridDim_y() * thread::gridDim_z()
}

#[inline(always)]
fn rank_of_block() -> u32 {
    (thread::blockIdx_z() * thread::gridDim_y() + thread::blockIdx_y()) * thread::gridDim_x() + thread::blockIdx_x()
}

#[derive(Clone, Copy)]
pub struct Grid(());

#[inline(always)]
pub fn this_grid() -> Grid {
    Grid(())
}

impl Grid {
    #[inline(always)]
    pub fn num_blocks(&self) -> u32 {
        blocks()
    }
    #[inline(always)]
    pub fn block_rank(&self) -> u32 {
        rank_of_block()
    }
}

impl ThreadGroup for Grid {
    #[inline(always)]
    fn size(&self) -> u32 {
        blocks() * block_size()
    }
    #[inline(always)]
    fn thread_rank(&self) -> u32 {
        rank_of_block() * block_size() + rank_in_block()
    }
    #[inline(always)]
    fn sync(&self) {
        grid::sync()
    }
}

#[derive(Clone, Copy)]
pub struct Cluster(());

#[inline(always)]
pub fn this_cluster() -> Cluster {
    Cluster(())
}

impl Cluster {
    #[inline(always)]
    pub fn num_blocks(&self) -> u32 {
        cluster::cluster_size()
    }
    #[inline(always)]
    pub fn block_rank(&self) -> u32 {
        cluster::block_rank()
    }
}

impl ThreadGroup for Cluster {
    #[inline(always)]
    fn size(&self) -> u32 {
        cluster::cluster_size() * block_size()
    }
    #[inline(always)]
    fn thread_rank(&self) -> u32 {
        cluster::block_rank() * block_size() + rank_in_block()
    }
    #[inline(always)]
    fn sync(&self) {
        cluster::cluster_sync()
    }
}

#[derive(Clone, Copy)]
pub struct ThreadBlock(());

#[inline(always)]
pub fn this_thread_block() -> ThreadBlock {
    ThreadBlock(())
}

impl ThreadBlock {
    #[inline(always)]
    pub fn tiled_partition<const N: u32>(self) -> WarpTile<N> {
        WarpTile(())
    }
}

impl ThreadGroup for ThreadBlock {
    #[inline(always)]
    fn size(&self) -> u32 {
        block_size()
    }
    #[inline(always)]
    fn thread_rank(&self) -> u32 {
        rank_in_block()
    }
    #[inline(always)]
    fn sync(&self) {
        thread::sync_threads()
    }
}

#[derive(Clone, Copy)]
pub struct WarpTile<const N: u32>(());

impl<const N: u32> ThreadGroup for WarpTile<N> {
    #[inline(always)]
    fn size(&self) -> u32 {
        N
    }
    #[inline(always)]
    fn thread_rank(&self) -> u32 {
        warp::lane_id() & (N - 1)
    }
    #[inline(always)]
    fn sync(&self) {
        warp::sync_mask(self.mask())
    }
}

impl<const N: u32> WarpCollective for WarpTile<N> {
    #[inline(always)]
    fn mask(&self) -> u32 {
        if N == 32 { u32::MAX } else { ((1u32 << (N & 31)) - 1) << self.base() }
    }
    #[inline(always)]
    fn base(&self) -> u32 {
        warp::lane_id() & !(N - 1)
    }
}

#[derive(Clone, Copy)]
pub struct CoalescedThreads(u32);

#[inline(always)]
pub fn coalesced_threads() -> CoalescedThreads {
    CoalescedThreads(warp::active_mask())
}

impl CoalescedThreads {
    #[inline(always)]
    pub fn raw_mask(&self) -> u32 {
        self.0
    }
}

impl ThreadGroup for CoalescedThreads {
    #[inline(always)]
    fn size(&self) -> u32 {
        self.0.count_ones()
    }
    #[inline(always)]
    fn thread_rank(&self) -> u32 {
        (self.0 & warp::lanemask_lt()).count_ones()
    }
    #[inline(always)]
    fn sync(&self) {
        warp::sync_mask(self.0)
    }
}

impl WarpCollective for CoalescedThreads {
    #[inline(always)]
    fn mask(&self) -> u32 {
        self.0
    }
    #[inline(always)]
    fn base(&self) -> u32 {
        0
    }
}

pub mod ops {
    //! Operators of reductions.
    pub trait ReduceOp<T> {
        fn identity() -> T;
        fn combine(a: T, b: T) -> T;
    }

    macro_rules! operators {
        ($($op:ident { $($ty:ident $identity:expr, $combine:expr;)* })*) => {$(
            #[derive(Clone, Copy)]
            pub struct $op;
            $(impl ReduceOp<$ty> for $op {
                #[inline(always)]
                fn identity() -> $ty { $identity }
                #[inline(always)]
                fn combine(a: $ty, b: $ty) -> $ty { $combine(a, b) }
            })*
        )*};
    }

    operators! {
        Sum { u32 0, |a: u32, b| a.wrapping_add(b); i32 0, |a: i32, b| a.wrapping_add(b); f32 0.0, |a, b| a + b; }
        Min { u32 u32::MAX, |a, b| if a < b { a } else { b }; i32 i32::MAX, |a, b| if a < b { a } else { b };
              f32 f32::INFINITY, |a, b| if a < b { a } else { b }; }
        Max { u32 0, |a, b| if a > b { a } else { b }; i32 i32::MIN, |a, b| if a > b { a } else { b };
              f32 f32::NEG_INFINITY, |a, b| if a > b { a } else { b }; }
        BitAnd { u32 u32::MAX, |a, b| a & b; }
        BitOr { u32 0, |a, b| a | b; }
        BitXor { u32 0, |a, b| a ^ b; }
    }
}

pub trait WarpShuffle: Copy {
    fn to_word(self) -> u32;
    fn from_word(word: u32) -> Self;
}

macro_rules! words {
    ($($ty:ident $to:expr, $from:expr;)*) => {$(
        impl WarpShuffle for $ty {
            #[inline(always)]
            fn to_word(self) -> u32 { $to(self) }
            #[inline(always)]
            fn from_word(word: u32) -> Self { $from(word) }
        }
    )*};
}

words! { u32 |v| v, |w| w; i32 |v| v as u32, |w| w as i32; f32 f32::to_bits, f32::from_bits; }

#[inline(always)]
pub fn warp_reduce<T: WarpShuffle, Op: ReduceOp<T>, const N: u32>(tile: &WarpTile<N>, value: T) -> T {
    let mut sum = value;
    let mut offset = N / 2;
    while offset > 0 {
        sum = Op::combine(sum, T::from_word(tile.shfl_xor(sum.to_word(), offset)));
        offset /= 2;
    }
    sum
}

#[inline(always)]
pub fn warp_scan<T: WarpShuffle, Op: ReduceOp<T>, const N: u32>(tile: &WarpTile<N>, value: T) -> T {
    let mut sum = value;
    let mut offset = 1;
    while offset < N {
        let lower = T::from_word(tile.shfl_up(sum.to_word(), offset));
        if tile.thread_rank() >= offset {
            sum = Op::combine(lower, sum);
        }
        offset *= 2;
    }
    sum
}

#[inline(always)]
pub fn block_reduce<T: WarpShuffle, Op: ReduceOp<T>, const WARPS: usize>(
    block: &ThreadBlock,
    value: T,
    scratch: *mut SharedArray<T, WARPS>,
) -> T {
    let slots = scratch as *mut T;
    let tile: WarpTile<32> = WarpTile(());
    let (warp_rank, lane) = (block.thread_rank() / 32, tile.thread_rank());
    let own = warp_reduce::<T, Op, 32>(&tile, value);
    if lane == 0 {
        unsafe { *slots.add(warp_rank as usize) = own };
    }
    block.sync();
    if warp_rank == 0 {
        let partial = if (lane as usize) < WARPS { unsafe { *slots.add(lane as usize) } } else { Op::identity() };
        let total = warp_reduce::<T, Op, 32>(&tile, partial);
        if lane == 0 {
            unsafe { *slots = total };
        }
    }
    block.sync();
    unsafe { *slots }
}

#[inline(always)]
pub fn block_scan<T: WarpShuffle, Op: ReduceOp<T>, const WARPS: usize>(
    block: &ThreadBlock,
    value: T,
    scratch: *mut SharedArray<T, WARPS>,
) -> T {
    let slots = scratch as *mut T;
    let tile: WarpTile<32> = WarpTile(());
    let (warp_rank, lane) = (block.thread_rank() / 32, tile.thread_rank());
    let own = warp_scan::<T, Op, 32>(&tile, value);
    if lane == 31 {
        unsafe { *slots.add(warp_rank as usize) = own };
    }
    block.sync();
    if warp_rank == 0 {
        let partial = if (lane as usize) < WARPS { unsafe { *slots.add(lane as usize) } } else { Op::identity() };
        let sum = warp_scan::<T, Op, 32>(&tile, partial);
        if (lane as usize) < WARPS {
            unsafe { *slots.add(lane as usize) = sum };
        }
    }
    block.sync();
    if warp_rank == 0 { own } else { Op::combine(unsafe { *slots.add(warp_rank as usize - 1) }, own) }
}
