#!/bin/sh
# SPDX-License-Identifier: MIT
# The parts of the Rust crate that need more than Rust: the feature allocator-api2, a program with hashbrown's maps, and
# pprof for a profile.
. tools/programs/common.sh

if ! have cargo clang; then
	skip 'rust: cargo or clang is not here'
	exit 0
fi
there=$build/registry
[ -f "$build/amalgamation/ashlar.c" ] && BUILD=$build sh tools/rust/stage "$there/crate" || exit 1
# Those of make, which cargo's own builds would take for theirs.
unset MAKEFLAGS MFLAGS
export CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=0 CARGO_PROFILE_TEST_DEBUG=0 RUST_BACKTRACE=0 CARGO_TERM_COLOR=never
cd "$there/collections" || exit 1
if ! quiet timeout 60 cargo fetch --quiet; then
	skip 'rust: nothing to be had from crates.io'
	exit 0
fi

quiet timeout "$limit" cargo run --offline --quiet && [ "$(cat "$folder/out")" = '100000 members in 1001 blocks, then 0; 7 sums' ]
verdict "rust: hashbrown's maps in a heap: $(cat "$folder/out")"

# The same version of each crate as above.
cd "$there/crate" || exit 1
cp ../collections/Cargo.lock . && quiet timeout "$limit" cargo test --offline --features allocator-api2 --test api2 &&
	quiet timeout "$limit" cargo test --offline --features allocator-api2 --doc && grep -q '^test src/api2.rs .*Ashlar.* ok' "$folder/out" &&
	! grep -q '^warning' "$folder/errors"
verdict 'rust: Allocator for the default heap and for heaps'

# Go's pprof, which is compiled from Go's sources at its first use, reads the profile and names the function.
if have go && quiet timeout "$limit" go tool -n pprof; then
	quiet timeout "$limit" cargo test --offline --features profile --config profile.test.debug=1 --test profile -- "$folder/rust.heap" &&
		program=$(find "$PWD/target/debug/deps" -name 'profile-*' ! -name '*.d' -newer Cargo.lock | head -n 1) &&
		quiet timeout "$limit" go tool pprof -top -cum -unit=kb -sample_index=inuse_space "$program" "$folder/rust.heap" &&
		awk '$NF ~ /^(.*::)?keeps$/ { kilobytes = $4 + 0 } END { exit kilobytes < 7500 || kilobytes > 13500 }' "$folder/out" &&
		! grep -qE ' (ash_|alloc_class|slot_)' "$folder/out"
	verdict "rust: pprof names what allocates 10 MB: $(grep -E 'keeps$' "$folder/out")"
else
	skip 'rust: pprof: go is not here'
fi
exit "$status"
