// SPDX-License-Identifier: MIT
//! Values in blocks of a heap.

use core::alloc::Layout;
use core::fmt;
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;

use crate::heap::Heap;

/// A value in a block of a [`Heap`]: dropping it drops the value and releases the block.
///
/// There is no pinned one: a pinned value must not lose its memory before it is dropped, but one
/// that was forgotten loses it with the heap.
///
/// ```
/// let heap = ashlar::Heap::new().unwrap();
/// let mut text = heap.boxed(String::from("one")).unwrap();
/// text.push_str(", two");
/// assert_eq!(*text, "one, two");
/// drop(text);
/// assert_eq!(heap.stats().blocks, 0);
/// ```
pub struct Boxed<'h, T> {
    p: NonNull<T>,
    heap: &'h Heap,
    owns: PhantomData<T>,
}

// As for a Box; the heap may be used by any thread.
unsafe impl<T: Send> Send for Boxed<'_, T> {}
unsafe impl<T: Sync> Sync for Boxed<'_, T> {}

impl<'h, T> Boxed<'h, T> {
    /// # Safety
    ///
    /// `p` is a block of the heap to which there is no other reference, with a value.
    pub(crate) unsafe fn from_block(p: NonNull<T>, heap: &'h Heap) -> Boxed<'h, T> {
        Boxed { p, heap, owns: PhantomData }
    }

    /// The value, out of its block.
    ///
    /// ```
    /// let heap = ashlar::Heap::new().unwrap();
    /// let text = heap.boxed(String::from("text")).unwrap().into_inner();
    /// drop(heap);
    /// assert_eq!(text, "text");
    /// ```
    pub fn into_inner(self) -> T {
        let this = core::mem::ManuallyDrop::new(self);

        unsafe {
            let value = this.p.as_ptr().read();

            this.heap.release(this.p.cast(), Layout::new::<T>());
            value
        }
    }

    /// The value as long as the heap lives; it is not dropped.
    ///
    /// ```
    /// let heap = ashlar::Heap::new().unwrap();
    /// let number: &mut u64 = heap.boxed(5).unwrap().leak();
    /// *number += 1;
    /// assert_eq!((*number, heap.stats().blocks), (6, 1));
    /// ```
    pub fn leak(self) -> &'h mut T {
        unsafe { &mut *core::mem::ManuallyDrop::new(self).p.as_ptr() }
    }
}

impl<T> Drop for Boxed<'_, T> {
    fn drop(&mut self) {
        // Releases the block also if the value's drop panics.
        struct Block<'a, T>(NonNull<T>, &'a Heap);

        impl<T> Drop for Block<'_, T> {
            fn drop(&mut self) {
                unsafe { self.1.release(self.0.cast(), Layout::new::<T>()) }
            }
        }
        let block = Block(self.p, self.heap);

        unsafe { block.0.as_ptr().drop_in_place() }
    }
}

impl<T> Deref for Boxed<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        unsafe { self.p.as_ref() }
    }
}

impl<T> DerefMut for Boxed<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        unsafe { self.p.as_mut() }
    }
}

impl<T: fmt::Debug> fmt::Debug for Boxed<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
