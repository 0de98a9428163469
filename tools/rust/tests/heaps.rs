// SPDX-License-Identifier: MIT
//! Heaps as objects.

use std::alloc::Layout;
use std::cell::Cell;
use std::fs::{self, OpenOptions};
use std::mem::{forget, MaybeUninit};
use std::os::unix::io::AsRawFd;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::Arc;
use std::thread;

use ashlar::{AttachError, Heap, Options};

fn memory(bytes: usize) -> Vec<MaybeUninit<u8>> {
    vec![MaybeUninit::uninit(); bytes]
}

/// What each kind of heap can do.
fn works(heap: &Heap) {
    let before = heap.stats().blocks;

    for align in [1usize, 8, 16, 64, 4096] {
        for size in [0usize, 1, 20, 5000] {
            let layout = Layout::from_size_align(size, align).unwrap();
            let larger = Layout::from_size_align(size * 3 + 1, align).unwrap();
            let p = heap.alloc(layout).unwrap();
            assert_eq!(p.as_ptr() as usize % align, 0);
            unsafe {
                p.as_ptr().write_bytes(7, size);
                let p = heap.resize(p, layout, larger.size()).unwrap();
                assert_eq!(p.as_ptr() as usize % align, 0);
                assert!((0..size).all(|i| *p.as_ptr().add(i) == 7));
                heap.release(p, larger);
                let z = heap.alloc_zeroed(layout).unwrap();
                assert!((0..size).all(|i| *z.as_ptr().add(i) == 0));
                assert!(heap.expand(z, size) >= size);
                heap.release(z, layout);
            }
        }
    }
    let mut number = heap.boxed(41).unwrap();
    *number += 1;
    assert_eq!(format!("{:?}", number), "42");
    assert_eq!(number.into_inner(), 42);
    let text = heap.boxed(String::from("a string of the default heap")).unwrap();
    assert_eq!(text.len(), 28);
    drop(text);
    assert_eq!(heap.stats().blocks, before);
    thread::scope(|s| {
        for i in 0..4 {
            s.spawn(move || {
                for k in 0..500 {
                    assert_eq!(*heap.boxed([i; 30]).unwrap(), [i; 30]);
                    assert_eq!(*heap.boxed(k).unwrap(), k);
                }
            });
        }
    });
    assert_eq!(heap.stats().blocks, before);
    assert_eq!(heap.check(), 0);
    assert_eq!(heap.recover() > 1000, false);
    heap.trim(0);
    heap.thread_detach();
}

#[test]
fn private() {
    let heap = Heap::new().unwrap();

    works(&heap);
    let leaked: &mut u64 = heap.boxed(5).unwrap().leak();
    *leaked += 1;
    assert_eq!(*leaked, 6);
    drop(heap); // with a block in it

    let heap = Heap::with_options(&Options { cap: 4 << 20, ..Options::default() }).unwrap();
    let layout = Layout::new::<[u8; 100_000]>();
    let blocks = (0..100).take_while(|_| heap.alloc(layout).is_some()).count();
    assert!((16..42).contains(&blocks));
    let refused = heap.boxed([1u8; 100_000]).unwrap_err();
    assert_eq!(refused[5], 1);
}

#[test]
fn in_slices() {
    let heap = Heap::in_static(Box::leak(memory(1 << 20).into_boxed_slice())).unwrap();
    works(&heap);
    let shared = Arc::new(heap);
    let other = shared.clone();
    thread::spawn(move || assert_eq!(*other.boxed(3).unwrap(), 3)).join().unwrap();
    drop(shared);

    assert!(Heap::in_static(Box::leak(memory(1000).into_boxed_slice())).is_none());
    assert!(Heap::scope(&mut memory(1000), |_| ()).is_none());
    // More often than there can be such heaps at a time: each scope ends its own.
    let mut bytes = memory(200_000);
    for i in 0..1100 {
        assert_eq!(Heap::scope(&mut bytes, |heap| *heap.boxed(i).unwrap()), Some(i));
    }
    Heap::scope(&mut bytes, works).unwrap();
    for _ in 0..1100 {
        let result = catch_unwind(AssertUnwindSafe(|| {
            Heap::scope(&mut bytes, |heap| {
                forget(heap.boxed(1));
                std::panic::resume_unwind(Box::new(0));
            })
        }));
        assert!(result.is_err());
    }
    assert!(Heap::scope(&mut bytes, |_| ()).is_some());
}

/// What is dropped, and when.
#[test]
fn boxes_drop_their_values() {
    struct Counts<'a>(&'a Cell<u32>);

    impl Drop for Counts<'_> {
        fn drop(&mut self) {
            self.0.set(self.0.get() + 1);
        }
    }
    let drops = Cell::new(0);
    let heap = Heap::new().unwrap();
    let one = heap.boxed(Counts(&drops)).ok().unwrap();
    drop(heap.boxed(Counts(&drops)));
    assert_eq!(drops.get(), 1);
    drop(one.into_inner());
    assert_eq!(drops.get(), 2);
    forget(heap.boxed(Counts(&drops)));
    heap.boxed(Counts(&drops)).ok().unwrap().leak();
    assert_eq!((drops.get(), heap.stats().blocks), (2, 2));

    struct Panics;

    impl Drop for Panics {
        fn drop(&mut self) {
            std::panic::resume_unwind(Box::new(0));
        }
    }
    assert!(catch_unwind(AssertUnwindSafe(|| drop(heap.boxed(Panics)))).is_err());
    assert_eq!(heap.stats().blocks, 2); // the block went all the same
}

#[test]
fn shared_by_processes() {
    let heap = Heap::shared(16 << 20, &Options::default()).unwrap();

    works(&heap);
    assert!(heap.root().is_null());
    let seven = heap.boxed(7u64).unwrap();
    heap.set_root(&*seven as *const u64 as *mut u8);
    assert_eq!(unsafe { *heap.root().cast::<u64>() }, 7);
    assert!(Heap::shared(0, &Options::default()).is_none());
}

/// Two processes one after the other could do the same: the heap is detached in between.
#[test]
fn in_a_file() {
    let name = std::env::temp_dir().join(format!("ashlar-{}.heap", std::process::id()));
    let file = OpenOptions::new().read(true).write(true).create(true).open(&name).unwrap();
    let options = Options::default();

    fs::remove_file(&name).unwrap();
    // No other process has the file.
    unsafe {
        assert_eq!(Heap::attach_file(file.as_raw_fd()).unwrap_err(), AttachError::NoHeap);
        let heap = Heap::open_file(file.as_raw_fd(), 16 << 20, &options).unwrap();
        works(&heap);
        let p = heap.alloc(Layout::new::<u64>()).unwrap();
        p.cast::<u64>().as_ptr().write(77);
        heap.set_root(p.as_ptr());
        assert_eq!(Heap::attach_file(file.as_raw_fd()).unwrap_err(), AttachError::Taken);
        drop(heap);
        let heap = Heap::attach_file(file.as_raw_fd()).unwrap();
        assert_eq!(heap.root().cast::<u64>().read(), 77);
        assert_eq!((heap.check(), heap.stats().blocks), (0, 1));
        drop(heap);
        assert!(Heap::create_file(file.as_raw_fd(), 16 << 20, &options).is_none());
        assert!(Heap::create_file(-1, 16 << 20, &options).is_none());
    }
}
