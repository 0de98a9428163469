// SPDX-License-Identifier: MIT
//! A program of one thread, without the test harness, which starts threads.

use std::collections::BTreeMap;

use ashlar::Ashlar;

#[global_allocator]
static A: Ashlar = unsafe { Ashlar::for_one_thread() }; // nothing here starts a thread

fn main() {
    let map: BTreeMap<_, _> = (0..10_000).map(|i| (i, vec![i as u8; i % 100])).collect();

    assert!(map.iter().all(|(i, v)| v.len() == i % 100 && v.iter().all(|b| *b == *i as u8)));
    assert!(A.stats().blocks > 5000);
    drop(map);
    assert_eq!(A.check(), 0);
    println!("one thread: ok");
}
