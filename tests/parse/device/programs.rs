//! Small programs without threads: what they leave in `out` must be the same when rustc compiles them and when the
//! kernel IR of them is run. Each is a kernel for gpusafe and a function for rustc.

use core::sync::atomic::{AtomicU32, Ordering};

type Out = *mut u64;

const SIZES: [usize; 4] = [3, 1, 4, 1];
const LIMIT: u32 = 1 << 4;
const fn triple(x: u32) -> u32 {
    x * 3
}
const TWELVE: u32 = triple(4);

#[kernel]
pub unsafe fn arithmetic_wraps_at_its_type(out: Out, xs: &[u32], n: u32) {
    let a = n as u8;
    *out.add(0) = (a.wrapping_mul(77) ^ 0x5a) as u64;
    *out.add(1) = (n.wrapping_sub(100)) as u64;
    *out.add(2) = (n as i32 - 50) as i64 as u64;
    *out.add(3) = ((n as i32 - 50) / 7) as i64 as u64;
    *out.add(4) = ((n as i32 - 50) % 7) as i64 as u64;
    *out.add(5) = (-((n as i16) << 9)) as u64;
    *out.add(6) = ((n as i32 - 90) >> 2) as u32 as u64;
    *out.add(7) = (n >> 2) as u64;
    *out.add(8) = (!n) as u64;
    *out.add(9) = (xs[2] as i8) as i64 as u64;
    *out.add(10) = (300u32 + n) as u8 as u64;
    *out.add(11) = ((n as u64) << 40) | 5;
    *out.add(12) = (true as u64) + (n > 3) as u64;
    *out.add(13) = i64::MIN.wrapping_sub(n as i64) as u64;
}

#[kernel]
pub unsafe fn integer_methods(out: Out, xs: &[u32], n: u32) {
    let x = xs[1].wrapping_mul(2654435761);
    *out.add(0) = x.rotate_left(n % 40) as u64;
    *out.add(1) = x.rotate_right(7) as u64;
    *out.add(2) = x.count_ones() as u64;
    *out.add(3) = x.leading_zeros() as u64;
    *out.add(4) = (x << 6).trailing_zeros() as u64;
    *out.add(5) = x.reverse_bits() as u64;
    *out.add(6) = n.abs_diff(100) as u64;
    *out.add(7) = (n as i32 - 80).abs_diff(3) as u64;
    *out.add(8) = n.div_ceil(7) as u64;
    *out.add(9) = n.is_power_of_two() as u64;
    *out.add(10) = n.clamp(3, 9) as u64;
    *out.add(11) = n.min(17).max(2) as u64;
    *out.add(12) = n.pow(3) as u64;
    *out.add(13) = n.saturating_sub(1000) as u64;
    *out.add(14) = (n as u8).saturating_add(250) as u64;
    *out.add(15) = (n as i8).saturating_sub(120) as i64 as u64;
    *out.add(16) = match n.checked_sub(1000) { Some(v) => v as u64, None => 77 };
    *out.add(17) = n.checked_mul(1 << 28).map_or(5, |v| v as u64);
    *out.add(18) = (n as i32).wrapping_neg().abs() as u64;
    *out.add(19) = n.is_multiple_of(4) as u64;
    *out.add(20) = match n.checked_div(n - n) { Some(_) => 1, None => 2 };
    *out.add(21) = (n as i64 - 60).signum() as u64;
    *out.add(22) = u32::from_le_bytes(x.to_le_bytes()) as u64;
    *out.add(23) = u64::from(n) + u64::from(x as u8);
}

