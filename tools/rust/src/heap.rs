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
    ///
    /// ```
    /// let heap = ashlar::Heap::new().unwrap();
    /// let numbers = [heap.boxed(1).unwrap(), heap.boxed(2).unwrap()];
    /// assert_eq!(*numbers[0] + *numbers[1], 3);
    /// ```
    #[allow(clippy::new_ret_no_self)]
    pub fn new() -> Option<Heap> {
        Heap::from_raw(unsafe { sys::ash_heap_create(ptr::null()) })
    }

    /// The same with options.
    ///
    /// ```
    /// use ashlar::{Heap, Options};
    ///
    /// let heap = Heap::with_options(&Options { retain: 1 << 20, ..Options::default() }).unwrap();
    /// assert_eq!(*heap.boxed(7).unwrap(), 7);
    /// ```
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
    ///
    /// ```
    /// use std::mem::MaybeUninit;
    ///
    /// let memory = Box::leak(vec![MaybeUninit::uninit(); 100_000].into_boxed_slice());
    /// let heap = ashlar::Heap::in_static(memory).unwrap();
    /// assert_eq!(*heap.boxed(7).unwrap(), 7);
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
    ///
    /// ```
    /// use std::mem::MaybeUninit;
    ///
    /// let mut memory = [MaybeUninit::<u8>::uninit(); 100_000];
    /// let sum = ashlar::Heap::scope(&mut memory, |heap| *heap.boxed(7).unwrap() + *heap.boxed(8).unwrap());
    /// assert_eq!(sum, Some(15));
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
    ///
    /// ```
    /// use ashlar::{Heap, Options};
    ///
    /// let heap = Heap::shared(16 << 20, &Options::default()).unwrap();
    /// let number = heap.boxed(7u64).unwrap();
    /// heap.set_root(&*number as *const u64 as *mut u8);
    /// // A child of fork finds the number by heap.root().
    /// assert_eq!(unsafe { *heap.root().cast::<u64>() }, 7);
    /// ```
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
    ///
    /// ```
    /// # use std::{fs, fs::OpenOptions, os::unix::io::AsRawFd};
    /// # use ashlar::{Heap, Options};
    /// # let path = std::env::temp_dir().join(format!("ashlar-create-{}", std::process::id()));
    /// let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path).unwrap();
    /// # fs::remove_file(&path).unwrap();
    /// // No other process has the file.
    /// let heap = unsafe { Heap::create_file(file.as_raw_fd(), 16 << 20, &Options::default()) }.unwrap();
    /// assert_eq!(*heap.boxed(7).unwrap(), 7);
    /// ```
    pub unsafe fn create_file(fd: i32, capacity: usize, options: &Options) -> Option<Heap> {
        Heap::from_raw(unsafe { sys::ash_heap_create_file(fd, capacity, &options.raw()) })
    }

    /// Attaches to the heap in the file, and recovers it if processes died in it.
    ///
    /// # Safety
    ///
    /// As for [`create_file`](Heap::create_file).  The file is checked, but a forged one can
    /// make safe code read and write anything: no other user could write to it.
    ///
    /// ```
    /// # use std::{fs, fs::OpenOptions, os::unix::io::AsRawFd};
    /// # use ashlar::{Heap, Options};
    /// # let path = std::env::temp_dir().join(format!("ashlar-attach-{}", std::process::id()));
    /// let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path).unwrap();
    /// # fs::remove_file(&path).unwrap();
    /// unsafe {
    ///     // No other process has the file.
    ///     let heap = Heap::create_file(file.as_raw_fd(), 16 << 20, &Options::default()).unwrap();
    ///     heap.set_root(heap.boxed(77u64).ok().unwrap().leak() as *mut u64 as *mut u8);
    ///     drop(heap);
    ///     // The same or another process, later:
    ///     let heap = Heap::attach_file(file.as_raw_fd()).unwrap();
    ///     assert_eq!(*heap.root().cast::<u64>(), 77);
    /// }
    /// ```
    pub unsafe fn attach_file(fd: i32) -> Result<Heap, AttachError> {
        let mut why = 0;

        Heap::from_raw(unsafe { sys::ash_heap_attach_file(fd, &mut why) }).ok_or_else(|| AttachError::of(why))
    }

    /// Attaches to the heap in the file, or creates one if the file is empty.
    ///
    /// # Safety
    ///
    /// As for [`attach_file`](Heap::attach_file).
    ///
    /// ```
    /// # use std::{fs, fs::OpenOptions, os::unix::io::AsRawFd};
    /// # use ashlar::{Heap, Options};
    /// # let path = std::env::temp_dir().join(format!("ashlar-open-{}", std::process::id()));
    /// let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path).unwrap();
    /// # fs::remove_file(&path).unwrap();
    /// for blocks in 0..3 {
    ///     // No other process has the file.
    ///     let heap = unsafe { Heap::open_file(file.as_raw_fd(), 16 << 20, &Options::default()) }.unwrap();
    ///     assert_eq!(heap.stats().blocks, blocks);
    ///     heap.boxed(7).unwrap().leak();
    /// }
    /// ```
    pub unsafe fn open_file(fd: i32, capacity: usize, options: &Options) -> Result<Heap, AttachError> {
        let mut why = 0;

        Heap::from_raw(unsafe { sys::ash_heap_open_file(fd, capacity, &options.raw(), &mut why) })
            .ok_or_else(|| AttachError::of(why))
    }

    /// A block for this layout, with undefined contents; it stays until it is released or the
    /// heap is dropped.  None: no memory, or the heap is full.  Size 0 gives a block, too.
    ///
    /// ```
    /// use std::alloc::Layout;
    ///
    /// let heap = ashlar::Heap::new().unwrap();
    /// let layout = Layout::from_size_align(100, 64).unwrap();
    /// let p = heap.alloc(layout).unwrap();
    /// assert_eq!(p.as_ptr() as usize % 64, 0);
    /// unsafe { heap.release(p, layout) };
    /// ```
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
    ///
    /// ```
    /// use std::alloc::Layout;
    ///
    /// let heap = ashlar::Heap::new().unwrap();
    /// let p = heap.alloc_zeroed(Layout::new::<[u64; 10]>()).unwrap().cast::<[u64; 10]>();
    /// assert_eq!(unsafe { *p.as_ptr() }, [0; 10]);
    /// ```
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
    ///
    /// ```
    /// use std::alloc::Layout;
    ///
    /// let heap = ashlar::Heap::new().unwrap();
    /// let layout = Layout::new::<[u8; 100]>();
    /// let p = heap.alloc_zeroed(layout).unwrap();
    /// unsafe {
    ///     let p = heap.resize(p, layout, 10_000).unwrap();
    ///     assert_eq!(*p.as_ptr().add(99), 0);
    ///     heap.release(p, Layout::new::<[u8; 10_000]>());
    /// }
    /// ```
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
    ///
    /// ```
    /// use std::alloc::Layout;
    ///
    /// let heap = ashlar::Heap::new().unwrap();
    /// let p = heap.alloc(Layout::new::<[u8; 100]>()).unwrap();
    /// let larger = unsafe { heap.expand(p, 104) };
    /// assert!(larger == 0 || larger >= 104);
    /// ```
    pub unsafe fn expand(&self, p: NonNull<u8>, size: usize) -> usize {
        unsafe { sys::ash_heap_expand(self.raw(), p.as_ptr().cast(), size) }
    }

    /// Releases a block.
    ///
    /// # Safety
    ///
    /// `p` is a live block of this heap with this layout; it is not used from now on.
    ///
    /// ```
    /// use std::alloc::Layout;
    ///
    /// let heap = ashlar::Heap::new().unwrap();
    /// let layout = Layout::new::<[u8; 100]>();
    /// let p = heap.alloc(layout).unwrap();
    /// unsafe { heap.release(p, layout) };
    /// assert_eq!(heap.stats().blocks, 0);
    /// ```
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
    ///
    /// ```
    /// use ashlar::{Heap, Options};
    ///
    /// let heap = Heap::with_options(&Options { cap: 4 << 20, ..Options::default() }).unwrap();
    /// let mut number = heap.boxed(41).unwrap();
    /// *number += 1;
    /// assert_eq!(*number, 42);
    /// // The heap is full for it: the value comes back.
    /// assert!(heap.boxed([7u8; 100_000]).is_ok());
    /// assert_eq!((0..100).filter_map(|_| heap.boxed([7u8; 100_000]).map(|block| block.leak()).err()).next().unwrap()[0], 7);
    /// ```
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
    ///
    /// ```
    /// let heap = ashlar::Heap::new().unwrap();
    /// drop(heap.boxed([1u8; 100_000]));
    /// heap.trim(0);
    /// assert_eq!(heap.stats().dirty, 0);
    /// ```
    pub fn trim(&self, keep: usize) -> usize {
        unsafe { sys::ash_heap_trim(self.raw(), keep) }
    }

    /// Figures of the heap, counted during the call.
    ///
    /// ```
    /// let heap = ashlar::Heap::new().unwrap();
    /// let numbers = [heap.boxed(1).unwrap(), heap.boxed(2).unwrap()];
    /// assert_eq!(heap.stats().blocks, numbers.len());
    /// ```
    pub fn stats(&self) -> Statistics {
        let mut out = Statistics::default();

        unsafe { sys::ash_heap_stats(self.raw(), &mut out) };
        out
    }

    /// As [`Ashlar::check`](crate::Ashlar::check).
    ///
    /// ```
    /// let heap = ashlar::Heap::new().unwrap();
    /// assert_eq!(heap.check(), 0);
    /// ```
    pub fn check(&self) -> i32 {
        unsafe { sys::ash_heap_check(self.raw()) }
    }

    /// As [`Ashlar::thread_detach`](crate::Ashlar::thread_detach), for this heap.
    ///
    /// ```
    /// let heap = ashlar::Heap::new().unwrap();
    /// std::thread::scope(|s| {
    ///     s.spawn(|| {
    ///         heap.boxed(7).unwrap();
    ///         heap.thread_detach();
    ///     });
    /// });
    /// ```
    pub fn thread_detach(&self) {
        unsafe { sys::ash_heap_thread_detach(self.raw()) }
    }

    /// The pointer by which processes find their data in a shared heap; null at first.
    ///
    /// ```
    /// use ashlar::{Heap, Options};
    ///
    /// let heap = Heap::shared(16 << 20, &Options::default()).unwrap();
    /// assert!(heap.root().is_null());
    /// ```
    pub fn root(&self) -> *mut u8 {
        unsafe { sys::ash_heap_root(self.raw()) }.cast()
    }

    /// Sets it, with release order.
    ///
    /// ```
    /// use ashlar::{Heap, Options};
    ///
    /// let heap = Heap::shared(16 << 20, &Options::default()).unwrap();
    /// let number = heap.boxed(7u64).unwrap().leak();
    /// heap.set_root(number as *mut u64 as *mut u8);
    /// assert_eq!(unsafe { *heap.root().cast::<u64>() }, 7);
    /// ```
    pub fn set_root(&self, root: *mut u8) {
        unsafe { sys::ash_heap_set_root(self.raw(), root.cast()) }
    }

    /// Takes over what ended threads and processes held besides their blocks; returns the number
    /// of owner records.
    ///
    /// ```
    /// use ashlar::{Heap, Options};
    ///
    /// let heap = Heap::shared(16 << 20, &Options::default()).unwrap();
    /// std::thread::scope(|s| {
    ///     s.spawn(|| heap.boxed(7).unwrap().leak());
    /// });
    /// heap.recover();
    /// assert_eq!(heap.stats().blocks, 1);
    /// ```
    pub fn recover(&self) -> usize {
        unsafe { sys::ash_heap_recover(self.raw()) }
    }

    /// Releases every block of a process that has ended; returns their number.
    ///
    /// # Safety
    ///
    /// These blocks are not used from now on, and no other thread releases them meanwhile.
    ///
    /// ```
    /// use ashlar::{Heap, Options};
    ///
    /// let heap = Heap::shared(16 << 20, &Options::default()).unwrap();
    /// heap.boxed(7).unwrap().leak();
    /// // No process with this number had blocks in the heap.
    /// assert_eq!((unsafe { heap.release_owner(12_345) }, heap.stats().blocks), (0, 1));
    /// ```
    pub unsafe fn release_owner(&self, owner: u64) -> usize {
        unsafe { sys::ash_heap_release_owner(self.raw(), owner) }
    }

    /// The heap for functions of ashlar_heap.h that are not here.
    ///
    /// ```
    /// use std::ffi::c_void;
    ///
    /// extern "C" {
    ///     fn ash_heap_check(heap: *mut c_void) -> i32;
    /// }
    ///
    /// let heap = ashlar::Heap::new().unwrap();
    /// assert_eq!(unsafe { ash_heap_check(heap.as_ptr()) }, 0);
    /// ```
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
