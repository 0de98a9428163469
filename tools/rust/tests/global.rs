// SPDX-License-Identifier: MIT
//! Ashlar as the global allocator of a program with std and threads.

use std::alloc::{alloc, alloc_zeroed, dealloc, realloc, GlobalAlloc, Layout};
use std::collections::{BTreeMap, HashMap};
use std::sync::mpsc::channel;
use std::thread;

use ashlar::Ashlar;

#[global_allocator]
static A: Ashlar = Ashlar;

/// A pattern by which a block is recognised.
fn fill(p: *mut u8, size: usize, key: usize) {
    for i in 0..size {
        unsafe { *p.add(i) = (i * 31 + key) as u8 };
    }
}

fn holds(p: *const u8, size: usize, key: usize) {
    for i in 0..size {
        assert_eq!(unsafe { *p.add(i) }, (i * 31 + key) as u8, "byte {} of {}", i, size);
    }
}

const ALIGNMENTS: [usize; 9] = [1, 2, 8, 16, 32, 64, 4096, 65536, 4 << 20];
const SIZES: [usize; 7] = [1, 4, 10, 16, 100, 5000, 300_000];

fn layout(size: usize, align: usize) -> Layout {
    Layout::from_size_align(size, align).unwrap()
}

#[test]
fn every_layout() {
    for align in ALIGNMENTS {
        for size in SIZES {
            for to in SIZES {
                unsafe {
                    let p = alloc(layout(size, align));
                    assert!(!p.is_null() && p as usize % align == 0);
                    assert!(A.usable_size(p) >= size);
                    fill(p, size, to);
                    let q = realloc(p, layout(size, align), to);
                    assert!(!q.is_null() && q as usize % align == 0);
                    holds(q, size.min(to), to);
                    dealloc(q, layout(to, align));
                    let z = alloc_zeroed(layout(to, align));
                    assert!(!z.is_null() && z as usize % align == 0);
                    assert!((0..to).all(|i| *z.add(i) == 0));
                    fill(z, to, 1);
                    dealloc(z, layout(to, align));
                }
            }
        }
    }
}

#[test]
fn no_memory_is_null() {
    let much = isize::MAX as usize & !4095;

    for align in [1, 16, 64, 4096] {
        unsafe {
            assert!(alloc(layout(much - 4096, align)).is_null());
            assert!(alloc_zeroed(layout(much - 4096, align)).is_null());
            let p = alloc(layout(100, align));
            fill(p, 100, 3);
            assert!(realloc(p, layout(100, align), much - 4096).is_null());
            holds(p, 100, 3);
            dealloc(p, layout(100, align));
        }
    }
    unsafe { assert!(A.alloc(layout(100, 2 << 30)).is_null()) };
    assert!(Vec::<u8>::new().try_reserve_exact(much - 4096).is_err());
}

#[test]
fn expand() {
    unsafe {
        let p = alloc(layout(100, 8));
        let usable = A.usable_size(p);
        assert_eq!(A.expand(p, usable), usable);
        // A guarded block has room behind its end; the usable bytes of others are all of theirs.
        let larger = A.expand(p, usable + 1);
        assert_eq!(larger, if cfg!(feature = "hardened") { usable + 1 } else { 0 });
        dealloc(p, layout(usable.max(larger), 8));
    }
}

#[repr(align(256))]
#[derive(Clone)]
struct Wide(u8);

#[test]
fn collections() {
    let mut map = BTreeMap::new();
    let mut hash = HashMap::new();
    let wide = vec![Wide(7); 100];

    for i in 0..10_000 {
        map.insert(i, i.to_string());
        hash.insert(i.to_string(), vec![i; i % 50]);
    }
    for i in (0..10_000).step_by(2) {
        assert_eq!(map.remove(&i), Some(i.to_string()));
    }
    assert!(map.iter().all(|(i, text)| i % 2 == 1 && *text == i.to_string()));
    assert!(hash.iter().all(|(text, all)| all.len() == text.parse::<usize>().unwrap() % 50));
    assert!(wide.iter().all(|w| w as *const Wide as usize % 256 == 0 && w.0 == 7));
    let mut large = vec![1u8; 3 << 20];
    large.resize(40 << 20, 2);
    assert!(large[..3 << 20].iter().all(|b| *b == 1) && large[(40 << 20) - 1] == 2);
}

#[test]
fn threads() {
    let (send, receive) = channel::<(usize, Vec<u8>)>();
    let workers: Vec<_> = (0..4)
        .map(|worker| {
            let send = send.clone();

            thread::spawn(move || {
                for i in 0..3000 {
                    let size = (i * 37 + worker * 11) % 2000;
                    send.send((size + worker, vec![(size + worker) as u8; size])).unwrap();
                }
            })
        })
        .collect();

    drop(send);
    let mut blocks = 0;
    for (key, block) in receive {
        assert!(block.iter().all(|b| *b == key as u8));
        blocks += 1;
    }
    workers.into_iter().for_each(|worker| worker.join().unwrap());
    assert_eq!(blocks, 4 * 3000);
    A.thread_detach();
    assert!(A.stats().blocks > 0);
    assert_eq!(A.check(), 0);
}