#[kernel]
pub unsafe fn options_and_results(out: Out, xs: &[u32], n: u32) {
    fn half(x: u32) -> Option<u32> {
        if x % 2 == 0 { Some(x / 2) } else { None }
    }
    fn quarter(x: u32) -> Option<u32> {
        let h = half(x)?;
        half(h)
    }
    fn checked(x: u32) -> Result<u32, i32> {
        if x > 10 { Ok(x - 10) } else { Err(x as i32 - 20) }
    }
    fn both(x: u32) -> Result<u32, i32> {
        let a = checked(x)?;
        let b = checked(a).unwrap_or(4);
        Ok(a * 100 + b)
    }
    for (i, &x) in xs.iter().enumerate() {
        *out.add(i) = quarter(x).map(|q| q as u64 + 1000).unwrap_or(7);
        *out.add(10 + i) = match both(x) { Ok(v) => v as u64, Err(e) => e as i64 as u64 };
    }
    let mut best: Option<u32> = None;
    for &x in xs {
        best = match best {
            Some(b) if b >= x => Some(b),
            _ => Some(x),
        };
    }
    *out.add(20) = best.unwrap() as u64;
    let mut it = half(n);
    let taken = it.take();
    *out.add(21) = it.is_none() as u64 * 10 + taken.is_some() as u64;
    *out.add(22) = half(n).and_then(half).or(Some(3)).filter(|v| v % 2 == 1).is_some() as u64;
    if let Some(v) = xs.get(n as usize) { *out.add(23) = *v as u64 } else { *out.add(23) = 99 }
    let Some(first) = xs.first() else { return };
    *out.add(24) = *first as u64;
    *out.add(25) = xs.get(1..3).map_or(0, |s| s.len() as u64);
    *out.add(26) = half(n).is_some_and(|v| v > 3) as u64;
    *out.add(27) = half(n).ok_or(5u32).unwrap_or_else(|e| e * 2) as u64;
}

