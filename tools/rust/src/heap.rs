// SPDX-License-Identifier: MIT
//! Heaps as objects.

use core::alloc::Layout;
use core::fmt;
use core::mem::MaybeUninit;
use core::ptr::{self, NonNull};

use crate::boxed::Boxed;
use crate::options::{AttachError, Options};
use crate::sys::{self, RawHeap};
use crate::{is_natural, Statistics};

/// A heap beside the default one: all of its memory goes when it is dropped.
///
/// Any thread may use it.  Blocks are raw pointers ([`alloc`](Heap::alloc)), or values that
/// borrow the heap ([`boxed`](Heap::boxed)) and so cannot outlive it:
///
/// ```compile_fail
/// let heap = ashlar::Heap::new().unwrap();
/// let number = heap.boxed(7).unwrap();
/// drop(heap);
/// assert_eq!(*number, 7);
/// ```
///
/// A heap that is forgotten keeps its memory, which is why one in a slice takes the slice for
/// ever ([`in_static`](Heap::in_static)) or is only lent ([`scope`](Heap::scope)).
pub struct Heap {
    raw: NonNull<RawHeap>,
}

// All calls on a heap may be made by any thread at any time, except for ash_heap_destroy, which
// has the heap for itself in drop.
unsafe impl Send for Heap {}
unsafe impl Sync for Heap {}

impl Heap {
    fn from_raw(raw: *mut RawHeap) -> Option<Heap> {
        NonNull::new(raw).map(|raw| Heap { raw })
    }

    fn raw(&self) -> *mut RawHeap {
        self.raw.as_ptr()
    }

    /// A heap of this process, in mappings of its own.  None: no memory.
    #[allow(clippy::new_ret_no_self)]
    pub fn new() -> Option<Heap> {
        Heap::from_raw(unsafe { sys::ash_heap_create(ptr::null()) })
    }

    /// The same with options.
    pub fn with_options(options: &Options) -> Option<Heap> {
        Heap::from_raw(unsafe { sys::ash_heap_create(&options.raw()) })
    }

    /// A heap inside this memory, of at least 64 KiB, which belongs to it for ever.  No system
    /// call, now or later.  None: the memory is too small, or there are 1024 such heaps.
    ///
    /// Memory of a shorter life would not do, since a heap that is forgotten is not destroyed:
    ///
    /// ```compile_fail
    /// use core::mem::MaybeUninit;
    /// let mut memory = [MaybeUninit::<u8>::uninit(); 100_000];
    /// let heap = ashlar::Heap::in_static(&mut memory);
    /// ```
    pub fn in_static(memory: &'static mut [MaybeUninit<u8>]) -> Option<Heap> {
        // The exclusive borrow lasts for ever: only the heap can use the memory, even if
        // the heap is forgotten.  It needs no initialised bytes.
        Heap::from_raw(unsafe { sys::ash_heap_create_in(memory.as_mut_ptr().cast(), memory.len()) })
    }

    /// Calls `f` with a heap inside this memory, of at least 64 KiB, and destroys the heap
    /// afterwards, also if `f` panics.  None: the memory is too small, or there are 1024 such
    /// heaps; then `f` is not called.
    ///
    /// Neither the heap nor a value in it can leave `f`:
    ///
    /// ```compile_fail
    /// use core::mem::MaybeUninit;
    /// let mut memory = [MaybeUninit::<u8>::uninit(); 100_000];
    /// let number = ashlar::Heap::scope(&mut memory, |heap| heap.boxed(7).unwrap());
    /// ```
    pub fn scope<R>(memory: &mut [MaybeUninit<u8>], f: impl FnOnce(&Heap) -> R) -> Option<R> {
        // `f` gets a reference only, so that the heap is dropped here in any case, before the
        // borrow of the memory ends.
        let heap = Heap::from_raw(unsafe {
            sys::ash_heap_create_in(memory.as_mut_ptr().cast(), memory.len())
        })?;

        Some(f(&heap))
    }

    /// A heap that this process shares with the children it forks, of a fixed capacity.  Dropping
    /// it detaches this process.  In a child of `fork` the value and all that borrows it exist
    /// twice: a program that forks, which is unsafe, must ensure that each block is released once.
    pub fn shared(capacity: usize, options: &Options) -> Option<Heap> {
        Heap::from_raw(unsafe { sys::ash_heap_create_shared(capacity, &options.raw()) })
    }

    /// A heap in a file or memfd, which must be empty or one page of zeros; see
    /// `ash_heap_create_file`.  `fd` may be closed afterwards.
    ///
    /// # Safety
    ///
    /// As long as any process is attached, no process writes to the file by other means, truncates it or punches
    /// holes into it but Ashlar, in processes of which each releases only blocks that none
    /// uses.  `fd` is open for reading and writing, if it is open.
    pub unsafe fn create_file(fd: i32, capacity: usize, options: &Options) -> Option<Heap> {
        Heap::from_raw(unsafe { sys::ash_heap_create_file(fd, capacity, &options.raw()) })
    }

    /// Attaches to the heap in the file, and recovers it if processes died in it.
    ///
    /// # Safety
    ///
    /// As for [`create_file`](Heap::create_file).  The file is checked, but a forged one can
    /// make safe code read and write anything: no other user could write to it.
    pub unsafe fn attach_file(fd: i32) -> Result<Heap, AttachError> {
        let mut why = 0;

        Heap::from_raw(unsafe { sys::ash_heap_attach_file(fd, &mut why) }).ok_or_else(|| AttachError::of(why))
    }

