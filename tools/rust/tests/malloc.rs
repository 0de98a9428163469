// SPDX-License-Identifier: MIT
//! Ashlar is malloc, with the feature `override`; this test's own allocator is std's, which calls it.
#![cfg(feature = "override")]

use std::ffi::c_void;

use ashlar::{Ashlar, Heap};

extern "C" {
    fn malloc(size: usize) -> *mut c_void;
    fn realloc(p: *mut c_void, size: usize) -> *mut c_void;
    fn free(p: *mut c_void);
    fn posix_memalign(out: *mut *mut c_void, alignment: usize, size: usize) -> i32;
    fn strdup(text: *const u8) -> *mut c_void;
    fn ashlar_is_malloc() -> i32;
}

/// The usable bytes of a block: those asked for if blocks are guarded, else those of its slot.
fn usable(size: usize, slot: usize) -> usize {
    if cfg!(feature = "hardened") {
        size
    } else {
        slot
    }
}

#[test]
fn malloc_is_ours() {
    unsafe {
        assert_eq!(ashlar_is_malloc(), 1);
        let p = realloc(malloc(100), 300);
        assert_eq!(Ashlar.usable_size(p.cast()), usable(300, 320));
        free(p);
        let mut aligned = std::ptr::null_mut();
        assert_eq!(posix_memalign(&mut aligned, 256, 100), 0);
        assert_eq!((aligned as usize % 256, Ashlar.usable_size(aligned.cast())), (0, usable(100, 256)));
        free(aligned);
        // A block that libc asked for.
        let text = strdup(b"twenty-nine bytes with its 0\0".as_ptr());
        assert_eq!(Ashlar.usable_size(text.cast()), usable(29, 32));
        free(text);
        let std = Box::new([0u8; 1000]);
        assert_eq!(Ashlar.usable_size(std.as_ptr()), usable(1000, 1024));
    }
    let before = Ashlar.stats().blocks;
    let kept: Vec<_> = (0..1000).map(|i| i.to_string()).collect();
    assert!(Ashlar.stats().blocks > before + 500 && kept.len() == 1000);
    assert_eq!(Ashlar.check(), 0);
}

#[test]
fn threads_and_heaps() {
    let heap = Heap::new().unwrap();

    std::thread::scope(|s| {
        for i in 0..4 {
            let heap = &heap;
            s.spawn(move || {
                for k in 0..1000 {
                    assert_eq!(*heap.boxed(vec![i; k % 40]).unwrap(), vec![i; k % 40]);
                }
            });
        }
    });
    assert_eq!((heap.stats().blocks, heap.check(), Ashlar.check()), (0, 0, 0));
}
