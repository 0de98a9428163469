// SPDX-License-Identifier: MIT
//! Heap profiles of the running program, with the feature `profile`: which stacks allocated the memory that is live.
//!
//! Samples are taken from the start of the program on, one for 512 KiB of allocations of the default heap in the mean.
//! [`write`] writes a profile at any time, for example as the answer of a server to a request:
//!
//! ```
//! use ashlar::{profile, Ashlar};
//!
//! #[global_allocator]
//! static A: Ashlar = Ashlar;
//!
//! let live: Vec<Vec<u8>> = (0..100).map(|_| vec![1; 1 << 20]).collect();
//! let mut text = String::new();
//! profile::write(&mut text).unwrap();
//! assert!(text.starts_with("heap profile: ") && text.contains("MAPPED_LIBRARIES:"));
//! assert_eq!(live.len(), 100);
//! ```
//!
//! The text is gperftools' format of heap profiles, which both pprofs read; they find the functions' names in the
//! program's file: `pprof -http=: PROGRAM FILE`.  Stacks begin at the caller of Ashlar, if clang compiled it.
//!
//! The feature needs a program with std, for its unwinder and its C library.  A sample costs one walk of the stack by
//! unwind tables, and 21 MiB of `.bss` are there for the samples, which are touched only where they are used.

use core::ffi::c_void;
use core::fmt::{self, Write};
use core::ptr;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

/// The mean distance of samples in bytes, until it is changed.
///
/// ```
/// assert_eq!(ashlar::profile::DISTANCE, 512 << 10);
/// ```
pub const DISTANCE: usize = 512 << 10;

const DISTANCE_MOST: usize = 1 << 40;
const STACK_MOST: usize = 64;
/// Blocks above this size are of one site, whatever their sizes.
const SPAN_ABOVE: usize = 1 << 20;

/// The start of a `struct site` of tools/profile/profile.h; `depth` return addresses follow.
#[repr(C)]
struct Site {
    hash: u64,
    size: usize,
    depth: u64,
    all: AtomicU64,
    all_bytes: AtomicU64,
    live: AtomicU64,
    live_bytes: AtomicU64,
}

// c/profile: the sites, which are never removed, the live samples, and where Ashlar's code is.
extern "C" {
    static sites_lost: AtomicU64;
    fn site_of(stack: *const usize, depth: u32, size: usize) -> u32;
    fn site_at(number: u32) -> *const Site;
    fn site_next(place: *mut u32) -> *const Site;
    fn live_add(p: *const c_void, size: usize, site: u32) -> bool;
    fn live_remove(p: *const c_void, size: *mut usize) -> u32;
    fn profile_is_ours(address: usize) -> bool;
}

// ashlar_sample.h
extern "C" {
    fn ash_sample_every(distance: usize);
}

// The unwinder that std brings, and the C library.
extern "C" {
    fn _Unwind_Backtrace(step: extern "C" fn(*mut c_void, *mut c_void) -> i32, to: *mut c_void) -> i32;
    fn _Unwind_GetIP(frame: *mut c_void) -> usize;
    fn _Unwind_GetRegionStart(frame: *mut c_void) -> usize;
    fn open(path: *const u8, flags: i32, ...) -> i32;
    fn read(fd: i32, out: *mut u8, size: usize) -> isize;
    fn close(fd: i32) -> i32;
}

const O_CLOEXEC: i32 = 0o2000000;
const GO_ON: i32 = 0;
const STOP: i32 = 4;

/// The distance of the profile; what the library samples by is that, or 0.
static DISTANCE_NOW: AtomicUsize = AtomicUsize::new(DISTANCE);

/// Return addresses, innermost first.
struct Stack {
    addresses: [usize; STACK_MOST],
    depth: usize,
    place: Place,
}

/// Where a walk of the stack is.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Hook,
    Library,
    Program,
}

extern "C" fn step(frame: *mut c_void, to: *mut c_void) -> i32 {
    let stack = unsafe { &mut *to.cast::<Stack>() };
    let address = unsafe { _Unwind_GetIP(frame) };

    // The frames of the hook and of the library are not the program's.
    let is_hook = || unsafe { _Unwind_GetRegionStart(frame) } == ash_on_sample as *const () as usize;
    if stack.place != Place::Program && (unsafe { profile_is_ours(address) } || is_hook()) {
        (stack.depth, stack.place) = (0, Place::Library);
        return GO_ON;
    }
    if stack.place == Place::Library {
        stack.place = Place::Program;
    }
    if address == 0 || stack.depth == STACK_MOST {
        return STOP;
    }
    stack.addresses[stack.depth] = address;
    stack.depth += 1;
    GO_ON
}

