#!/bin/sh
# SPDX-License-Identifier: MIT
# libashlar-core.a and the amalgamation with ASHLAR_SYSTEM: no system call, one name from the
# program; and the variants of the amalgamation pass their tests on the system of
# tests/system/array.c (build/tests/system has the archive's).
. tests/support/verdict.sh

# asks OBJECT: its system calls.
asks() {
	objdump -d --no-show-raw-insn "$1" | grep -E '[[:space:]](syscall|sysenter|int +\$0x80|svc|ecall)([[:space:]]|$)'
}
# alone NAME OBJECT
alone() {
	[ "$(nm -u "$2" | grep -v _GLOBAL_OFFSET_TABLE_ | tr -d ' ')" = Uash_system_map ]
	verdict "$1 needs ash_system_map and nothing else"
	! asks "$2" | grep .
	verdict "$1 has no system call"
}

ld.lld -r --whole-archive "$build/libashlar-core.a" -o "$folder/core.o" && alone libashlar-core.a "$folder/core.o"
[ "$(asks "$build/libashlar.a" | wc -l)" -gt 10 ]
verdict 'libashlar.a has some: the pattern is right'

build_flags
aside="$build/runtime.a $build/libashlar_start.a $build/lib/arch/$(uname -m)/memory.o"

# variant FLAGS WORDS OBJECT...: compiled, and its tests with these words.
variant() {
	flags=$1 words=$2
	shift 2
	# shellcheck disable=SC2086 # lists, here and below
	${CC:-clang} -O1 -w -ffreestanding -fno-pie -fno-stack-protector -DASHLAR_SYSTEM $flags \
		-c "$build/amalgamation/ashlar.c" -o "$folder/one.o" && alone "the amalgamation $flags" "$folder/one.o"
	${LINK% -Wl,-u,*} "$build/prog/tests/system/array.o" "$@" "$folder/one.o" \
		$aside -o "$folder/program" && "$folder/program" $words >"$folder/log" 2>&1
	verdict "the amalgamation $flags passes its tests on an array" "$folder/log"
}
variant -DASHLAR_SMALL 'api_' "$build/prog/tests/api/api.o"
exit $status
