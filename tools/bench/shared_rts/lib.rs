// SPDX-License-Identifier: MIT
//! The calls of rts-alloc that tools/bench/shared_rts.h makes.  A process is one worker of the allocator.
use rts_alloc::Allocator;
use std::{fs::File, mem::ManuallyDrop, os::fd::FromRawFd, ptr::NonNull};

const SLAB_BYTES: u32 = 64 << 10;

static mut WORKER: Option<ManuallyDrop<Allocator>> = None;

#[allow(static_mut_refs)]
unsafe fn worker() -> Option<&'static Allocator> {
    WORKER.as_deref()
}

#[no_mangle]
pub unsafe extern "C" fn rts_make(fd: i32, bytes: usize, workers: u32) -> bool {
    let file = ManuallyDrop::new(File::from_raw_fd(fd));

    WORKER = Allocator::create(&file, bytes, workers, SLAB_BYTES).ok().map(ManuallyDrop::new);
    worker().is_some()
}

/// In a child of fork: claims a worker of its own, through the mapping of its parent.
#[no_mangle]
pub unsafe extern "C" fn rts_join() {
    let own = worker().and_then(|parent| Allocator::join_from_existing(parent).ok());

    WORKER = own.map(ManuallyDrop::new);
}

#[no_mangle]
pub unsafe extern "C" fn rts_joined() -> bool {
    worker().is_some()
}

#[no_mangle]
pub unsafe extern "C" fn rts_take(size: u32) -> *mut u8 {
    worker().and_then(|w| w.allocate(size)).map_or(std::ptr::null_mut(), NonNull::as_ptr)
}

#[no_mangle]
pub unsafe extern "C" fn rts_give(p: *mut u8) {
    worker().unwrap().free(NonNull::new_unchecked(p));
}

/// Takes back what other workers released of this worker's blocks.
#[no_mangle]
pub unsafe extern "C" fn rts_clean() {
    worker().unwrap().clean_remote_frees();
}
