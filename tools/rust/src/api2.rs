// SPDX-License-Identifier: MIT
//! The trait `Allocator` of the crate allocator-api2, for the default heap and for heaps as objects.

use core::alloc::{GlobalAlloc, Layout};
use core::ptr::{self, NonNull};

use allocator_api2::alloc::{AllocError, Allocator};

use crate::{Ashlar, Heap};

/// The calls of a heap; no size is 0.
trait Blocks {
    /// Returns a block, or null if there is no memory.
    fn take(&self, layout: Layout, zeroed: bool) -> *mut u8;

    /// Changes a block's size, and its alignment, which may become larger.  Returns null, and changes nothing, if there
    /// is no memory.
    ///
    /// # Safety
    ///
    /// `p` is a live block of this heap.
    unsafe fn change(&self, p: NonNull<u8>, layout: Layout) -> *mut u8;

    /// # Safety
    ///
    /// `p` is a live block of this heap with this layout.
    unsafe fn give_back(&self, p: NonNull<u8>, layout: Layout);
}

impl Blocks for Ashlar {
    fn take(&self, layout: Layout, zeroed: bool) -> *mut u8 {
        unsafe {
            if zeroed {
                self.alloc_zeroed(layout)
            } else {
                self.alloc(layout)
            }
        }
    }

    unsafe fn change(&self, p: NonNull<u8>, layout: Layout) -> *mut u8 {
        // Of the old layout realloc needs only the alignment that the result has.
        unsafe { self.realloc(p.as_ptr(), layout, layout.size()) }
    }

    unsafe fn give_back(&self, p: NonNull<u8>, layout: Layout) {
        unsafe { self.dealloc(p.as_ptr(), layout) }
    }
}

impl Blocks for Heap {
    fn take(&self, layout: Layout, zeroed: bool) -> *mut u8 {
        let block = if zeroed { self.alloc_zeroed(layout) } else { Heap::alloc(self, layout) };

        block.map_or(ptr::null_mut(), NonNull::as_ptr)
    }

    unsafe fn change(&self, p: NonNull<u8>, layout: Layout) -> *mut u8 {
        // As above.
        unsafe { self.resize(p, layout, layout.size()) }.map_or(ptr::null_mut(), NonNull::as_ptr)
    }

    unsafe fn give_back(&self, p: NonNull<u8>, layout: Layout) {
        unsafe { self.release(p, layout) }
    }
}

/// The block of a layout of size 0: an address that is aligned and not null, in no heap.
fn empty(layout: Layout) -> NonNull<u8> {
    unsafe { NonNull::new_unchecked(layout.align() as *mut u8) }
}

/// A block as the trait returns it: with the bytes of its layout, though more may be usable.
fn slice(p: *mut u8, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
    NonNull::new(ptr::slice_from_raw_parts_mut(p, layout.size())).ok_or(AllocError)
}

fn allocate(heap: &impl Blocks, layout: Layout, zeroed: bool) -> Result<NonNull<[u8]>, AllocError> {
    slice(if layout.size() == 0 { empty(layout).as_ptr() } else { heap.take(layout, zeroed) }, layout)
}

/// # Safety
///
/// `p` is a block of `allocate` of this heap with this layout.
unsafe fn deallocate(heap: &impl Blocks, p: NonNull<u8>, layout: Layout) {
    if layout.size() != 0 {
        unsafe { heap.give_back(p, layout) }
    }
}

/// # Safety
///
/// `p` is a block of `allocate` of this heap with the layout `old`.
unsafe fn resize(heap: &impl Blocks, p: NonNull<u8>, old: Layout, new: Layout) -> Result<NonNull<[u8]>, AllocError> {
    if old.size() == 0 || new.size() == 0 {
        let block = allocate(heap, new, false)?;

        unsafe { deallocate(heap, p, old) };
        return Ok(block);
    }
    slice(unsafe { heap.change(p, new) }, new)
}

macro_rules! allocator {
    ($(#[$documentation:meta])* $heap:ty) => {
        // Blocks stay where they are when the heap's value moves, and until the heap is dropped.
        $(#[$documentation])*
        unsafe impl Allocator for $heap {
            fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
                allocate(self, layout, false)
            }

            fn allocate_zeroed(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
                allocate(self, layout, true)
            }

            unsafe fn deallocate(&self, p: NonNull<u8>, layout: Layout) {
                unsafe { deallocate(self, p, layout) }
            }

            unsafe fn grow(&self, p: NonNull<u8>, old: Layout, new: Layout) -> Result<NonNull<[u8]>, AllocError> {
                unsafe { resize(self, p, old, new) }
            }

            unsafe fn shrink(&self, p: NonNull<u8>, old: Layout, new: Layout) -> Result<NonNull<[u8]>, AllocError> {
                unsafe { resize(self, p, old, new) }
            }
        }
    };
}

allocator! {
    /// The default heap, for collections of a program whose global allocator is another one.
    ///
    /// ```
    /// use allocator_api2::vec::Vec;
    /// use ashlar::Ashlar;
    ///
    /// let mut numbers = Vec::new_in(Ashlar);
    /// numbers.extend(0..1000);
    /// assert_eq!(numbers.iter().sum::<i32>(), 499_500);
    /// assert!(Ashlar.stats().blocks >= 1);
    /// ```
    Ashlar
}
allocator! {
    /// A heap as an object, by reference: a collection with `&heap` cannot outlive the heap.  A collection may also
    /// have the heap itself.
    ///
    /// ```
    /// use allocator_api2::{boxed::Box, vec::Vec};
    /// use ashlar::Heap;
    ///
    /// let heap = Heap::new().unwrap();
    /// let mut numbers = Vec::new_in(&heap);
    /// numbers.extend(0..1000);
    /// let text = Box::new_in("a text", &heap);
    /// assert_eq!((numbers.len(), *text, heap.stats().blocks), (1000, "a text", 2));
    /// ```
    ///
    /// ```compile_fail
    /// let heap = ashlar::Heap::new().unwrap();
    /// let numbers = allocator_api2::vec::Vec::<u8, _>::new_in(&heap);
    /// drop(heap);
    /// drop(numbers);
    /// ```
    Heap
}
