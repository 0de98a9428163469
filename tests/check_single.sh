#!/bin/sh
# SPDX-License-Identifier: MIT
# The library for one thread has no locked instruction and no thread-local
# storage; neither library needs a symbol from elsewhere.
set -u

build=${BUILD:-build}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# An exchange with memory is locked without saying so; between registers it is not.
locked='[[:space:]](lock|xacquire|xrelease)[[:space:]]|[[:space:]]xchg[a-z]*[[:space:]].*\('
local='%fs|%gs'

subject='single'
. tests/verdict.sh

for library in libashlar libashlar-single; do
	objdump -d --no-show-raw-insn "$build/$library.a" >"$folder/$library" &&
		grep -q 'ash_alloc>:' "$folder/$library"
	verdict "$library.a can be read"
	ld.lld -r --whole-archive "$build/$library.a" -o "$folder/all.o" &&
		nm -u "$folder/all.o" | grep -v '_GLOBAL_OFFSET_TABLE_' >"$folder/undefined"
	[ ! -s "$folder/undefined" ]
	verdict "$library.a needs no symbol from elsewhere"
	sed 's/^/     /' "$folder/undefined"
done

# What is looked for is found in the other library: the patterns are right.
grep -qE "$locked" "$folder/libashlar" && grep -qE "$local" "$folder/libashlar"
verdict 'libashlar.a has locked instructions and thread-local words'
! grep -nE "$locked" "$folder/libashlar-single"
verdict 'libashlar-single.a has no locked instruction'
! grep -nE "$local" "$folder/libashlar-single"
verdict 'libashlar-single.a has no thread-local word'
exit $status
