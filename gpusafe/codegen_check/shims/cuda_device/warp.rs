//! Warp operations.
use gpusafe_ptx::{convergent, special};

#[inline(always)]
pub fn lane_id() -> u32 {
    special::laneid()
}

#[inline(always)]
pub fn warp_id() -> u32 {
    crate::thread::threadIdx_x() / 32
}

macro_rules! masks {
    ($($name:ident)*) => {$(
        #[inline(always)]
        pub fn $name() -> u32 { special::$name() }
    )*};
}

masks! { lanemask_lt lanemask_le lanemask_eq lanemask_ge lanemask_gt }

#[inline(always)]
pub fn sync_mask(mask: u32) {
    convergent::sync_warp(mask)
}

#[inline(always)]
pub fn active_mask() -> u32 {
    convergent::active_mask()
}

macro_rules! shuffles {
    ($($plain:ident $sync:ident $word:ident $up:literal $ty:ident $to:expr, $from:expr;)*) => {$(
        #[inline(always)]
        pub fn $sync(mask: u32, value: $ty, lane: u32) -> $ty {
            $from(convergent::$word(mask, $to(value), lane, convergent::clamp(32, $up)))
        }
        #[inline(always)]
        pub fn $plain(value: $ty, lane: u32) -> $ty { $sync(u32::MAX, value, lane) }
    )*};
}

shuffles! {
    shuffle shuffle_sync shuffle_idx false u32 |v| v, |w| w;
    shuffle_xor shuffle_xor_sync shuffle_xor false u32 |v| v, |w| w;
    shuffle_down shuffle_down_sync shuffle_down false u32 |v| v, |w| w;
    shuffle_up shuffle_up_sync shuffle_up true u32 |v| v, |w| w;
    shuffle_f32 shuffle_f32_sync shuffle_idx false f32 f32::to_bits, f32::from_bits;
    shuffle_xor_f32 shuffle_xor_f32_sync shuffle_xor false f32 f32::to_bits, f32::from_bits;
    shuffle_down_f32 shuffle_down_f32_sync shuffle_down false f32 f32::to_bits, f32::from_bits;
    shuffle_up_f32 shuffle_up_f32_sync shuffle_up true f32 f32::to_bits, f32::from_bits;
}

macro_rules! wide_shuffles {
    ($($plain:ident $sync:ident $half:ident $ty:ident $to:expr, $from:expr;)*) => {$(
        #[inline(always)]
        pub fn $sync(mask: u32, value: $ty, lane: u32) -> $ty {
            let bits: u64 = $to(value);
            let low = $half(mask, bits as u32, lane);
            let high = $half(mask, (bits >> 32) as u32, lane);
            $from((high as u64) << 32 | low as u64)
        }
        #[inline(always)]
        pub fn $plain(value: $ty, lane: u32) -> $ty { $sync(u32::MAX, value, lane) }
    )*};
}

wide_shuffles! {
    shuffle_u64 shuffle_u64_sync shuffle_sync u64 |v| v, |w| w;
    shuffle_xor_u64 shuffle_xor_u64_sync shuffle_xor_sync u64 |v| v, |w| w;
    shuffle_down_u64 shuffle_down_u64_sync shuffle_down_sync u64 |v| v, |w| w;
    shuffle_up_u64 shuffle_up_u64_sync shuffle_up_sync u64 |v| v, |w| w;
    shuffle_f64 shuffle_f64_sync shuffle_sync f64 f64::to_bits, f64::from_bits;
    shuffle_xor_f64 shuffle_xor_f64_sync shuffle_xor_sync f64 f64::to_bits, f64::from_bits;
    shuffle_down_f64 shuffle_down_f64_sync shuffle_down_sync f64 f64::to_bits, f64::from_bits;
    shuffle_up_f64 shuffle_up_f64_sync shuffle_up_sync f64 f64::to_bits, f64::from_bits;
}

#[inline(always)]
pub fn all_sync(mask: u32, predicate: bool) -> bool {
    convergent::all_sync(mask, predicate)
}

#[inline(always)]
pub fn any_sync(mask: u32, predicate: bool) -> bool {
    convergent::any_sync(mask, predicate)
}

#[inline(always)]
pub fn ballot_sync(mask: u32, predicate: bool) -> u32 {
    convergent::ballot_sync(mask, predicate)
}

#[inline(always)]
pub fn all(predicate: bool) -> bool {
    all_sync(u32::MAX, predicate)
}

#[inline(always)]
pub fn any(predicate: bool) -> bool {
    any_sync(u32::MAX, predicate)
}

#[inline(always)]
pub fn ballot(predicate: bool) -> u32 {
    ballot_sync(u32::MAX, predicate)
}

#[inline(always)]
pub fn popc(predicate: bool) -> u32 {
    ballot(predicate).count_ones()
}

#[inline(always)]
pub fn match_any_sync(mask: u32, value: u32) -> u32 {
    convergent::match_any_sync(mask, value)
}

#[inline(always)]
pub fn match_any_i64_sync(mask: u32, value: u64) -> u32 {
    convergent::match_any_64_sync(mask, value)
}

#[inline(always)]
pub fn match_all_sync(mask: u32, value: u32) -> u32 {
    convergent::match_all_sync(mask, value)
}

#[inline(always)]
pub fn match_all_i64_sync(mask: u32, value: u64) -> u32 {
    convergent::match_all_64_sync(mask, value)
}

macro_rules! reductions {
    ($($name:ident $inner:ident $ty:ident)*) => {$(
        #[inline(always)]
        pub fn $name(mask: u32, value: $ty) -> $ty { convergent::$inner(value as u32, mask) as $ty }
    )*};
}

reductions! {
    redux_sync_add redux_sync_add u32 redux_sync_and redux_sync_and u32 redux_sync_or redux_sync_or u32
    redux_sync_xor redux_sync_xor u32 redux_sync_min_u32 redux_sync_umin u32 redux_sync_max_u32 redux_sync_umax u32
    redux_sync_min_i32 redux_sync_min i32 redux_sync_max_i32 redux_sync_max i32
}

#[inline(always)]
pub fn elect_sync(mask: u32) -> (u32, bool) {
    convergent::elect_sync(mask)
}

#[inline(always)]
pub fn is_elected_sync(mask: u32) -> bool {
    convergent::elect_sync(mask).1
}

macro_rules! folds {
    ($($name:ident $ty:ident $shuffle:ident $op:expr;)*) => {$(
        #[inline(always)]
        pub fn $name(mut value: $ty) -> $ty {
            let mut offset = 16;
            while offset > 0 {
                let other = $shuffle(value, offset);
                value = $op(value, other);
                offset /= 2;
            }
            value
        }
    )*};
}

folds! {
    reduce_sum_f32 f32 shuffle_xor_f32 |a, b| a + b;
    reduce_max_f32 f32 shuffle_xor_f32 |a: f32, b: f32| if a > b { a } else { b };
    reduce_min_f32 f32 shuffle_xor_f32 |a: f32, b: f32| if a < b { a } else { b };
    reduce_sum_f64 f64 shuffle_xor_f64 |a, b| a + b;
    reduce_max_f64 f64 shuffle_xor_f64 |a: f64, b: f64| if a > b { a } else { b };
    reduce_min_f64 f64 shuffle_xor_f64 |a: f64, b: f64| if a < b { a } else { b };
}
