//! What device code uses of `core`, as far as gpusafe follows it. Never compiled: only the lowering reads it.

pub enum Option<T> {
    None,
    Some(T),
}
pub use Option::{None, Some};

impl<T> Option<T> {
    fn is_some(&self) -> bool {
        match self {
            Some(_) => true,
            None => false,
        }
    }
    fn is_none(&self) -> bool {
        match self {
            Some(_) => false,
            None => true,
        }
    }
    fn is_some_and<F>(self, test: F) -> bool {
        match self {
            Some(x) => test(x),
            None => false,
        }
    }
    fn is_none_or<F>(self, test: F) -> bool {
        match self {
            Some(x) => test(x),
            None => true,
        }
    }
    fn as_ref(&self) -> Option<&T> {
        match self {
            Some(x) => Some(x),
            None => None,
        }
    }
    fn as_mut(&mut self) -> Option<&mut T> {
        match self {
            Some(x) => Some(x),
            None => None,
        }
    }
    fn unwrap(self) -> T {
        match self {
            Some(x) => x,
            None => __trap(),
        }
    }
    fn expect<M>(self, message: M) -> T {
        match self {
            Some(x) => x,
            None => __trap(),
        }
    }
    fn unwrap_unchecked(self) -> T {
        match self {
            Some(x) => x,
            None => __trap(),
        }
    }
    fn unwrap_or(self, other: T) -> T {
        match self {
            Some(x) => x,
            None => other,
        }
    }
    fn unwrap_or_else<F>(self, other: F) -> T {
        match self {
            Some(x) => x,
            None => other(),
        }
    }
    fn unwrap_or_default(self) -> T {
        match self {
            Some(x) => x,
            None => T::default(),
        }
    }
    fn map<U, F>(self, change: F) -> Option<U> {
        match self {
            Some(x) => Some(change(x)),
            None => None,
        }
    }
    fn map_or<U, F>(self, other: U, change: F) -> U {
        match self {
            Some(x) => change(x),
            None => other,
        }
    }
    fn map_or_else<U, D, F>(self, other: D, change: F) -> U {
        match self {
            Some(x) => change(x),
            None => other(),
        }
    }
    fn and_then<U, F>(self, next: F) -> Option<U> {
        match self {
            Some(x) => next(x),
            None => None,
        }
    }
    fn filter<F>(self, test: F) -> Option<T> {
        match self {
            Some(x) => {
                if test(&x) {
                    Some(x)
                } else {
                    None
                }
            }
            None => None,
        }
    }
    fn or(self, other: Option<T>) -> Option<T> {
        match self {
            Some(x) => Some(x),
            None => other,
        }
    }
    fn or_else<F>(self, other: F) -> Option<T> {
        match self {
            Some(x) => Some(x),
            None => other(),
        }
    }
    fn and<U>(self, other: Option<U>) -> Option<U> {
        match self {
            Some(_) => other,
            None => None,
        }
    }
    fn ok_or<E>(self, error: E) -> Result<T, E> {
        match self {
            Some(x) => Ok(x),
            None => Err(error),
        }
    }
    fn ok_or_else<E, F>(self, error: F) -> Result<T, E> {
        match self {
            Some(x) => Ok(x),
            None => Err(error()),
        }
    }
    fn copied(self) -> Option<T> {
        match self {
            Some(x) => Some(*x),
            None => None,
        }
    }
    fn cloned(self) -> Option<T> {
        match self {
            Some(x) => Some(*x),
            None => None,
        }
    }
    fn take(&mut self) -> Option<T> {
        let old = *self;
        *self = None;
        old
    }
    fn replace(&mut self, value: T) -> Option<T> {
        let old = *self;
        *self = Some(value);
        old
    }
    fn insert(&mut self, value: T) -> &mut T {
        *self = Some(value);
        match self {
            Some(x) => x,
            None => __trap(),
        }
    }
}

pub enum Result<T, E> {
    Ok(T),
    Err(E),
}
pub use Result::{Err, Ok};

