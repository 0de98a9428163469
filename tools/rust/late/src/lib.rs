// SPDX-License-Identifier: MIT
//! The shared object: Ashlar is the allocator of its Rust code, and malloc that of the program.

use std::collections::BTreeMap;

use ashlar::{Ashlar, Heap};

#[global_allocator]
static A: Ashlar = Ashlar;

/// Returns the number of distinct words of a list, or -1 if a check of the heaps fails.  For any thread.
#[no_mangle]
pub extern "C" fn late_words(words: u32) -> i64 {
    let heap = Heap::new().unwrap();
    let mut count = BTreeMap::new();

    for i in 0..words {
        *count.entry((i % 997).to_string()).or_insert(0) += *heap.boxed(1).unwrap();
    }
    if A.check() != 0 || heap.check() != 0 || A.stats().blocks == 0 {
        return -1;
    }
    count.len() as i64
}

/// Returns the number of owner records: of threads that live, or left none behind.
#[no_mangle]
pub extern "C" fn late_records() -> usize {
    A.stats().owners
}
