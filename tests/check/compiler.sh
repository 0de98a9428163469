#!/bin/sh
# SPDX-License-Identifier: MIT
# Other compilers, and what those for other machines say.  A newer clang has other
# warnings: all must build without one there too; gcc builds the library.
set -u

build=${BUILD:-build}
folder=$(mktemp -d)
log=$folder/log
trap 'rm -rf "$folder"' EXIT

subject='compiler'
. tests/support/verdict.sh

# built NAME BUILD ARGUMENT...: make says nothing but what it does.
built() {
	name=$1 there=$2
	shift 2
	"${MAKE:-make}" --no-print-directory BUILD="$there" "$@" >"$log" 2>&1 && ! grep -q 'warning' "$log"
	verdict "$name"
	grep -E 'error|warning' "$log" | head -n 20 | sed 's/^/     /'
}

if command -v clang-19 >/dev/null; then
	built 'clang-19 builds everything without a warning' "$build/clang-19" CC=clang-19 programs
else
	echo 'skip compiler: clang-19 builds everything without a warning: it is not here'
fi

if command -v gcc >/dev/null; then
	there=$build/gcc
	built 'gcc builds the library without a warning' "$there" CC=gcc all
	for script in unwind st; do
		BUILD=$there sh tests/check/$script.sh >"$log" 2>&1
		verdict "gcc's library passes tests/check/$script.sh"
		grep '^FAIL' "$log" | sed 's/^/     /'
	done
	# Under the tests of what the headers promise, which are those of the build.  GNU's
	# assembler asks for a table that nothing refers to.
	eval "$("${MAKE:-make}" -s --no-print-directory BUILD="$build" flags)"
	objcopy -N _GLOBAL_OFFSET_TABLE_ "$there/libashlar.a" "$folder/libashlar.a"
	tests="$build/prog/tests/support/main.o"
	for name in api align zalloc resize misuse; do
		tests="$tests $build/prog/tests/api/$name.o"
	done
	# shellcheck disable=SC2086 # a list
	$LINK $tests "$build/librt.a" "$folder/libashlar.a" -o "$folder/tests" 2>"$log" &&
		"$folder/tests" >"$log" 2>&1
	verdict "gcc's library passes $(grep -c '^ok  ' "$log") tests of the calls"
	grep '^FAIL' "$log" | sed 's/^/     /'
	# Any program of the host's, if it is dynamic.
	sort tests/check/compiler.sh >"$folder/expected"
	LD_PRELOAD="$there/libashlar_malloc.so" cat /proc/self/maps 2>"$log" | grep -q libashlar_malloc &&
		LD_PRELOAD="$there/libashlar_malloc.so" sort tests/check/compiler.sh >"$folder/sorted" 2>"$log" &&
		cmp -s "$folder/expected" "$folder/sorted" && ! [ -s "$log" ]
	verdict "gcc's shared object is malloc of a program"
else
	echo 'skip compiler: gcc builds the library: it is not here'
fi

# ---- other machines, systems and languages: one error, which says what is wrong ----

# refused NAME FILE COMPILER FLAG...
refused() {
	name=$1 file=$2
	shift 2
	"$@" -ffreestanding -fsyntax-only "$file" >"$log" 2>&1
	[ "$(grep -c 'error:' "$log")" = 1 ] && ! grep -q 'warning:' "$log" &&
		grep 'error:' "$log" | grep -q 'Ashlar is for x86_64 Linux, in C'
	verdict "$name"
	grep -E 'error:|warning:' "$log" | head -n 4 | sed 's/^/     /' | grep -v 'Ashlar is for x86_64'
}
cc=${CC:-clang}
case $($cc --version) in *clang*) ;; *) cc=clang ;; esac
for target in aarch64-linux-gnu riscv64-linux-gnu i386-linux-gnu x86_64-linux-gnux32 x86_64-apple-darwin \
	x86_64-unknown-freebsd x86_64-windows-gnu; do
	refused "the amalgamation for $target: one error" "$build/amalgamation/ashlar.c" $cc --target=$target
done
for file in arch/x86_64/*.[chS]; do
	case $file in */stub.h | */host.h) continue ;; esac
	refused "$file for aarch64: one error" "$file" $cc --target=aarch64-linux-gnu -Iarch/x86_64
done
refused 'the amalgamation by a compiler of C++: one error' "$build/amalgamation/ashlar.c" $cc -x c++
! command -v gcc >/dev/null ||
	refused 'the amalgamation by gcc -m32: one error' "$build/amalgamation/ashlar.c" gcc -m32
! command -v g++ >/dev/null ||
	refused 'the amalgamation by g++: one error' "$build/amalgamation/ashlar.c" g++ -x c++
"$cc" -ffreestanding -fsyntax-only "$build/amalgamation/ashlar.c" 2>"$log" && [ ! -s "$log" ]
verdict 'and none where it belongs'
exit $status