/// The library's hook: a block is a sample.
#[no_mangle]
extern "C" fn ash_on_sample(p: *mut c_void, size: usize) {
    let mut stack = Stack { addresses: [0; STACK_MOST], depth: 0, place: Place::Hook };

    unsafe {
        _Unwind_Backtrace(step, ptr::addr_of_mut!(stack).cast());
        let site = site_of(stack.addresses.as_ptr(), stack.depth as u32, if size > SPAN_ABOVE { 0 } else { size });
        if site == 0 || !live_add(p, size, site) {
            sites_lost.fetch_add(1, Relaxed);
            return;
        }
        let site = &*site_at(site);
        site.all.fetch_add(1, Relaxed);
        site.all_bytes.fetch_add(size as u64, Relaxed);
        site.live.fetch_add(1, Relaxed);
        site.live_bytes.fetch_add(size as u64, Relaxed);
    }
}

/// The library's hook: a block is about to be released, which may be a sample.
#[no_mangle]
extern "C" fn ash_on_sample_release(p: *mut c_void) {
    let mut size = 0;

    unsafe {
        let site = live_remove(p, &mut size);
        if site != 0 {
            let site = &*site_at(site);
            site.live.fetch_sub(1, Relaxed);
            site.live_bytes.fetch_sub(size as u64, Relaxed);
        }
    }
}

/// Sets the mean distance of samples in bytes, at most 2^40; 0 stops sampling.  A profile has one distance for all its
/// samples: change the distance in the first lines of `main`, and later only to 0.
///
/// ```
/// ashlar::profile::set_distance(64 << 10);
/// ```
pub fn set_distance(distance: usize) {
    let distance = distance.min(DISTANCE_MOST);

    if distance != 0 {
        DISTANCE_NOW.store(distance, Relaxed);
    }
    unsafe { ash_sample_every(distance) }
}

/// Live samples and bytes, and all so far.
#[derive(Default)]
struct Figures([u64; 4]);

impl Figures {
    fn of(site: &Site) -> Figures {
        Figures([&site.live, &site.live_bytes, &site.all, &site.all_bytes].map(|figure| figure.load(Relaxed)))
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [live, live_bytes, all, all_bytes] = self.0;

        write!(f, "{}: {} [{}: {}] @", live, live_bytes, all, all_bytes)
    }
}

/// All sites, in no order.
fn sites() -> impl Iterator<Item = &'static Site> {
    let mut place = 0;

    core::iter::from_fn(move || unsafe { site_next(&mut place).as_ref() })
}

/// Where the code is: pprof finds functions by this.
fn write_mappings(out: &mut impl Write) -> fmt::Result {
    let fd = unsafe { open(b"/proc/self/maps\0".as_ptr(), O_CLOEXEC) };
    let mut bytes = [0; 512];
    let mut result = out.write_str("\nMAPPED_LIBRARIES:\n");

    while fd >= 0 && result.is_ok() {
        let length = unsafe { read(fd, bytes.as_mut_ptr(), bytes.len()) };
        if length <= 0 {
            break;
        }
        // Names of files may have any bytes; pprof needs those of the ASCII ones.
        result = bytes[..length as usize].iter().try_for_each(|byte| out.write_char(*byte as char));
    }
    if fd >= 0 {
        unsafe { close(fd) };
    }
    result
}

/// Writes a profile of the memory that is live now.  Any thread may call the function at any time; other threads go on.
/// What `out` allocates may be in the profile.
///
/// ```
/// let mut text = String::new();
/// ashlar::profile::write(&mut text).unwrap();
/// let path = std::env::temp_dir().join("ashlar.heap");
/// std::fs::write(&path, text).unwrap();
/// # std::fs::remove_file(path).unwrap();
/// ```
pub fn write(out: &mut impl Write) -> fmt::Result {
    let mut sum = Figures::default();

    for site in sites() {
        let now = Figures::of(site);
        sum.0.iter_mut().zip(now.0).for_each(|(sum, one)| *sum += one);
    }
    writeln!(out, "heap profile: {} heap_v2/{}", sum, DISTANCE_NOW.load(Relaxed))?;
    for site in sites() {
        let now = Figures::of(site);
        if now.0[2] == 0 {
            continue;
        }
        write!(out, "{}", now)?;
        let addresses = unsafe { core::slice::from_raw_parts((site as *const Site).add(1).cast::<usize>(), site.depth as usize) };
        for address in addresses {
            write!(out, " {:#x}", address)?;
        }
        out.write_char('\n')?;
    }
    let lost = unsafe { sites_lost.load(Relaxed) };
    if lost != 0 {
        writeln!(out, "# samples for which there was no room: {}", lost)?;
    }
    write_mappings(out)
}
