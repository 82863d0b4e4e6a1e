//! What of `std` device code can use: `core` under the name that it has on the host.
#![no_std]
pub use core::*;
