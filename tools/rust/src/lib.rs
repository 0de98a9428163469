// SPDX-License-Identifier: MIT
//! Ashlar, a lock-free memory allocator for Linux that needs no libc.
//!
//! ```
//! use ashlar::Ashlar;
//!
//! #[global_allocator]
//! static A: Ashlar = Ashlar;
//!
//! let numbers: Vec<u64> = (0..1000).collect();
//! assert_eq!(numbers.iter().sum::<u64>(), 499_500);
//! assert_eq!(Ashlar.check(), 0);
//! ```
//!
//! The crate is `no_std` and has no dependency, unless a feature needs one.  A program without a libc needs thread-local
//! storage (`%fs`) before its first allocation in each thread; with std, musl or glibc it is there.
//!
//! The feature `override` makes Ashlar the malloc of the whole program, of libc and of libraries
//! written in C, as well.
//!
//! Misuse that is detected (a second release, a wrong pointer, size or alignment), which only
//! unsafe code can cause, prints one line on standard error and ends the process.

#![no_std]
#![deny(missing_docs)]
#![deny(unsafe_op_in_unsafe_fn)]

use core::alloc::{GlobalAlloc, Layout};

#[cfg(feature = "allocator-api2")]
mod api2;
mod boxed;
mod heap;
mod options;
#[cfg(feature = "profile")]
pub mod profile;
mod sys;
#[cfg(feature = "core")]
mod system;

pub use boxed::Boxed;
pub use heap::Heap;
pub use options::{AttachError, Huge, Options};
#[cfg(feature = "core")]
pub use system::System;

/// The default heap of the process, as the global allocator and for its other calls.
///
/// ```
/// use ashlar::Ashlar;
///
/// #[global_allocator]
/// static A: Ashlar = Ashlar;
///
/// let text = String::from("a text");
/// assert!(Ashlar.stats().blocks >= 1 && text.len() == 6);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Ashlar;

/// Figures of a heap, in bytes unless said otherwise; see `struct ash_statistics`.
///
/// ```
/// let heap = ashlar::Heap::new().unwrap();
/// let number = heap.boxed(7u64).unwrap();
/// let now = heap.stats();
/// assert_eq!(now.blocks, 1);
/// assert!(now.block_bytes >= 8 && now.slabs >= now.block_bytes && now.reserved >= now.slabs);
/// # drop(number);
/// ```
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Address space of the heap's chunks.
    pub reserved: usize,
    /// In slabs: runs of equal slots.
    pub slabs: usize,
    /// In spans: blocks above 1 MiB, in whole 2 MiB.
    pub spans: usize,
    /// Live blocks (a number).
    pub blocks: usize,
    /// Usable bytes of the live blocks.
    pub block_bytes: usize,
    /// Blocks released by other threads, not yet reusable (a number).
    pub pending: usize,
    /// Free, in no slab or span, and possibly resident.
    pub dirty: usize,
    /// Owner records: of live threads, and left by ended ones for reuse (a number).
    pub owners: usize,
    /// The most so far in slabs and spans.
    pub peak_used: usize,
    /// The most so far of these and of what is dirty.
    pub peak_kept: usize,
    /// The most so far of `reserved`.
    pub peak_reserved: usize,
}

impl Ashlar {
    /// Gives free memory back to the system until at most `keep` bytes of it are resident;
    /// returns the bytes given back.
    ///
    /// ```
    /// let large = vec![1u8; 20 << 20];
    /// drop(large);
    /// ashlar::Ashlar.trim(0);
    /// ```
    pub fn trim(&self, keep: usize) -> usize {
        unsafe { sys::ash_trim(keep) }
    }

    /// The same down to 0 in steps, for event loops: each looks at 2 MiB, or `budget` bytes if that is more, of the
    /// heap.  Returns how much this round has still to look at; 0: nothing is left.
    ///
    /// ```
    /// while ashlar::Ashlar.trim_step(0) > 0 {
    ///     // Handle the events that came.
    /// }
    /// ```
    pub fn trim_step(&self, budget: usize) -> usize {
        unsafe { sys::ash_trim_step(budget) }
    }