    /// Attaches to the heap in the file, or creates one if the file is empty.
    ///
    /// # Safety
    ///
    /// As for [`attach_file`](Heap::attach_file).
    pub unsafe fn open_file(fd: i32, capacity: usize, options: &Options) -> Result<Heap, AttachError> {
        let mut why = 0;

        Heap::from_raw(unsafe { sys::ash_heap_open_file(fd, capacity, &options.raw(), &mut why) })
            .ok_or_else(|| AttachError::of(why))
    }

    /// A block for this layout, with undefined contents; it stays until it is released or the
    /// heap is dropped.  None: no memory, or the heap is full.  Size 0 gives a block, too.
    pub fn alloc(&self, layout: Layout) -> Option<NonNull<u8>> {
        NonNull::new(unsafe {
            if is_natural(layout.align(), layout.size()) {
                sys::ash_heap_alloc(self.raw(), layout.size())
            } else {
                sys::ash_heap_aligned_alloc(self.raw(), layout.align(), layout.size())
            }
        })
        .map(NonNull::cast)
    }

    /// The same with all bytes zero.
    pub fn alloc_zeroed(&self, layout: Layout) -> Option<NonNull<u8>> {
        NonNull::new(unsafe {
            if is_natural(layout.align(), layout.size()) {
                sys::ash_heap_zalloc(self.raw(), 1, layout.size())
            } else {
                sys::ash_heap_aligned_zalloc(self.raw(), layout.align(), layout.size())
            }
        })
        .map(NonNull::cast)
    }

    /// Changes the size of a block; its address may change, its alignment is kept.  None: no
    /// memory, and the block is as it was.
    ///
    /// # Safety
    ///
    /// `p` is a live block of this heap with this layout.  On success the block's size is
    /// `size`, and `p` is valid only if it is the result.
    pub unsafe fn resize(&self, p: NonNull<u8>, layout: Layout, size: usize) -> Option<NonNull<u8>> {
        NonNull::new(unsafe {
            if is_natural(layout.align(), size) {
                sys::ash_heap_resize(self.raw(), p.as_ptr().cast(), size)
            } else {
                sys::ash_heap_aligned_resize(self.raw(), p.as_ptr().cast(), layout.align(), size)
            }
        })
        .map(NonNull::cast)
    }

    /// Changes the size of a block where it is: its usable bytes then, or 0 and no change.
    ///
    /// # Safety
    ///
    /// `p` is a live block of this heap.  If the result is not 0, its size is `size`.
    pub unsafe fn expand(&self, p: NonNull<u8>, size: usize) -> usize {
        unsafe { sys::ash_heap_expand(self.raw(), p.as_ptr().cast(), size) }
    }

    /// Releases a block.
    ///
    /// # Safety
    ///
    /// `p` is a live block of this heap with this layout; it is not used from now on.
    pub unsafe fn release(&self, p: NonNull<u8>, layout: Layout) {
        unsafe {
            if is_natural(layout.align(), layout.size()) {
                sys::ash_heap_release_sized(self.raw(), p.as_ptr().cast(), layout.size())
            } else {
                sys::ash_heap_release_aligned_sized(
                    self.raw(),
                    p.as_ptr().cast(),
                    layout.align(),
                    layout.size(),
                )
            }
        }
    }

    /// A value in a block of the heap.  Err: no memory, and the value back.
    pub fn boxed<T>(&self, value: T) -> Result<Boxed<'_, T>, T> {
        match self.alloc(Layout::new::<T>()) {
            Some(p) => {
                let p = p.cast::<T>();

                unsafe {
                    p.as_ptr().write(value);
                    Ok(Boxed::from_block(p, self))
                }
            }
            None => Err(value),
        }
    }

    /// As [`Ashlar::trim`](crate::Ashlar::trim).
    pub fn trim(&self, keep: usize) -> usize {
        unsafe { sys::ash_heap_trim(self.raw(), keep) }
    }

    /// Figures of the heap, counted during the call.
    pub fn stats(&self) -> Statistics {
        let mut out = Statistics::default();

        unsafe { sys::ash_heap_stats(self.raw(), &mut out) };
        out
    }

    /// As [`Ashlar::check`](crate::Ashlar::check).
    pub fn check(&self) -> i32 {
        unsafe { sys::ash_heap_check(self.raw()) }
    }

    /// As [`Ashlar::thread_detach`](crate::Ashlar::thread_detach), for this heap.
    pub fn thread_detach(&self) {
        unsafe { sys::ash_heap_thread_detach(self.raw()) }
    }

    /// The pointer by which processes find their data in a shared heap; null at first.
    pub fn root(&self) -> *mut u8 {
        unsafe { sys::ash_heap_root(self.raw()) }.cast()
    }

    /// Sets it, with release order.
    pub fn set_root(&self, root: *mut u8) {
        unsafe { sys::ash_heap_set_root(self.raw(), root.cast()) }
    }

    /// Takes over what ended threads and processes held besides their blocks; returns the number
    /// of owner records.
    pub fn recover(&self) -> usize {
        unsafe { sys::ash_heap_recover(self.raw()) }
    }

    /// Releases every block of a process that has ended; returns their number.
    ///
    /// # Safety
    ///
    /// These blocks are not used from now on, and no other thread releases them meanwhile.
    pub unsafe fn release_owner(&self, owner: u64) -> usize {
        unsafe { sys::ash_heap_release_owner(self.raw(), owner) }
    }

    /// The heap for functions of ashlar_heap.h that are not here.
    pub fn as_ptr(&self) -> *mut core::ffi::c_void {
        self.raw().cast()
    }
}

impl Drop for Heap {
    fn drop(&mut self) {
        // Nothing borrows the heap, so no thread is in a call on it.
        unsafe { sys::ash_heap_destroy(self.raw()) }
    }
}

impl fmt::Debug for Heap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Heap").field(&self.raw).finish()
    }
}
