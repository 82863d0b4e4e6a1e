//! Nothing of the host side exists in an extract; the crate is there so that imports of its macros resolve.
#![no_std]
