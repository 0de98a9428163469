// SPDX-License-Identifier: MIT
//! Rust without std and without a libc: strings, maps and threads over Ashlar.
#![no_std]
#![no_main]

extern crate alloc;

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ffi::c_void;

use ashlar::{Ashlar, Heap};

#[global_allocator]
static A: Ashlar = Ashlar;

// libashlar_start.a (ashlar_start.h): it calls main, and makes threads with thread-local storage.
extern "C" {
    fn ash_write(fd: i32, bytes: *const u8, length: usize) -> isize;
    fn ash_exit(status: i32) -> !;
    fn ash_thread_start(body: extern "C" fn(*mut c_void), argument: *mut c_void, stack: usize) -> *mut c_void;
    fn ash_thread_join(thread: *mut c_void);
    fn memcmp(a: *const u8, b: *const u8, n: usize) -> i32;
}

/// Rust's comparisons call it.
#[no_mangle]
unsafe extern "C" fn bcmp(a: *const u8, b: *const u8, n: usize) -> i32 {
    unsafe { memcmp(a, b, n) }
}

/// The ready-made alloc is for unwinding; here nothing unwinds.
#[no_mangle]
extern "C" fn rust_eh_personality() {}
#[no_mangle]
extern "C" fn _Unwind_Resume() -> ! {
    unsafe { ash_exit(4) }
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    unsafe { ash_exit(3) }
}

/// Releases what main allocated, and allocates what main releases.
extern "C" fn body(argument: *mut c_void) {
    let all = unsafe { &mut *argument.cast::<Vec<String>>() };

    for (i, text) in all.iter_mut().enumerate() {
        *text = format!("{}{}", text, i);
    }
}

#[no_mangle]
pub extern "C" fn main(_argc: i32, _argv: *const *const u8) -> i32 {
    let mut lists: Vec<Vec<String>> = (0..4).map(|k| (0..1000).map(|i| format!("{}.", i * k)).collect()).collect();
    let threads: Vec<_> = lists
        .iter_mut()
        .map(|list| unsafe { ash_thread_start(body, list as *mut Vec<String> as *mut c_void, 0) })
        .collect();
    for thread in threads {
        unsafe { ash_thread_join(thread) };
    }
    let mut count = BTreeMap::new();
    for text in lists.iter().flatten() {
        *count.entry(text.clone()).or_insert(0u32) += 1;
    }
    let heap = Heap::new().unwrap();
    let length = *heap.boxed(count.len()).unwrap();
    let sum: u32 = count.values().sum();
    drop((lists, count));
    let line = format!("{} texts, {} in all, {}\n", length, sum, A.check());
    unsafe { ash_write(1, line.as_ptr(), line.len()) };
    0
}
