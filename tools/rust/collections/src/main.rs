// SPDX-License-Identifier: MIT
//! A map of sets, all in a heap of their own; another map in the default heap.

use ashlar::{Ashlar, Heap};
use hashbrown::{DefaultHashBuilder, HashMap, HashSet};

fn main() {
    let heap = Heap::new().unwrap();
    let mut sets = HashMap::new_in(&heap);
    let mut sums = HashMap::new_in(Ashlar);

    for i in 0..100_000u64 {
        sets.entry(i % 1000).or_insert_with(|| HashSet::<u64, DefaultHashBuilder, &Heap>::new_in(&heap)).insert(i);
        *sums.entry(i % 7).or_insert(0) += i;
    }
    let members: usize = sets.values().map(HashSet::len).sum();
    let blocks = heap.stats().blocks;
    drop(sets);
    println!("{} members in {} blocks, then {}; {} sums", members, blocks, heap.stats().blocks, sums.len());
    assert_eq!((heap.check(), Ashlar.check(), sums.values().sum::<u64>()), (0, 0, 4_999_950_000));
}
