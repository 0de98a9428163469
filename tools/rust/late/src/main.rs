// SPDX-License-Identifier: MIT
//! Loads as many fillers as find place, then the library, and calls it in threads:
//!
//!     late LIBRARY FILLER...
//!
//! A filler is a shared object with thread-local storage of the kind that must be there from a thread's start on, so that
//! afterwards the loader has none of it left.  Each is a file of its own.

use std::ffi::{CStr, CString};
use std::os::raw::{c_char, c_int, c_void};
use std::thread;

extern "C" {
    fn dlopen(name: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlerror() -> *const c_char;
}

const RTLD_NOW: c_int = 2;

/// Returns the library, or the loader's words.
fn load(name: &str) -> Result<*mut c_void, String> {
    let name = CString::new(name).unwrap();

    unsafe {
        let library = dlopen(name.as_ptr(), RTLD_NOW);
        if library.is_null() {
            return Err(CStr::from_ptr(dlerror()).to_string_lossy().into_owned());
        }
        Ok(library)
    }
}

fn function(library: *mut c_void, name: &str) -> *mut c_void {
    let name = CString::new(name).unwrap();
    let function = unsafe { dlsym(library, name.as_ptr()) };

    assert!(!function.is_null());
    function
}

fn main() {
    let names: Vec<String> = std::env::args().skip(1).collect();
    let (library, fillers) = names.split_first().expect("the library and the fillers");
    let filled = fillers.iter().take_while(|filler| load(filler).is_ok()).count();

    assert!(filled > 0 && filled < fillers.len(), "{} of {} fillers found place", filled, fillers.len());
    let library = load(library).unwrap_or_else(|error| {
        println!("{}", error);
        std::process::exit(2);
    });
    let (words, records): (extern "C" fn(u32) -> i64, extern "C" fn() -> usize) =
        unsafe { (std::mem::transmute(function(library, "late_words")), std::mem::transmute(function(library, "late_records"))) };
    for _ in 0..50 {
        let threads: Vec<_> = (0..4).map(|_| thread::spawn(move || words(5000))).collect();
        assert!(threads.into_iter().all(|thread| thread.join().unwrap() == 997));
    }
    assert_eq!(words(500), 500);
    // 200 threads have ended, and none kept a record.
    println!("997 words in each of 200 threads, {} records", if records() <= 5 { "at most 5".into() } else { records().to_string() });
}