#[kernel]
pub unsafe fn loops_of_all_kinds(out: Out, xs: &[u32], n: u32) {
    let mut sum = 0;
    for i in 0..n {
        if i % 3 == 0 { continue; }
        if i > 20 { break; }
        sum += i;
    }
    *out.add(0) = sum as u64;
    let mut k = 0u64;
    for i in (0..n).rev() { k = k * 3 + i as u64; if i < 2 { break } }
    *out.add(1) = k;
    let mut s = 0usize;
    for i in (2..40).step_by(7) { s = s * 5 + i; }
    *out.add(2) = s as u64;
    let mut t = 0usize;
    for i in (2..40usize).step_by(7).rev() { t = t.wrapping_mul(41) + i; }
    *out.add(3) = t as u64;
    let mut u = 0u32;
    for i in 250..=255u8 { u = u * 7 + i as u32; }
    *out.add(4) = u as u64;
    let mut w = n;
    let mut steps = 0u64;
    while w != 1 && steps < 200 {
        w = if w % 2 == 0 { w / 2 } else { 3 * w + 1 };
        steps += 1;
    }
    *out.add(5) = steps;
    let found = loop {
        w += 1;
        if w % 13 == 5 { break w * 2; }
    };
    *out.add(6) = found as u64;
    let mut hits = 0u64;
    'outer: for a in 0..10u32 {
        for b in 0..10u32 {
            if a * b > n { continue 'outer; }
            if a + b > 15 { break 'outer; }
            hits += 1;
        }
    }
    *out.add(7) = hits;
    let value = 'found: {
        for &x in xs { if x > 20 { break 'found x; } }
        0
    };
    *out.add(8) = value as u64;
    let mut stack = [0u32; 8];
    let mut top = 0usize;
    for &x in xs { if top < 8 { stack[top] = x; top += 1; } }
    let mut v = 0u64;
    while top > 0 { top -= 1; v = v * 31 + stack[top] as u64; }
    *out.add(9) = v;
    let mut r = 3..9u32;
    let mut q = 0u64;
    while let Some(x) = r.next() { q = q * 10 + x as u64; }
    *out.add(10) = q;
}

#[kernel]
pub unsafe fn iterators(out: Out, xs: &[u32], n: u32) {
    *out.add(0) = xs.iter().map(|x| x * 2).sum::<u32>() as u64;
    *out.add(1) = xs.iter().copied().filter(|x| x % 2 == 1).max().unwrap_or(0) as u64;
    *out.add(2) = xs.iter().zip(xs.iter().skip(1)).map(|(a, b)| a * b).sum::<u32>() as u64;
    *out.add(3) = xs.iter().enumerate().fold(0u32, |acc, (i, x)| acc * 3 + i as u32 * x) as u64;
    *out.add(4) = xs.iter().any(|&x| x == 21) as u64 + 2 * xs.iter().all(|&x| x < 50) as u64;
    *out.add(5) = xs.iter().position(|&x| x == 8).unwrap_or(40) as u64;
    *out.add(6) = (0..n).take_while(|x| x * x < 50).count() as u64;
    *out.add(7) = xs.chunks(3).map(|c| c.iter().sum::<u32>() * c.len() as u32).sum::<u32>() as u64;
    *out.add(8) = xs.windows(2).filter(|w| w[0] < w[1]).count() as u64;
    *out.add(9) = (1..=5u64).product::<u64>();
    *out.add(10) = xs.iter().rev().take(2).fold(0, |a, &x| a * 100 + x as u64);
    *out.add(11) = xs.iter().min().copied().unwrap() as u64;
    *out.add(12) = xs.iter().find(|x| **x > 10).map_or(0, |x| *x as u64);
    let mut total = 0u64;
    xs.iter().for_each(|x| total += *x as u64);
    *out.add(13) = total;
    *out.add(14) = xs[1..4].iter().step_by(2).map(|x| *x as u64).sum();
    *out.add(15) = (0..3).chain(7..9).map(|x: u64| x + 1).product();
    *out.add(16) = SIZES.iter().map(|s| *s as u64).sum();
    let mut ys = [1u32, 2, 3, 4];
    for y in ys.iter_mut() { *y *= n; }
    for (y, x) in ys.iter_mut().zip(xs) { *y += x; }
    *out.add(17) = ys[0] as u64 * 1000 + ys[3] as u64;
    *out.add(18) = xs.iter().filter_map(|&x| x.checked_sub(9)).sum::<u32>() as u64;
    *out.add(19) = xs.split_at(2).1[0] as u64;
}

#[derive(Clone, Copy, PartialEq)]
enum Shape {
    Dot,
    Line(u32),
    Box { w: u32, h: u32 },
}
impl Shape {
    fn area(&self) -> u32 {
        match self {
            Shape::Dot => 1,
            Shape::Line(len) => *len,
            Shape::Box { w, h } => w * h,
        }
    }
    fn grow(&mut self, by: u32) {
        *self = match *self {
            Shape::Dot => Shape::Line(by),
            Shape::Line(len) => Shape::Box { w: len, h: by },
            Shape::Box { w, h } => Shape::Box { w: w + by, h: h + by },
        };
    }
}
#[derive(Clone, Copy)]
#[repr(u32)]
enum Level {
    Low = 2,
    Mid = 5,
    High,
}

#[kernel]
pub unsafe fn enums_and_matches(out: Out, xs: &[u32], n: u32) {
    let mut s = Shape::Dot;
    for i in 0..4u32 {
        *out.add(i as usize) = s.area() as u64;
        s.grow(n + i);
    }
    *out.add(4) = (s == Shape::Box { w: n + 3, h: 4 }) as u64;
    let level = if n > 20 { Level::High } else if n > 5 { Level::Mid } else { Level::Low };
    *out.add(5) = level as u32 as u64;
    for (i, &x) in xs.iter().enumerate() {
        *out.add(10 + i) = match x {
            0 => 1,
            1 | 2 | 3 => 20,
            4..=9 => 300,
            10.. if x % 2 == 0 => 4000,
            y => y as u64,
        };
        *out.add(20 + i) = match (x % 2, x > 9) {
            (0, true) => 1,
            (0, false) => 2,
            (_, big) => 3 + big as u64,
        };
    }
    let pair = (n, [xs[0], xs[1], xs[2]]);
    let (a, [b, .., c]) = pair;
    *out.add(30) = (a + b * 10 + c * 100) as u64;
    *out.add(31) = match xs { [] => 0, [x] => *x as u64, [x, .., y] => (x * 50 + y) as u64 };
    *out.add(32) = matches!(s, Shape::Box { w, .. } if w > 3) as u64;
}

#[derive(Clone, Copy)]
struct Vec2 {
    x: i32,
    y: i32,
}
impl core::ops::Add for Vec2 {
    type Output = Vec2;
    fn add(self, o: Vec2) -> Vec2 {
        Vec2 { x: self.x + o.x, y: self.y + o.y }
    }
}
impl core::ops::AddAssign for Vec2 {
    fn add_assign(&mut self, o: Vec2) {
        self.x += o.x;
        self.y += o.y;
    }
}
impl core::ops::Index<usize> for Vec2 {
    type Output = i32;
    fn index(&self, i: usize) -> &i32 {
        if i == 0 { &self.x } else { &self.y }
    }
}
trait Measure {
    const SCALE: i32 = 2;
    fn size(&self) -> i32;
    fn twice(&self) -> i32 {
        self.size() * Self::SCALE
    }
}
impl Measure for Vec2 {
    fn size(&self) -> i32 {
        self.x.abs() + self.y.abs()
    }
}
impl Measure for i32 {
    const SCALE: i32 = 10;
    fn size(&self) -> i32 {
        *self + 1
    }
}
fn measure<M: Measure>(m: &M) -> i32 {
    m.twice() + M::SCALE
}
fn largest<T: PartialOrd + Copy, const N: usize>(items: [T; N]) -> T {
    let mut best = items[0];
    let mut i = 1;
    while i < N {
        if items[i] > best { best = items[i]; }
        i += 1;
    }
    best
}
struct Counter {
    at: u32,
    step: u32,
}
impl Iterator for Counter {
    type Item = u32;
    fn next(&mut self) -> Option<u32> {
        if self.at > 30 { return None; }
        self.at += self.step;
        Some(self.at)
    }
}
fn apply<F: Fn(u32) -> u32>(f: F, x: u32) -> u32 {
    f(f(x))
}

#[kernel]
pub unsafe fn structs_traits_and_generics(out: Out, xs: &[u32], n: u32) {
    let mut v = Vec2 { x: n as i32, y: -3 } + Vec2 { x: 1, y: 1 };
    v += Vec2 { x: 100, ..v };
    *out.add(0) = v.x as u64;
    *out.add(1) = v.y as i64 as u64;
    *out.add(2) = measure(&v) as u64;
    *out.add(3) = measure(&(n as i32)) as u64;
    *out.add(4) = largest([3u32, n, 7]) as u64;
    *out.add(5) = largest([xs[0] as i64, -4]) as u64;
    let mut total = 0u64;
    for c in (Counter { at: 0, step: n + 1 }) { total = total * 3 + c as u64; }
    *out.add(6) = total;
    let k = n + 2;
    *out.add(7) = apply(|x| x * 2 + k, 5) as u64;
    *out.add(8) = apply(triple, n) as u64;
    *out.add(9) = v[0] as u64 + v[1] as i64 as u64;
    let mut parts = (1u32, (2u32, [3u32; 3]));
    parts.1.0 += n;
    parts.1.1[2] = 9;
    *out.add(10) = (parts.0 + parts.1.0 + parts.1.1[2] + parts.1.1[0]) as u64;
    let mut a = 1u32;
    let mut b = n;
    core::mem::swap(&mut a, &mut b);
    (a, b) = (b + 1, a + 2);
    *out.add(11) = (a * 1000 + b) as u64;
    let old = core::mem::replace(&mut a, 6);
    *out.add(12) = (old * 10 + a) as u64;
    *out.add(13) = (TWELVE + LIMIT) as u64;
    let mut add = |d: u32| { b += d; b };
    add(3);
    let last = add(4);
    *out.add(14) = last as u64;
    let later;
    if n > 4 { later = 8u64 } else { later = n as u64 }
    *out.add(15) = later;
    *out.add(16) = size_of::<Vec2>() as u64 + core::mem::size_of::<[u16; 5]>() as u64;
}

#[kernel]
pub unsafe fn memory_and_pointers(out: Out, xs: &[u32], n: u32) {
    let p = xs.as_ptr();
    *out.add(0) = *p.add(2) as u64 + p.offset(1).read() as u64 * 100;
    let q = p.add(4).sub(3);
    *out.add(1) = p.add(4).sub(3).offset_from(p) as u64 * 10 + *q as u64;
    let tail = &xs[2..];
    *out.add(2) = tail[0] as u64 + tail.len() as u64 * 1000 + xs[..2].len() as u64 * 100_000;
    let mut buf = [0u32; 20];
    let base = buf.as_mut_ptr();
    for i in 0..20usize { *base.add(i) = (i * i) as u32; }
    buf[3] += n;
    buf.swap(3, 4);
    core::ptr::copy_nonoverlapping(base.add(10), base, 3);
    *out.add(3) = (buf[0] + buf[3] * 1000) as u64;
    *out.add(4) = buf[4] as u64;
    let (l, r) = buf.split_at_mut(10);
    l[9] = r[0] + 1;
    core::mem::swap(&mut l[0], &mut r[9]);
    *out.add(5) = (buf[9] as u64) * 1000 + buf[0] as u64;
    let slice = core::slice::from_raw_parts(base.add(5), 4);
    *out.add(6) = slice.iter().map(|x| *x as u64).sum();
    let words = [0x0403_0201u32, n];
    *out.add(7) = 0;
    for w in words { *out.add(7) = *out.add(7) * 7 + w as u64; }
    buf[5..9].fill(2);
    buf[..2].copy_from_slice(&[41, 42]);
    *out.add(8) = (buf[8] + buf[1]) as u64;
    let r = &mut buf[7];
    *r += 5;
    let r2 = r as *mut u32;
    *r2.sub(1) = 77;
    *out.add(9) = (buf[7] * 100 + buf[6]) as u64;
    let cell = AtomicU32::new(n);
    cell.fetch_add(4, Ordering::Relaxed);
    *out.add(10) = cell.load(Ordering::Relaxed) as u64;
    let shared = &*(out.add(20) as *const AtomicU32);
    *out.add(20) = 5;
    let _ = p;
    *out.add(11) = core::hint::black_box(n) as u64;
    *out.add(12) = (xs.as_ptr() as usize + 8 - p as usize) as u64;
    let _ = shared;
    let matrix = [[1u32, 2, 3], [4, 5, 6]];
    *out.add(13) = matrix[(n % 2) as usize][2] as u64;
    let mut grid = [[0u32; 4]; 3];
    for (y, row) in grid.iter_mut().enumerate() {
        for (x, c) in row.iter_mut().enumerate() { *c = (y * 10 + x) as u32; }
    }
    *out.add(14) = (grid[2][3] * 100 + grid[1][0]) as u64;
    *out.add(15) = *xs.get_unchecked(1) as u64;
}

struct Tally<'a> {
    cell: &'a mut u64,
    by: u64,
}
impl Drop for Tally<'_> {
    fn drop(&mut self) {
        *self.cell = *self.cell * 3 + self.by;
    }
}
fn tallied(cell: &mut u64, stop: bool) -> u64 {
    let t = Tally { cell, by: 7 };
    if stop {
        return 5;
    }
    t.by + 1
}
fn consume(t: Tally) -> u64 {
    t.by * 2
}

