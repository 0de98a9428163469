#!/bin/sh
# SPDX-License-Identifier: MIT
# Rust without a libc, by the crate origin of crates.io (tools/rust/origin): with Ashlar it links
# and runs; with the mimalloc crate it does not link, for want of a C library.
. tools/programs/common.sh

target=x86_64-unknown-linux-gnu
minor=$(rustc --version 2>/dev/null | sed 's/^rustc 1\.\([0-9]*\).*/\1/')
if ! have cargo clang ld.lld || [ "${minor:-0}" -lt 85 ] || [ "$(uname -m)" != x86_64 ]; then
	skip 'origin: no cargo of Rust 1.85, or no clang, or this is no x86_64'
	exit 0
fi
[ -f "$build/amalgamation/ashlar.c" ] && OFFLINE=1 BUILD=$build sh tools/rust/stage "$build/crate" || exit 1
cd "$build/origin" || exit 1
# Those of make, which cargo's own builds would take for theirs.
unset MAKEFLAGS MFLAGS
if ! quiet timeout 60 cargo fetch --quiet --target $target; then
	skip 'origin: nothing to be had from crates.io'
	exit 0
fi
flags='-C linker=clang -C relocation-model=static -C target-feature=+crt-static'
for each in -fuse-ld=lld -nostdlib -static; do
	flags="$flags -C link-arg=$each"
done
program=target/$target/release/by-origin

# build ALLOCATOR
build_with() {
	rm -f $program
	RUSTFLAGS=$flags CARGO_TERM_COLOR=never quiet timeout "$limit" cargo build --offline --release --target $target --features "$1"
}
build_with ashlar && quiet plain ./$program
verdict 'origin: a program with Ashlar, with threads, and without a libc'
# Weak names are of a C library, which the allocator uses where a program has one. _DYNAMIC is origin's: it looks
# whether it must relocate itself.
nm -u $program | grep -Ev ' w (pthread_.*|__errno_location|munmap|madvise|mremap|gnu_get_libc_version|_IO_stdin_used)$|_DYNAMIC$' >"$folder/out"
[ -f $program ] && [ ! -s "$folder/out" ] && ! readelf -lW $program | grep -q INTERP
verdict "origin: it is static, needs no symbol, and has $(wc -c <$program) bytes"
! build_with mimalloc && grep -q 'undefined symbol: pthread_mutex_lock' "$folder/errors"
verdict "origin: with the mimalloc crate $(grep -c 'undefined symbol: ' "$folder/errors") symbols are undefined"
exit "$status"
