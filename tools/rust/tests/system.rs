// SPDX-License-Identifier: MIT
//! The feature `core`: all memory is a static array, and the program tells which threads have ended.  Without the test
//! harness, so that its figures are its own.

#[cfg(not(feature = "core"))]
fn main() {}

#[cfg(feature = "core")]
fn main() {
    program::main()
}

#[cfg(feature = "core")]
mod program {
    use std::cell::UnsafeCell;
    use std::collections::BTreeMap;
    use std::ptr::NonNull;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    use std::thread;

    use ashlar::{Ashlar, Heap, Options, System};

    const BYTES: usize = 256 << 20;

    struct Array {
        memory: UnsafeCell<[u8; BYTES]>,
        taken: AtomicUsize,
        purged: AtomicUsize,
    }
    unsafe impl Sync for Array {}

    extern "C" {
        fn getpid() -> i32;
        fn gettid() -> i32;
        fn tgkill(process: i32, thread: i32, signal: i32) -> i32;
        fn write(fd: i32, bytes: *const u8, length: usize) -> isize;
    }

    unsafe impl System for Array {
        fn map(&self, bytes: usize, alignment: usize) -> Option<NonNull<u8>> {
            let start = self.memory.get() as usize;
            let place = |taken: usize| ((start + taken + alignment - 1) & !(alignment - 1)) - start;
            let next = |taken| Some(place(taken) + bytes).filter(|end| *end <= BYTES);
            let taken = self.taken.fetch_update(Relaxed, Relaxed, next).ok()?;

            NonNull::new((start + place(taken)) as *mut u8)
        }

        unsafe fn purge(&self, p: NonNull<u8>, bytes: usize) -> bool {
            unsafe { p.as_ptr().write_bytes(0, bytes) };
            self.purged.fetch_add(bytes, Relaxed);
            true
        }

        fn thread(&self) -> u32 {
            unsafe { gettid() as u32 }
        }

        fn thread_ended(&self, thread: u32) -> bool {
            // ESRCH is the only failure for a signal 0 to a thread of the process.
            unsafe { tgkill(getpid(), thread as i32, 0) != 0 }
        }

        fn write(&self, line: &[u8]) {
            unsafe { write(2, line.as_ptr(), line.len()) };
        }
    }

    ashlar::system! {
        /// The machine.
        pub static SYSTEM: Array =
            Array { memory: UnsafeCell::new([0; BYTES]), taken: AtomicUsize::new(0), purged: AtomicUsize::new(0) };
    }

    #[global_allocator]
    static A: Ashlar = Ashlar;

    fn is_inside<T>(p: *const T) -> bool {
        let start = SYSTEM.memory.get() as usize;

        (start..start + BYTES).contains(&(p as usize))
    }

    pub fn main() {
        let texts: BTreeMap<u32, String> = (0..10_000).map(|i| (i, i.to_string())).collect();
        assert!(texts.values().all(|text| is_inside(text.as_ptr())));

        // Threads that come and go: the array would be full if each kept its record.
        for _ in 0..2000 {
            let lists = thread::spawn(|| (0..100).map(|i| vec![0u8; i * 10]).collect::<Vec<_>>()).join().unwrap();
            assert!(lists.iter().skip(1).all(|list| is_inside(list.as_ptr())));
        }
        let owners = A.stats().owners;
        assert!(owners < 2000, "{}", owners);

        let heap = Heap::new().unwrap();
        assert!(is_inside(&*heap.boxed(7).unwrap()));
        drop(vec![1u8; 20 << 20]);
        A.trim(0);
        assert!(SYSTEM.purged.load(Relaxed) >= 20 << 20);
        // Memory that was purged reads zero, and is handed out again.
        let taken = SYSTEM.taken.load(Relaxed);
        assert!(vec![0u8; 20 << 20].iter().all(|byte| *byte == 0));
        assert_eq!(SYSTEM.taken.load(Relaxed), taken);
        // The array is full.
        assert!(Vec::<u8>::new().try_reserve_exact(BYTES).is_err());
        assert!(Heap::shared(16 << 20, &Options::default()).is_none());
        assert_eq!((A.check(), heap.check()), (0, 0));
        println!("{} owner records: ok", if owners < 100 { "few".into() } else { owners.to_string() });
    }
}