#[kernel]
pub unsafe fn drops_run_where_rust_puts_them(out: Out, xs: &[u32], n: u32) {
    *out.add(0) = tallied(&mut *out.add(1), n > 10);
    {
        let _a = Tally { cell: &mut *out.add(2), by: 1 };
        let _b = Tally { cell: &mut *out.add(2), by: 2 };
        *out.add(2) += 100;
    }
    let c = Tally { cell: &mut *out.add(3), by: 4 };
    *out.add(4) = consume(c);
    *out.add(5) = *out.add(3);
    for i in 0..4u64 {
        let t = Tally { cell: &mut *out.add(6), by: i };
        if i == 2 { break; }
        if i == 0 { continue; }
        *t.cell += 50;
    }
    let _ = Tally { cell: &mut *out.add(7), by: 9 };
    *out.add(8) = *out.add(7);
    let d = Tally { cell: &mut *out.add(9), by: 3 };
    drop(d);
    *out.add(10) = *out.add(9);
}

macro_rules! bigger {
    ($a:expr) => { $a };
    ($a:expr, $($rest:expr),+) => {{ let a = $a; let b = bigger!($($rest),+); if a > b { a } else { b } }};
}
macro_rules! table {
    ($($name:ident = $value:expr;)*) => { $( const $name: u32 = $value; )* };
}
table! {
    RED = 3;
    BLUE = RED * 2 + 1;
}
struct Meters(u32);
#[derive(Clone, Copy)]
struct Wave {
    cells: [u32; 4],
    at: usize,
}
impl Wave {
    fn new(seed: u32) -> Self {
        let mut cells = [0; 4];
        for (i, c) in cells.iter_mut().enumerate() { *c = seed + i as u32; }
        Self { cells, at: 0 }
    }
    fn next(&mut self) -> u32 {
        let v = self.cells[self.at];
        self.cells[self.at] = v * 2 + 1;
        self.at = (self.at + 1) % self.cells.len();
        v
    }
}
fn visit(xs: &[u32], mut f: impl FnMut(usize, u32)) {
    let mut i = 0;
    while i < xs.len() { f(i, xs[i]); i += 1; }
}
fn search(xs: &[u32], wanted: u32) -> Result<usize, usize> {
    let (mut lo, mut hi) = (0, xs.len());
    while lo < hi {
        let mid = lo + (hi - lo) / 2;
        if xs[mid] == wanted { return Ok(mid); }
        if xs[mid] < wanted { lo = mid + 1 } else { hi = mid }
    }
    Err(lo)
}
fn nested(x: u32) -> Option<Option<u32>> {
    match x % 3 { 0 => None, 1 => Some(None), _ => Some(Some(x)) }
}
fn gcd(mut a: u32, mut b: u32) -> u32 {
    while b != 0 { (a, b) = (b, a % b); }
    a
}
fn sort3(v: &mut [u32; 3]) {
    if v[0] > v[1] { v.swap(0, 1) }
    if v[1] > v[2] { v.swap(1, 2) }
    if v[0] > v[1] { v.swap(0, 1) }
}
struct Matrix<const R: usize, const C: usize>([[u32; C]; R]);
impl<const R: usize, const C: usize> Matrix<R, C> {
    fn mul<const D: usize>(&self, o: &Matrix<C, D>) -> Matrix<R, D> {
        let mut out = [[0u32; D]; R];
        for r in 0..R { for d in 0..D { for c in 0..C { out[r][d] += self.0[r][c] * o.0[c][d]; } } }
        Matrix(out)
    }
}

