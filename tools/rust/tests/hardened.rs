// SPDX-License-Identifier: MIT
//! The feature `hardened`: misuse that ends the program, each in a process of its own.
#![cfg(feature = "hardened")]

use std::alloc::{alloc, dealloc, Layout};
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

use ashlar::Ashlar;

#[global_allocator]
static A: Ashlar = Ashlar;

const CASE: &str = "ASHLAR_TEST_CASE";
const SIGABRT: i32 = 6;
const SIZE: Layout = Layout::new::<[u8; 40]>();

/// Runs the misuse in a child, which is this program with this test alone, and looks for the words in its last line.
fn ends(test: &str, words: &str, misuse: unsafe fn()) {
    if std::env::var_os(CASE).is_some() {
        unsafe { misuse() };
        return;
    }
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(CASE, test)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&child.stderr);

    assert_eq!(child.status.signal(), Some(SIGABRT), "{}", text);
    assert!(text.contains(words), "{}", text);
}

#[test]
fn behind_its_end() {
    ends("behind_its_end", "written behind its end", || unsafe {
        let p = alloc(SIZE);

        p.add(SIZE.size()).write_volatile(1);
        dealloc(p, SIZE);
    });
}

#[test]
fn after_its_release() {
    ends("after_its_release", "written after its release", || unsafe {
        let p = alloc(SIZE);

        dealloc(p, SIZE);
        p.write_volatile(1);
        // Each free slot comes in turn.
        for _ in 0..20_000 {
            dealloc(alloc(SIZE), SIZE);
        }
    });
}

#[test]
fn released_twice() {
    ends("released_twice", "double free", || unsafe {
        let p = alloc(SIZE);

        dealloc(p, SIZE);
        for _ in 0..20 {
            dealloc(alloc(SIZE), SIZE);
        }
        dealloc(p, SIZE);
    });
}

#[test]
fn sizes_are_exact() {
    unsafe {
        for size in [1, 24, 100, 5000, 300_000] {
            let layout = Layout::from_size_align(size, 1).unwrap();
            let p = alloc(layout);

            assert_eq!(A.usable_size(p), size);
            dealloc(p, layout);
        }
    }
    assert_eq!(A.check(), 0);
}