impl<T, E> Result<T, E> {
    fn is_ok(&self) -> bool {
        match self {
            Ok(_) => true,
            Err(_) => false,
        }
    }
    fn is_err(&self) -> bool {
        match self {
            Ok(_) => false,
            Err(_) => true,
        }
    }
    fn is_ok_and<F>(self, test: F) -> bool {
        match self {
            Ok(x) => test(x),
            Err(_) => false,
        }
    }
    fn ok(self) -> Option<T> {
        match self {
            Ok(x) => Some(x),
            Err(_) => None,
        }
    }
    fn err(self) -> Option<E> {
        match self {
            Ok(_) => None,
            Err(e) => Some(e),
        }
    }
    fn as_ref(&self) -> Result<&T, &E> {
        match self {
            Ok(x) => Ok(x),
            Err(e) => Err(e),
        }
    }
    fn unwrap(self) -> T {
        match self {
            Ok(x) => x,
            Err(_) => __trap(),
        }
    }
    fn expect<M>(self, message: M) -> T {
        match self {
            Ok(x) => x,
            Err(_) => __trap(),
        }
    }
    fn unwrap_unchecked(self) -> T {
        match self {
            Ok(x) => x,
            Err(_) => __trap(),
        }
    }
    fn unwrap_err(self) -> E {
        match self {
            Ok(_) => __trap(),
            Err(e) => e,
        }
    }
    fn unwrap_or(self, other: T) -> T {
        match self {
            Ok(x) => x,
            Err(_) => other,
        }
    }
    fn unwrap_or_else<F>(self, other: F) -> T {
        match self {
            Ok(x) => x,
            Err(e) => other(e),
        }
    }
    fn map<U, F>(self, change: F) -> Result<U, E> {
        match self {
            Ok(x) => Ok(change(x)),
            Err(e) => Err(e),
        }
    }
    fn map_err<U, F>(self, change: F) -> Result<T, U> {
        match self {
            Ok(x) => Ok(x),
            Err(e) => Err(change(e)),
        }
    }
    fn and_then<U, F>(self, next: F) -> Result<U, E> {
        match self {
            Ok(x) => next(x),
            Err(e) => Err(e),
        }
    }
}

pub struct Range<T> {
    start: T,
    end: T,
}
pub struct RangeInclusive<T> {
    start: T,
    end: T,
}
pub struct RangeFrom<T> {
    start: T,
}
pub struct RangeTo<T> {
    end: T,
}
pub struct RangeToInclusive<T> {
    end: T,
}
pub struct RangeFull;

impl<T> Range<T> {
    fn next(&mut self) -> Option<T> {
        if self.start < self.end {
            let item = self.start;
            self.start = self.start + 1;
            Some(item)
        } else {
            None
        }
    }
}

pub enum Ordering {
    Relaxed,
    Release,
    Acquire,
    AcqRel,
    SeqCst,
}

pub mod cmp {
    pub enum Ordering {
        Less = -1,
        Equal = 0,
        Greater = 1,
    }
    impl Ordering {
        fn is_lt(self) -> bool {
            match self {
                Ordering::Less => true,
                _ => false,
            }
        }
        fn is_gt(self) -> bool {
            match self {
                Ordering::Greater => true,
                _ => false,
            }
        }
        fn is_eq(self) -> bool {
            match self {
                Ordering::Equal => true,
                _ => false,
            }
        }
    }
}

pub struct PhantomData;
pub struct PhantomPinned;

pub struct MaybeUninit<T> {
    value: T,
}
impl<T> MaybeUninit<T> {
    fn new(value: T) -> MaybeUninit<T> {
        MaybeUninit { value }
    }
    fn uninit() -> MaybeUninit<T> {
        MaybeUninit { value: __havoc::<T>("memory that is not initialised") }
    }
    fn zeroed() -> MaybeUninit<T> {
        MaybeUninit { value: T::default() }
    }
    fn assume_init(self) -> T {
        self.value
    }
    fn assume_init_ref(&self) -> &T {
        &self.value
    }
    fn assume_init_mut(&mut self) -> &mut T {
        &mut self.value
    }
    fn assume_init_read(&self) -> T {
        self.value
    }
    fn as_ptr(&self) -> *const T {
        &raw const self.value
    }
    fn as_mut_ptr(&mut self) -> *mut T {
        &raw mut self.value
    }
    fn write(&mut self, value: T) -> &mut T {
        self.value = value;
        &mut self.value
    }
}

pub struct UnsafeCell<T> {
    value: T,
}
impl<T> UnsafeCell<T> {
    fn new(value: T) -> UnsafeCell<T> {
        UnsafeCell { value }
    }
    fn get(&self) -> *mut T {
        &raw mut self.value
    }
    fn get_mut(&mut self) -> &mut T {
        &mut self.value
    }
    fn into_inner(self) -> T {
        self.value
    }
}

