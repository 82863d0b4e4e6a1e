//! Warp operations.
use gpusafe_ptx::{convergent, special};

#[inline(always)]
pub unsafe fn sync_warp(mask: u32) {
    convergent::sync_warp(mask)
}

#[inline(always)]
pub fn lane_id() -> u32 {
    special::laneid()
}

#[inline(always)]
pub fn activemask() -> u32 {
    convergent::active_mask()
}

#[inline(always)]
pub unsafe fn warp_vote_all(mask: u32, predicate: bool) -> bool {
    convergent::all_sync(mask, predicate)
}

#[inline(always)]
pub unsafe fn warp_vote_any(mask: u32, predicate: bool) -> bool {
    convergent::any_sync(mask, predicate)
}

#[inline(always)]
pub unsafe fn warp_vote_ballot(mask: u32, predicate: bool) -> u32 {
    convergent::ballot_sync(mask, predicate)
}

/// The operation of a warp reduction.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum WarpReductionOp {
    Add,
    Min,
    Max,
    And,
    Or,
    Xor,
}

pub trait WarpReduceValue: Sized {
    unsafe fn reduce(mask: u32, value: Self, op: WarpReductionOp) -> Self;
}

impl WarpReduceValue for u32 {
    #[inline(always)]
    unsafe fn reduce(mask: u32, value: u32, op: WarpReductionOp) -> u32 {
        match op {
            WarpReductionOp::Add => convergent::redux_sync_add(value, mask),
            WarpReductionOp::Min => convergent::redux_sync_umin(value, mask),
            WarpReductionOp::Max => convergent::redux_sync_umax(value, mask),
            WarpReductionOp::And => convergent::redux_sync_and(value, mask),
            WarpReductionOp::Or => convergent::redux_sync_or(value, mask),
            WarpReductionOp::Xor => convergent::redux_sync_xor(value, mask),
        }
    }
}

impl WarpReduceValue for i32 {
    #[inline(always)]
    unsafe fn reduce(mask: u32, value: i32, op: WarpReductionOp) -> i32 {
        let bits = value as u32;
        (match op {
            WarpReductionOp::Add => convergent::redux_sync_add(bits, mask),
            WarpReductionOp::Min => convergent::redux_sync_min(bits, mask),
            WarpReductionOp::Max => convergent::redux_sync_max(bits, mask),
            WarpReductionOp::And => convergent::redux_sync_and(bits, mask),
            WarpReductionOp::Or => convergent::redux_sync_or(bits, mask),
            WarpReductionOp::Xor => convergent::redux_sync_xor(bits, mask),
        }) as i32
    }
}

#[inline(always)]
pub unsafe fn warp_reduce<T: WarpReduceValue>(mask: u32, value: T, op: WarpReductionOp) -> T {
    T::reduce(mask, value, op)
}

pub trait WarpMatchValue: Sized {
    unsafe fn match_any(mask: u32, value: Self) -> u32;
    unsafe fn match_all(mask: u32, value: Self) -> Option<u32>;
}

macro_rules! matches {
    ($($type:ty, $wide:ty, $any:ident, $all:ident;)*) => {$(
        impl WarpMatchValue for $type {
            #[inline(always)]
            unsafe fn match_any(mask: u32, value: Self) -> u32 {
                convergent::$any(mask, value as $wide)
            }
            #[inline(always)]
            unsafe fn match_all(mask: u32, value: Self) -> Option<u32> {
                let found = convergent::$all(mask, value as $wide);
                if found == 0 { None } else { Some(found) }
            }
        }
    )*};
}

matches! {
    u32, u32, match_any_sync, match_all_sync;
    i32, u32, match_any_sync, match_all_sync;
    u64, u64, match_any_64_sync, match_all_64_sync;
    i64, u64, match_any_64_sync, match_all_64_sync;
}