#[kernel]
pub unsafe fn programs_of_many_parts(out: Out, xs: &[u32], n: u32) {
    *out.add(0) = bigger!(n, 9, xs[2] - 30) as u64;
    *out.add(1) = (BLUE * 10 + RED) as u64;
    *out.add(2) = 0;
    let m = Meters(n + 3);
    let Meters(inner) = m;
    *out.add(3) = inner as u64;
    let mut w = Wave::new(n);
    let mut total = 0u64;
    for _ in 0..7 { total = total * 5 + w.next() as u64; }
    *out.add(4) = total;
    let copy = w;
    w.next();
    *out.add(5) = (w.at * 10 + copy.at) as u64;
    let mut seen = 0u64;
    visit(xs, |i, x| if x > 8 { seen = seen * 100 + i as u64 });
    *out.add(6) = seen;
    let sorted = [2u32, 5, 9, 14, 30];
    *out.add(7) = match search(&sorted, n) { Ok(i) => i as u64, Err(i) => 100 + i as u64 };
    for i in 0..3u32 {
        *out.add(8 + i as usize) = match nested(n + i) { None => 1, Some(None) => 2, Some(Some(v)) => v as u64 * 10 };
    }
    *out.add(11) = gcd(n * 6, 84) as u64;
    let mut three = [xs[2], xs[0], n];
    sort3(&mut three);
    *out.add(12) = (three[0] + three[1] * 100 + three[2] * 10_000) as u64;
    let p = Matrix([[1, 2, n], [3, 4, 5]]).mul(&Matrix([[1, 0], [2, 1], [0, 3]]));
    *out.add(13) = (p.0[0][0] + p.0[0][1] * 100 + p.0[1][1] * 10_000) as u64;
    let mut calls = 0u32;
    let mut probe = |v: bool| { calls += 1; v };
    let both = probe(n > 3) && probe(n > 8) || probe(n == 0);
    *out.add(14) = (calls * 10 + both as u32) as u64;
    let shadow = n;
    let shadow = shadow * 2;
    { let shadow = 1u64; *out.add(15) = shadow; }
    *out.add(16) = shadow as u64;
    let c = if n > 9 { 'x' } else { 'A' };
    *out.add(17) = c as u64;
    let range = 2..5usize;
    *out.add(18) = xs[range.clone()].iter().map(|x| *x as u64).sum::<u64>() + range.contains(&3) as u64;
    let mut bits = 0u32;
    let mut v = n | 0x40;
    while v != 0 { let low = v & v.wrapping_neg(); bits = bits * 8 + low.trailing_zeros(); v ^= low; }
    *out.add(19) = bits as u64;
    let t = (1u8, -2i16, n as u64);
    let (a, b, c2) = t;
    *out.add(20) = a as u64 + (b as i64 * -3) as u64 + c2;
    let mut state = Some(n);
    let mut count = 0u64;
    while let Some(x) = state {
        count += 1;
        state = if x > 2 { Some(x / 2) } else { None };
    }
    *out.add(21) = count;
    let f: fn(u32, u32) -> u32 = gcd;
    *out.add(22) = f(12, 18) as u64;
    let arr: [u32; 5] = core::array::from_fn(|i| (i as u32 + 1) * n);
    *out.add(23) = arr.iter().sum::<u32>() as u64;
    let doubled = [1u32, 2, 3].map(|x| x * 2 + n);
    *out.add(24) = doubled[2] as u64;
    let mut acc = (0u32, 0u32);
    for (i, x) in xs.iter().enumerate() {
        let side = if i % 2 == 0 { &mut acc.0 } else { &mut acc.1 };
        *side += x;
    }
    *out.add(25) = (acc.0 * 1000 + acc.1) as u64;
    let z = u128::from(n) << 70 >> 68;
    *out.add(26) = z as u64;
    *out.add(27) = (n as f32 * 1.5) as u64;
    *out.add(28) = if (n as f64) > 9.5 { 1 } else { 0 };
}
