// SPDX-License-Identifier: MIT
//! The allocator that the environment variable CHOSEN named in the build.
#![allow(unexpected_cfgs)]

#[cfg(ashlar)]
#[global_allocator]
static A: ashlar::Ashlar = ashlar::Ashlar;

#[cfg(mimalloc)]
#[global_allocator]
static A: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[cfg(jemalloc)]
#[global_allocator]
static A: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;