#[inline(always)]
pub unsafe fn warp_match_any<T: WarpMatchValue>(mask: u32, value: T) -> u32 {
    T::match_any(mask, value)
}

#[inline(always)]
pub unsafe fn warp_match_all<T: WarpMatchValue>(mask: u32, value: T) -> Option<u32> {
    T::match_all(mask, value)
}

/// Which lane a shuffle reads.
#[derive(Clone, Copy)]
pub enum WarpShuffleMode {
    Up,
    Down,
    Idx,
    Xor,
}

pub trait WarpShuffleValue: Sized {
    unsafe fn shuffle(mode: WarpShuffleMode, mask: u32, value: Self, b: u32, width: u32) -> (Self, bool);
}

#[inline(always)]
fn in_segment(mode: WarpShuffleMode, b: u32, width: u32) -> bool {
    let lane = special::laneid() & (width - 1);
    match mode {
        WarpShuffleMode::Up => b <= lane,
        WarpShuffleMode::Down => lane + b < width,
        WarpShuffleMode::Idx => b < width,
        WarpShuffleMode::Xor => (lane ^ b) < width,
    }
}

#[inline(always)]
fn shuffle_word(mode: WarpShuffleMode, mask: u32, value: u32, b: u32, width: u32) -> u32 {
    match mode {
        WarpShuffleMode::Up => convergent::shuffle_up(mask, value, b, convergent::clamp(width, true)),
        WarpShuffleMode::Down => convergent::shuffle_down(mask, value, b, convergent::clamp(width, false)),
        WarpShuffleMode::Idx => convergent::shuffle_idx(mask, value, b, convergent::clamp(width, false)),
        WarpShuffleMode::Xor => convergent::shuffle_xor(mask, value, b, convergent::clamp(width, false)),
    }
}

macro_rules! shuffles {
    ($($type:ty: $to:expr, $from:expr;)*) => {$(
        impl WarpShuffleValue for $type {
            #[inline(always)]
            unsafe fn shuffle(mode: WarpShuffleMode, mask: u32, value: Self, b: u32, width: u32) -> (Self, bool) {
                ($from(shuffle_word(mode, mask, $to(value), b, width)), in_segment(mode, b, width))
            }
        }
    )*};
}

shuffles! {
    u8: |v| v as u32, |w| w as u8;
    i8: |v| v as u32, |w| w as i8;
    u16: |v| v as u32, |w| w as u16;
    i16: |v| v as u32, |w| w as i16;
    u32: |v| v, |w| w;
    i32: |v| v as u32, |w| w as i32;
    f32: f32::to_bits, f32::from_bits;
}

macro_rules! wide_shuffles {
    ($($type:ty: $to:expr, $from:expr;)*) => {$(
        impl WarpShuffleValue for $type {
            #[inline(always)]
            unsafe fn shuffle(mode: WarpShuffleMode, mask: u32, value: Self, b: u32, width: u32) -> (Self, bool) {
                let bits: u64 = $to(value);
                let low = shuffle_word(mode, mask, bits as u32, b, width);
                let high = shuffle_word(mode, mask, (bits >> 32) as u32, b, width);
                ($from((high as u64) << 32 | low as u64), in_segment(mode, b, width))
            }
        }
    )*};
}

wide_shuffles! {
    u64: |v| v, |w| w;
    i64: |v| v as u64, |w| w as i64;
    f64: f64::to_bits, f64::from_bits;
}

macro_rules! shuffle_functions {
    ($($name:ident $mode:ident)*) => {$(
        #[inline(always)]
        pub unsafe fn $name<T: WarpShuffleValue>(mask: u32, value: T, b: u32, width: u32) -> (T, bool) {
            T::shuffle(WarpShuffleMode::$mode, mask, value, b, width)
        }
    )*};
}

shuffle_functions! { warp_shuffle_down Down warp_shuffle_up Up warp_shuffle_idx Idx warp_shuffle_xor Xor }
