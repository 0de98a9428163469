// SPDX-License-Identifier: MIT
//! What heaps are made with, and why one in a file is not attached.

use core::fmt;
use core::ptr;

use crate::sys::RawOptions;

/// For which memory the kernel is advised to use huge pages; see `enum ash_huge`.
///
/// ```
/// use ashlar::{Heap, Huge, Options};
///
/// let heap = Heap::with_options(&Options { huge: Huge::Never, ..Options::default() }).unwrap();
/// assert_eq!(*heap.boxed(7).unwrap(), 7);
/// ```
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Huge {
    /// Where it pays.
    Default,
    /// For none.
    Never,
    /// For everything.
    Always,
    /// For everything, and blocks above 1 MiB are backed when they are allocated.
    Populate,
}

/// See `struct ash_heap_options`; the default is a good choice.
///
/// ```
/// use ashlar::{Heap, Options};
///
/// let heap = Heap::with_options(&Options { cap: 4 << 20, ..Options::default() }).unwrap();
/// assert!(heap.boxed([0u8; 1000]).is_ok());
/// assert!(heap.alloc(std::alloc::Layout::new::<[u8; 5 << 20]>()).is_none());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Most bytes of address space for blocks, 0: no cap; not for shared heaps.
    pub cap: usize,
    /// Free bytes that may stay resident; 0: 10 MiB.
    pub retain: usize,
    /// Huge pages.
    pub huge: Huge,
    /// Of shared heaps: the address, a multiple of 2 MiB; 0: Ashlar chooses.
    pub address: usize,
    /// Of heaps in files: allocate the whole file now.
    pub allocate: bool,
    /// Of shared heaps: the most that they can be extended to; 0: the capacity.
    pub limit: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options { cap: 0, retain: 0, huge: Huge::Default, address: 0, allocate: false, limit: 0 }
    }
}

impl Options {
    /// For C.  A layout is a pointer, which only unsafe code could vouch for: there is none.
    pub(crate) fn raw(&self) -> RawOptions {
        RawOptions {
            cap: self.cap,
            retain: self.retain,
            huge: self.huge,
            address: self.address,
            allocate: self.allocate,
            limit: self.limit,
            layout: ptr::null(),
            layout_version: 0,
        }
    }
}

/// Why a heap in a file was not attached; see `enum ash_attach`.
///
/// ```
/// # use std::{fs, fs::OpenOptions, os::unix::io::AsRawFd};
/// # use ashlar::{AttachError, Heap, Options};
/// # let path = std::env::temp_dir().join(format!("ashlar-error-{}", std::process::id()));
/// let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path).unwrap();
/// # fs::remove_file(&path).unwrap();
/// let error = unsafe { Heap::attach_file(file.as_raw_fd()) }.unwrap_err();
/// assert_eq!((error, error.to_string().as_str()), (AttachError::NoHeap, "not a heap of this version"));
/// # let _ = Options::default();
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttachError {
    /// Not a heap of this version, cut short or damaged.
    NoHeap,
    /// Its addresses are in use in this process.
    Taken,
    /// The kernel refused, the disk is full, or the request is impossible.
    NoMemory,
    /// It is being created, or its creator died.
    Unfinished,
    /// It was made in another pid or time namespace.
    Namespace,
    /// It was made with a layout, for `ash_heap_open_file` of other programs.
    Layout,
    /// It was not sealed when the system stopped.
    Torn,
}

impl fmt::Display for AttachError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AttachError::NoHeap => "not a heap of this version",
            AttachError::Taken => "the heap's addresses are in use",
            AttachError::NoMemory => "no memory for the heap",
            AttachError::Unfinished => "the heap is being created",
            AttachError::Namespace => "the heap is of another namespace",
            AttachError::Layout => "the heap has another layout",
            AttachError::Torn => "the heap was not sealed when the system stopped",
        })
    }
}

impl AttachError {
    /// Of an `enum ash_attach` that is not ASH_ATTACHED.
    pub(crate) fn of(why: u32) -> AttachError {
        match why {
            1 => AttachError::NoHeap,
            2 => AttachError::Taken,
            4 => AttachError::Unfinished,
            5 => AttachError::Namespace,
            6 => AttachError::Layout,
            7 => AttachError::Torn,
            _ => AttachError::NoMemory,
        }
    }
}
