// SPDX-License-Identifier: MIT
//! Rust without a libc, by the crate `origin` (program start and threads): strings, maps and
//! threads over the allocator that a feature chooses.  Of the two, only Ashlar needs no libc.
#![no_std]
#![no_main]

extern crate alloc;

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ffi::c_void;
use core::ptr::NonNull;

use origin::{program, thread};

#[cfg(feature = "ashlar")]
#[global_allocator]
static A: ashlar::Ashlar = ashlar::Ashlar;
#[cfg(feature = "mimalloc")]
#[global_allocator]
static A: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    program::trap()
}

/// The ready-made alloc is for unwinding; here nothing unwinds.
#[no_mangle]
extern "C" fn rust_eh_personality() {}

/// Releases what main allocated, and allocates what main releases.
unsafe fn body(arguments: &mut [Option<NonNull<c_void>>]) -> Option<NonNull<c_void>> {
    let list = unsafe { arguments[0].unwrap().cast::<Vec<String>>().as_mut() };

    for (i, text) in list.iter_mut().enumerate() {
        *text = format!("{}{}", text, i);
    }
    None
}

#[no_mangle]
unsafe fn origin_main(_argc: usize, _argv: *mut *mut u8, _envp: *mut *mut u8) -> i32 {
    let mut lists: Vec<Box<Vec<String>>> =
        (0..4).map(|k| Box::new((0..1000).map(|i| format!("{}.", i * k)).collect())).collect();
    let threads: Vec<_> = lists
        .iter_mut()
        .map(|list| {
            let argument = NonNull::from(&mut **list).cast();

            unsafe { thread::create(body, &[Some(argument)], thread::default_stack_size(), thread::default_guard_size()) }
                .unwrap()
        })
        .collect();
    for each in threads {
        unsafe { thread::join(each) };
    }
    let mut count = BTreeMap::new();
    for text in lists.iter().flat_map(|list| list.iter()) {
        *count.entry(text.clone()).or_insert(0u32) += 1;
    }
    // 3997 texts, 4000 in all
    (count.len() != 3997 || count.values().sum::<u32>() != 4000) as i32
}