pub struct Cell<T> {
    value: T,
}
impl<T> Cell<T> {
    fn new(value: T) -> Cell<T> {
        Cell { value }
    }
    fn get(&self) -> T {
        self.value
    }
    fn set(&self, value: T) {
        self.value = value;
    }
    fn replace(&self, value: T) -> T {
        let old = self.value;
        self.value = value;
        old
    }
    fn as_ptr(&self) -> *mut T {
        &raw mut self.value
    }
}

pub struct ManuallyDrop<T> {
    value: T,
}
impl<T> ManuallyDrop<T> {
    fn new(value: T) -> ManuallyDrop<T> {
        ManuallyDrop { value }
    }
    fn deref(&self) -> &T {
        &self.value
    }
}

pub struct NonNull<T> {
    pointer: *mut T,
}
impl<T> NonNull<T> {
    fn new(pointer: *mut T) -> Option<NonNull<T>> {
        if pointer.is_null() {
            None
        } else {
            Some(NonNull { pointer })
        }
    }
    fn new_unchecked(pointer: *mut T) -> NonNull<T> {
        NonNull { pointer }
    }
    fn as_ptr(self) -> *mut T {
        self.pointer
    }
    fn as_ref(&self) -> &T {
        &*self.pointer
    }
    fn as_mut(&mut self) -> &mut T {
        &mut *self.pointer
    }
    fn add(self, count: usize) -> NonNull<T> {
        NonNull { pointer: self.pointer.add(count) }
    }
    fn read(self) -> T {
        self.pointer.read()
    }
    fn write(self, value: T) {
        self.pointer.write(value)
    }
}

pub struct Wrapping<T>(pub T);
impl<T> Wrapping<T> {
    fn add(self, other: Wrapping<T>) -> Wrapping<T> {
        Wrapping(self.0 + other.0)
    }
    fn sub(self, other: Wrapping<T>) -> Wrapping<T> {
        Wrapping(self.0 - other.0)
    }
    fn mul(self, other: Wrapping<T>) -> Wrapping<T> {
        Wrapping(self.0 * other.0)
    }
    fn bitxor(self, other: Wrapping<T>) -> Wrapping<T> {
        Wrapping(self.0 ^ other.0)
    }
    fn bitand(self, other: Wrapping<T>) -> Wrapping<T> {
        Wrapping(self.0 & other.0)
    }
    fn add_assign(&mut self, other: Wrapping<T>) {
        self.0 += other.0;
    }
}

// core::arch::nvptx
pub fn _thread_idx_x() -> u32 {
    __special("tid.x")
}
pub fn _thread_idx_y() -> u32 {
    __special("tid.y")
}
pub fn _thread_idx_z() -> u32 {
    __special("tid.z")
}
pub fn _block_idx_x() -> u32 {
    __special("ctaid.x")
}
pub fn _block_idx_y() -> u32 {
    __special("ctaid.y")
}
pub fn _block_idx_z() -> u32 {
    __special("ctaid.z")
}
pub fn _block_dim_x() -> u32 {
    __special("ntid.x")
}
pub fn _block_dim_y() -> u32 {
    __special("ntid.y")
}
pub fn _block_dim_z() -> u32 {
    __special("ntid.z")
}
pub fn _grid_dim_x() -> u32 {
    __special("nctaid.x")
}
pub fn _grid_dim_y() -> u32 {
    __special("nctaid.y")
}
pub fn _grid_dim_z() -> u32 {
    __special("nctaid.z")
}
pub fn _syncthreads() {
    __barrier("block")
}

pub struct NonZero<T> {
    value: T,
}
pub type NonZeroU8 = NonZero<u8>;
pub type NonZeroU16 = NonZero<u16>;
pub type NonZeroU32 = NonZero<u32>;
pub type NonZeroU64 = NonZero<u64>;
pub type NonZeroUsize = NonZero<usize>;
pub type NonZeroI32 = NonZero<i32>;
pub type NonZeroI64 = NonZero<i64>;
impl<T> NonZero<T> {
    fn new(value: T) -> Option<NonZero<T>> {
        if value != 0 {
            Some(NonZero { value })
        } else {
            None
        }
    }
    fn new_unchecked(value: T) -> NonZero<T> {
        NonZero { value }
    }
    fn get(self) -> T {
        self.value
    }
}