    /// Figures of the default heap, counted during the call.
    ///
    /// ```
    /// use ashlar::Ashlar;
    /// # #[global_allocator]
    /// # static A: Ashlar = Ashlar;
    ///
    /// let before = Ashlar.stats().block_bytes;
    /// let block = vec![0u8; 100_000];
    /// assert!(Ashlar.stats().block_bytes >= before + block.len());
    /// ```
    pub fn stats(&self) -> Statistics {
        let mut out = Statistics::default();

        unsafe { sys::ash_stats(&mut out) };
        out
    }

    /// Compares all structures of the default heap: 0, or the number of an invariant that does
    /// not hold.
    ///
    /// ```
    /// assert_eq!(ashlar::Ashlar.check(), 0);
    /// ```
    pub fn check(&self) -> i32 {
        unsafe { sys::ash_check() }
    }

    /// Gives up the calling thread's caches of memory; for the end of threads that neither std
    /// nor Ashlar's owner records notice.  The thread may go on allocating.
    ///
    /// ```
    /// let thread = std::thread::spawn(|| {
    ///     // ...
    ///     ashlar::Ashlar.thread_detach();
    /// });
    /// # thread.join().unwrap();
    /// ```
    pub fn thread_detach(&self) {
        unsafe { sys::ash_thread_detach() }
    }

    /// The bytes that may be used of a block, at least those that were asked for.
    ///
    /// # Safety
    ///
    /// `p` is a live block of Ashlar.
    ///
    /// ```
    /// use ashlar::Ashlar;
    /// # #[global_allocator]
    /// # static A: Ashlar = Ashlar;
    ///
    /// let block = Box::new([0u8; 100]);
    /// assert!(unsafe { Ashlar.usable_size(block.as_ptr()) } >= 100);
    /// ```
    pub unsafe fn usable_size(&self, p: *const u8) -> usize {
        unsafe { sys::ash_usable_size(p.cast()) }
    }

    /// Changes the size of a block where it is: its usable bytes then, or 0 and no change.
    ///
    /// # Safety
    ///
    /// `p` is a live block of Ashlar.  If the result is not 0, the block's size is `size` from
    /// now on: its layout in later calls must have this size.
    ///
    /// ```
    /// use std::alloc::{GlobalAlloc, Layout};
    ///
    /// use ashlar::Ashlar;
    ///
    /// unsafe {
    ///     let p = Ashlar.alloc(Layout::new::<[u8; 100]>());
    ///     let size = Ashlar.usable_size(p);
    ///     assert_eq!(Ashlar.expand(p, size), size);
    ///     Ashlar.dealloc(p, Layout::from_size_align(size, 1).unwrap());
    /// }
    /// ```
    pub unsafe fn expand(&self, p: *mut u8, size: usize) -> usize {
        unsafe { sys::ash_expand(p.cast(), size) }
    }
}

/// Whether each block of so many bytes is so aligned.
fn is_natural(align: usize, size: usize) -> bool {
    align <= 8 || (align <= 16 && size >= 16)
}

// The functions of ashlar.h do not unwind, serve any thread at any time, keep the contents of a
// block up to the smaller size, and return null without a change if there is no memory.  Rust's
// layouts have alignments that are powers of two; of one above 1 GiB, null is returned.
unsafe impl GlobalAlloc for Ashlar {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        unsafe {
            if is_natural(layout.align(), layout.size()) {
                sys::ash_alloc(layout.size()).cast()
            } else {
                sys::ash_aligned_alloc(layout.align(), layout.size()).cast()
            }
        }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        unsafe {
            if is_natural(layout.align(), layout.size()) {
                sys::ash_zalloc(1, layout.size()).cast()
            } else {
                sys::ash_aligned_zalloc(layout.align(), layout.size()).cast()
            }
        }
    }

    #[inline]
    unsafe fn dealloc(&self, p: *mut u8, layout: Layout) {
        unsafe {
            if is_natural(layout.align(), layout.size()) {
                sys::ash_release_sized(p.cast(), layout.size())
            } else {
                sys::ash_release_aligned_sized(p.cast(), layout.align(), layout.size())
            }
        }
    }

    #[inline]
    unsafe fn realloc(&self, p: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        unsafe {
            if is_natural(layout.align(), size) {
                sys::ash_resize(p.cast(), size).cast()
            } else {
                sys::ash_aligned_resize(p.cast(), layout.align(), size).cast()
            }
        }
    }
}
