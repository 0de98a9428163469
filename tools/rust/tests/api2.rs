// SPDX-License-Identifier: MIT
//! The feature `allocator-api2`: collections in the default heap and in heaps as objects.
#![cfg(feature = "allocator-api2")]

use std::alloc::Layout;

use allocator_api2::alloc::Allocator;
use allocator_api2::boxed::Box;
use allocator_api2::vec::Vec;
use ashlar::{Ashlar, Heap, Options};

fn layout(size: usize, align: usize) -> Layout {
    Layout::from_size_align(size, align).unwrap()
}

/// Each change of a layout keeps the contents, and leaves no block behind.
fn changes(heap: impl Allocator, blocks: impl Fn() -> usize) {
    const ALIGNMENTS: [usize; 5] = [1, 8, 16, 64, 4096];
    const SIZES: [usize; 6] = [0, 1, 16, 100, 3000, 40_000];
    let before = blocks();

    for from in SIZES.iter().flat_map(|size| ALIGNMENTS.map(|align| layout(*size, align))) {
        for to in SIZES.iter().flat_map(|size| ALIGNMENTS.map(|align| layout(*size, align))) {
            let p = heap.allocate_zeroed(from).unwrap();

            assert_eq!((p.len(), p.cast::<u8>().as_ptr() as usize % from.align()), (from.size(), 0));
            unsafe {
                let p = p.cast::<u8>();

                assert!((0..from.size()).all(|i| *p.as_ptr().add(i) == 0));
                (0..from.size()).for_each(|i| *p.as_ptr().add(i) = i as u8);
                let q = if to.size() >= from.size() { heap.grow(p, from, to) } else { heap.shrink(p, from, to) }.unwrap();
                assert_eq!((q.len(), q.cast::<u8>().as_ptr() as usize % to.align()), (to.size(), 0));
                let q = q.cast::<u8>();
                assert!((0..from.size().min(to.size())).all(|i| *q.as_ptr().add(i) == i as u8));
                let more = layout(to.size() * 2, to.align());
                let r = heap.grow_zeroed(q, to, more).unwrap().cast::<u8>();
                assert!((to.size()..more.size()).all(|i| *r.as_ptr().add(i) == 0));
                heap.deallocate(r, more);
            }
        }
    }
    assert_eq!(blocks(), before);
    assert!(heap.allocate(layout(isize::MAX as usize & !4095, 4096)).is_err());
}

#[test]
fn of_the_default_heap() {
    changes(Ashlar, || Ashlar.stats().blocks);
    assert_eq!(Ashlar.check(), 0);
}

#[test]
fn of_a_heap() {
    let heap = Heap::new().unwrap();

    changes(&heap, || heap.stats().blocks);
    assert_eq!(heap.check(), 0);
}

#[test]
fn collections() {
    let heap = Heap::new().unwrap();
    let mut lists = Vec::new_in(&heap);

    for i in 0..1000u32 {
        let mut list = Vec::new_in(&heap);
        list.extend(0..i % 50);
        lists.push(Box::new_in(list, &heap));
    }
    lists.shrink_to_fit();
    assert!(lists.iter().enumerate().all(|(i, list)| list.iter().copied().eq(0..i as u32 % 50)));
    // The list of lists, each box, and each list that is not empty.
    assert_eq!(heap.stats().blocks, 1 + 1000 + 980);
    drop(lists);
    assert_eq!((heap.stats().blocks, heap.check()), (0, 0));
}

#[test]
fn a_collection_has_its_heap() {
    let heap = Heap::with_options(&Options { cap: 8 << 20, ..Options::default() }).unwrap();
    let mut numbers = Vec::new_in(heap);

    numbers.extend(0..10_000u64);
    let mut moved = std::boxed::Box::new(numbers);
    moved.extend(0..10_000);
    assert_eq!((moved.iter().sum::<u64>(), moved.allocator().stats().blocks), (99_990_000, 1));
    // The heap is full: an error, and the contents are as they were.
    assert!(moved.try_reserve(2 << 20).is_err());
    assert_eq!(moved.len(), 20_000);
}
