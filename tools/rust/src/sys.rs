// SPDX-License-Identifier: MIT
//! The functions of ashlar.h and ashlar_heap.h that the crate calls; their contracts are there.

use core::ffi::c_void;

use crate::Statistics;

extern "C" {
    pub fn ash_alloc(size: usize) -> *mut c_void;
    pub fn ash_zalloc(count: usize, size: usize) -> *mut c_void;
    pub fn ash_aligned_alloc(alignment: usize, size: usize) -> *mut c_void;
    pub fn ash_aligned_zalloc(alignment: usize, size: usize) -> *mut c_void;
    pub fn ash_resize(p: *mut c_void, size: usize) -> *mut c_void;
    pub fn ash_aligned_resize(p: *mut c_void, alignment: usize, size: usize) -> *mut c_void;
    pub fn ash_expand(p: *mut c_void, size: usize) -> usize;
    pub fn ash_release_sized(p: *mut c_void, size: usize);
    pub fn ash_release_aligned_sized(p: *mut c_void, alignment: usize, size: usize);
    pub fn ash_usable_size(p: *const c_void) -> usize;
    pub fn ash_trim(keep: usize) -> usize;
    pub fn ash_trim_step(budget: usize) -> usize;
    pub fn ash_stats(out: *mut Statistics);
    pub fn ash_check() -> i32;
    pub fn ash_thread_detach();
}

/// Only its address is used.
#[repr(C)]
pub struct RawHeap {
    _private: [u8; 0],
}

/// `struct ash_heap_options`.
#[repr(C)]
pub struct RawOptions {
    pub cap: usize,
    pub retain: usize,
    pub huge: crate::Huge,
    pub address: usize,
    pub allocate: bool,
    pub limit: usize,
    pub layout: *const u8,
    pub layout_version: u64,
}

extern "C" {
    pub fn ash_heap_create(options: *const RawOptions) -> *mut RawHeap;
    pub fn ash_heap_create_in(memory: *mut c_void, bytes: usize) -> *mut RawHeap;
    pub fn ash_heap_create_shared(capacity: usize, options: *const RawOptions) -> *mut RawHeap;
    pub fn ash_heap_create_file(fd: i32, capacity: usize, options: *const RawOptions) -> *mut RawHeap;
    pub fn ash_heap_attach_file(fd: i32, why: *mut u32) -> *mut RawHeap;
    pub fn ash_heap_open_file(
        fd: i32,
        capacity: usize,
        options: *const RawOptions,
        why: *mut u32,
    ) -> *mut RawHeap;
    pub fn ash_heap_destroy(heap: *mut RawHeap);
    pub fn ash_heap_alloc(heap: *mut RawHeap, size: usize) -> *mut c_void;
    pub fn ash_heap_zalloc(heap: *mut RawHeap, count: usize, size: usize) -> *mut c_void;
    pub fn ash_heap_aligned_alloc(heap: *mut RawHeap, alignment: usize, size: usize) -> *mut c_void;
    pub fn ash_heap_aligned_zalloc(heap: *mut RawHeap, alignment: usize, size: usize) -> *mut c_void;
    pub fn ash_heap_resize(heap: *mut RawHeap, p: *mut c_void, size: usize) -> *mut c_void;
    pub fn ash_heap_aligned_resize(
        heap: *mut RawHeap,
        p: *mut c_void,
        alignment: usize,
        size: usize,
    ) -> *mut c_void;
    pub fn ash_heap_expand(heap: *mut RawHeap, p: *mut c_void, size: usize) -> usize;
    pub fn ash_heap_release_sized(heap: *mut RawHeap, p: *mut c_void, size: usize);
    pub fn ash_heap_release_aligned_sized(heap: *mut RawHeap, p: *mut c_void, alignment: usize, size: usize);
    pub fn ash_heap_trim(heap: *mut RawHeap, keep: usize) -> usize;
    pub fn ash_heap_stats(heap: *mut RawHeap, out: *mut Statistics);
    pub fn ash_heap_check(heap: *mut RawHeap) -> i32;
    pub fn ash_heap_thread_detach(heap: *mut RawHeap);
    pub fn ash_heap_root(heap: *mut RawHeap) -> *mut c_void;
    pub fn ash_heap_set_root(heap: *mut RawHeap, root: *mut c_void);
    pub fn ash_heap_recover(heap: *mut RawHeap) -> usize;
    pub fn ash_heap_release_owner(heap: *mut RawHeap, owner: u64) -> usize;
}
