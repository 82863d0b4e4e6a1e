//! mbarriers.
use core::arch::asm;
use core::marker::PhantomData;
use gpusafe_ptx::special::{nanosleep as sleep, shared_address};

#[repr(C, align(8))]
#[derive(Clone, Copy)]
pub struct Barrier {
    _state: u64,
}

impl Barrier {
    pub const UNINIT: Self = Self { _state: 0 };
}

#[inline(always)]
pub unsafe fn mbarrier_init(bar: *mut Barrier, count: u32) {
    asm!("mbarrier.init.shared.b64 [{a}], {c};", a = in(reg32) shared_address(bar), c = in(reg32) count,
         options(nostack));
}

#[inline(always)]
pub unsafe fn mbarrier_inval(bar: *mut Barrier) {
    asm!("mbarrier.inval.shared.b64 [{a}];", a = in(reg32) shared_address(bar), options(nostack));
}

#[inline(always)]
pub unsafe fn mbarrier_arrive(bar: *const Barrier) -> u64 {
    let token: u64;
    asm!("mbarrier.arrive.shared.b64 {t}, [{a}];", t = out(reg64) token, a = in(reg32) shared_address(bar),
         options(nostack));
    token
}

#[inline(always)]
pub unsafe fn mbarrier_arrive_cluster(remote: u64) {
    asm!("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [{a}];", a = in(reg32) remote as u32,
         options(nostack));
}

#[inline(always)]
pub unsafe fn mbarrier_arrive_expect_tx(bar: *const Barrier, _count: u32, bytes: u32) -> u64 {
    let token: u64;
    asm!("mbarrier.arrive.expect_tx.shared.b64 {t}, [{a}], {b};", t = out(reg64) token,
         a = in(reg32) shared_address(bar), b = in(reg32) bytes, options(nostack));
    token
}

#[inline(always)]
pub unsafe fn mbarrier_test_wait(bar: *const Barrier, token: u64) -> bool {
    let done: u32;
    asm!("{{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [{a}], {t}; selp.u32 {d}, 1, 0, p; }}",
         d = out(reg32) done, a = in(reg32) shared_address(bar), t = in(reg64) token, options(nostack));
    done != 0
}

#[inline(always)]
pub unsafe fn mbarrier_try_wait(bar: *const Barrier, token: u64) -> bool {
    let done: u32;
    asm!("{{ .reg .pred p; mbarrier.try_wait.shared.b64 p, [{a}], {t}; selp.u32 {d}, 1, 0, p; }}",
         d = out(reg32) done, a = in(reg32) shared_address(bar), t = in(reg64) token, options(nostack));
    done != 0
}

#[inline(always)]
pub unsafe fn mbarrier_try_wait_parity(bar: *const Barrier, parity: u32) -> bool {
    let done: u32;
    asm!("{{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [{a}], {t}; selp.u32 {d}, 1, 0, p; }}",
         d = out(reg32) done, a = in(reg32) shared_address(bar), t = in(reg32) parity, options(nostack));
    done != 0
}

#[inline(always)]
pub unsafe fn mbarrier_try_wait_parity_cluster(bar: *const Barrier, parity: u32) -> bool {
    let done: u32;
    asm!("{{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [{a}], {t};",
         "selp.u32 {d}, 1, 0, p; }}",
         d = out(reg32) done, a = in(reg32) shared_address(bar), t = in(reg32) parity, options(nostack));
    done != 0
}

#[inline(always)]
pub unsafe fn mbarrier_wait(bar: *const Barrier, token: u64) {
    while !mbarrier_test_wait(bar, token) {}
}

#[inline(always)]
pub unsafe fn mbarrier_arrive_and_wait(bar: *const Barrier) {
    let token = mbarrier_arrive(bar);
    mbarrier_wait(bar, token);
}

#[inline(always)]
pub unsafe fn fence_mbarrier_init_release_cluster() {
    asm!("fence.mbarrier_init.release.cluster;", options(nostack));
}

#[inline(always)]
pub unsafe fn fence_proxy_async_shared_cta() {
    asm!("fence.proxy.async.shared::cta;", options(nostack));
}

#[inline(always)]
pub unsafe fn nanosleep(ns: u32) {
    sleep(ns);
}

pub struct Uninit;
pub struct Ready;
pub struct Invalidated;
pub struct TmaBarrier;
pub struct MmaBarrier;
pub struct GeneralBarrier;

#[derive(Clone, Copy)]
pub struct BarrierToken(u64);

impl BarrierToken {
    pub const fn raw(self) -> u64 {
        self.0
    }

    pub const fn from_raw(raw: u64) -> Self {
        Self(raw)
    }
}

pub struct ManagedBarrier<State, Kind, const ID: usize = 0> {
    at: *mut Barrier,
    _state: PhantomData<(State, Kind)>,
}

impl<Kind, const ID: usize> ManagedBarrier<Uninit, Kind, ID> {
    #[inline(always)]
    pub fn from_static(at: *mut Barrier) -> Self {
        Self { at, _state: PhantomData }
    }

    #[inline(always)]
    pub unsafe fn init(self, count: u32) -> ManagedBarrier<Ready, Kind, ID> {
        self.init_by(count, 0)
    }

    #[inline(always)]
    pub unsafe fn init_by(self, count: u32, thread: u32) -> ManagedBarrier<Ready, Kind, ID> {
        if crate::thread::threadIdx_x() == thread {
            mbarrier_init(self.at, count);
            fence_proxy_async_shared_cta();
        }
        crate::thread::sync_threads();
        ManagedBarrier { at: self.at, _state: PhantomData }
    }
}

impl<Kind, const ID: usize> ManagedBarrier<Ready, Kind, ID> {
    #[inline(always)]
    pub fn as_ptr(&self) -> *const Barrier {
        self.at
    }

    #[inline(always)]
    pub fn arrive(&self) -> BarrierToken {
        BarrierToken(unsafe { mbarrier_arrive(self.at) })
    }

    #[inline(always)]
    pub fn arrive_expect_tx(&self, bytes: u32) -> BarrierToken {
        BarrierToken(unsafe { mbarrier_arrive_expect_tx(self.at, 1, bytes) })
    }

    #[inline(always)]
    pub fn wait(&self, token: BarrierToken) {
        while !self.try_wait(token) {}
    }

    #[inline(always)]
    pub fn try_wait(&self, token: BarrierToken) -> bool {
        unsafe { mbarrier_try_wait(self.at, token.0) }
    }

    #[inline(always)]
    pub fn test_wait(&self, token: BarrierToken) -> bool {
        unsafe { mbarrier_test_wait(self.at, token.0) }
    }

    #[inline(always)]
    pub fn try_wait_parity(&self, parity: u32) -> bool {
        unsafe { mbarrier_try_wait_parity(self.at, parity) }
    }

    #[inline(always)]
    pub unsafe fn inval(self) -> ManagedBarrier<Invalidated, Kind, ID> {
        crate::thread::sync_threads();
        if crate::thread::threadIdx_x() == 0 {
            mbarrier_inval(self.at);
        }
        ManagedBarrier { at: self.at, _state: PhantomData }
    }
}

pub type TmaBarrierHandle<S> = ManagedBarrier<S, TmaBarrier, 0>;
pub type MmaBarrierHandle<S> = ManagedBarrier<S, MmaBarrier, 0>;
pub type TmaBarrier0<S> = ManagedBarrier<S, TmaBarrier, 0>;
pub type TmaBarrier1<S> = ManagedBarrier<S, TmaBarrier, 1>;
