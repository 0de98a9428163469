#!/bin/sh
# SPDX-License-Identifier: MIT
# C++: each public header compiles without a warning, and ashlar.hpp works (cxx.cpp), by each
# compiler that is here, in the oldest, a newer and the newest standard, with and without exceptions and RTTI.
. tests/support/verdict.sh

# program NAME COMPILER FLAG...
program() {
	name=$1
	shift
	"$@" -O1 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -I"$build/include" -Icore/include \
		tests/check/cxx.cpp "$build/libashlar.a" -pthread -o "$folder/$name" 2>"$folder/$name.log" &&
		! [ -s "$folder/$name.log" ]
	echo $? >"$folder/$name.status"
}

# works NAME TEXT: what it was built for; none: how it ends without memory.
works() {
	name=$1 text=$2
	[ "$(cat "$folder/$name.status")" = 0 ] && "$folder/$name" >"$folder/$name.log" 2>&1
	verdict "$text" "$folder/$name.log"
	# 134: SIGABRT
	expected=0
	case $text in *exceptions*) expected=134 ;; esac
	(ulimit -c 0; "$folder/$name" none; exit $?) >"$folder/$name.log" 2>&1
	[ $? = $expected ]
	verdict "$text: out of memory"
	(ulimit -c 0; "$folder/$name" wrong; exit $?) >"$folder/$name.log" 2>&1
	[ $? != 0 ] && grep -q '^ashlar: ash_release_sized(0x[0-9a-f]*): wrong size, 32-byte block' "$folder/$name.log"
	verdict "$text: a wrong size is misuse"
}

for compiler in clang++ g++; do
	if ! command -v $compiler >/dev/null; then
		echo "skip cxx: by $compiler: it is not here"
		continue
	fi
	if ! echo '#include <memory_resource>' | $compiler -std=c++17 -fsyntax-only -x c++ - 2>/dev/null; then
		echo "skip cxx: by $compiler: it has no <memory_resource>"
		continue
	fi
	plain=20 bare=17
	[ $compiler = clang++ ] || plain=17 bare=20
	# Each standard once, one of them without exceptions; all three by each compiler in make test-long.
	programs=newest
	[ $compiler = clang++ ] || programs='plain bare'
	[ -z "${STEPS_FULL:-}" ] || programs='plain newest bare'
	plain="-std=c++$plain" newest=-std=c++2b bare="-std=c++$bare -fno-exceptions -fno-rtti"
	for name in $programs; do
		eval "flags=\$$name"
		# shellcheck disable=SC2086,SC2154 # a list
		program "$name" $compiler $flags &
	done
	wait
	for name in $programs; do
		eval "flags=\$$name"
		works "$name" "$compiler $flags"
	done
done
exit $status
