// SPDX-License-Identifier: MIT
//! The functions that Ashlar needs of a system, for a program to define (ashlar_system.h).

use core::ptr::NonNull;

/// The system below Ashlar, with the feature `core`: Ashlar then asks Linux for nothing.  A kernel, a unikernel or a
/// program on bare metal implements this trait and names its system by [`system!`](crate::system!).
///
/// Only [`map`](System::map) must be defined.  The functions are called from inside all functions of Ashlar, by any
/// thread, and by signal or interrupt handlers that call Ashlar.  No fast path calls them.
///
/// Beside these functions Ashlar needs 3.3 MiB of `.bss`, which is touched only where it is used, and in each thread
/// thread-local storage as the compiler makes it.  Heaps that processes share are refused.  A thread that ends calls
/// [`thread_detach`](crate::Ashlar::thread_detach), unless [`thread_ended`](System::thread_ended) tells of it.
///
/// All memory of this program is one static array:
///
/// ```
/// use ashlar::{Ashlar, System};
/// use std::cell::UnsafeCell;
/// use std::ptr::NonNull;
/// use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
///
/// const BYTES: usize = 64 << 20;
/// struct Array {
///     memory: UnsafeCell<[u8; BYTES]>,
///     taken: AtomicUsize,
/// }
/// unsafe impl Sync for Array {}
///
/// // Each piece is handed out once, aligned, and reads zero.
/// unsafe impl System for Array {
///     fn map(&self, bytes: usize, alignment: usize) -> Option<NonNull<u8>> {
///         let start = self.memory.get() as usize;
///         let place = |taken: usize| ((start + taken + alignment - 1) & !(alignment - 1)) - start;
///         let next = |taken| Some(place(taken) + bytes).filter(|end| *end <= BYTES);
///         let taken = self.taken.fetch_update(Relaxed, Relaxed, next).ok()?;
///
///         NonNull::new((start + place(taken)) as *mut u8)
///     }
/// }
///
/// ashlar::system! {
///     static SYSTEM: Array = Array { memory: UnsafeCell::new([0; BYTES]), taken: AtomicUsize::new(0) };
/// }
///
/// #[global_allocator]
/// static A: Ashlar = Ashlar;
///
/// let numbers: Vec<u64> = (0..100_000).collect();
/// let start = SYSTEM.memory.get() as usize;
/// assert!((start..start + BYTES).contains(&(numbers.as_ptr() as usize)));
/// assert_eq!(A.check(), 0);
/// ```
///
/// # Safety
///
/// The functions keep what their descriptions promise.  They can be called again while a call of them is interrupted,
/// do not call Ashlar, and do not unwind.
pub unsafe trait System: Sync {
    /// Returns `bytes` of memory that reads zero, for the caller alone, aligned to `alignment`, a power of two; returns
    /// `None` if there is none.  Both numbers are multiples of 4096 (aarch64, riscv64: of 65536).  Ashlar asks for 2 MiB
    /// and multiples, aligned to 2 MiB or more, and for records of at least 32 KiB where no such piece is left.
    fn map(&self, bytes: usize, alignment: usize) -> Option<NonNull<u8>>;

    /// Takes back the whole memory that one call of `map` returned; returns `false` if it did not.
    ///
    /// # Safety
    ///
    /// The caller does not use the memory from now on, unless the function returns `false`.
    unsafe fn unmap(&self, _p: NonNull<u8>, _bytes: usize) -> bool {
        false
    }

    /// Tells that the contents of the range, a part of what `map` returned, are not needed any more.  Returns `true` if
    /// the range reads zero from now on, and `false` if nothing was changed.
    ///
    /// # Safety
    ///
    /// Nobody uses the range during the call.
    unsafe fn purge(&self, _p: NonNull<u8>, _bytes: usize) -> bool {
        false
    }

    /// Returns the id of the calling thread, from 1 to 2^31 - 1, which no other thread has while this thread lives;
    /// returns 0 if the id is unknown.
    fn thread(&self) -> u32 {
        0
    }

    /// Returns `true` if the thread with this id, which is not the caller's, has certainly ended, and everything that it
    /// wrote is visible to the caller.  Called when memory is short.
    fn thread_ended(&self, _thread: u32) -> bool {
        false
    }

    /// Writes the line of a misuse report, with its newline.  The function may end the program; otherwise a trap
    /// instruction does.
    fn write(&self, _line: &[u8]) {}
}

/// Makes a static value the [`System`](crate::System) below Ashlar: once in a program.
///
/// ```
/// struct None;
///
/// // There is no memory, and so there are no blocks.
/// unsafe impl ashlar::System for None {
///     fn map(&self, _bytes: usize, _alignment: usize) -> Option<std::ptr::NonNull<u8>> {
///         Option::None
///     }
/// }
/// ashlar::system! {
///     static SYSTEM: None = None;
/// }
/// assert!(ashlar::Heap::new().is_none());
/// ```
#[macro_export]
macro_rules! system {
    ($(#[$attribute:meta])* $visible:vis static $name:ident: $type:ty = $value:expr;) => {
        $(#[$attribute])*
        $visible static $name: $type = $value;

        const _: () = {
            use ::core::ptr::{null_mut, NonNull};
            use ::core::slice::from_raw_parts;
            use $crate::System;

            #[no_mangle]
            extern "C" fn ash_system_map(bytes: usize, alignment: usize) -> *mut u8 {
                System::map(&$name, bytes, alignment).map_or(null_mut(), NonNull::as_ptr)
            }
            #[no_mangle]
            unsafe extern "C" fn ash_system_unmap(p: NonNull<u8>, bytes: usize) -> bool {
                unsafe { System::unmap(&$name, p, bytes) }
            }
            #[no_mangle]
            unsafe extern "C" fn ash_system_purge(p: NonNull<u8>, bytes: usize) -> bool {
                unsafe { System::purge(&$name, p, bytes) }
            }
            #[no_mangle]
            extern "C" fn ash_system_thread() -> u32 {
                System::thread(&$name)
            }
            #[no_mangle]
            extern "C" fn ash_system_thread_ended(thread: u32) -> bool {
                System::thread_ended(&$name, thread)
            }
            #[no_mangle]
            unsafe extern "C" fn ash_system_write(line: *const u8, length: usize) {
                System::write(&$name, unsafe { from_raw_parts(line, length) })
            }
        };
    };
}
