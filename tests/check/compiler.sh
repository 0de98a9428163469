#!/bin/sh
# SPDX-License-Identifier: MIT
# Other compilers, and what those for other machines say.  A newer clang has other
# warnings: all must build without one there too; gcc builds the library.  STEPS_FULL=1 (make
# test-long): all that there is to build, by each; else gcc's amalgamation and libashlar_malloc.so, the warnings of both
# for the sources of libashlar.a, and the fast paths of clang-19.
. tests/support/verdict.sh
. tests/support/amalgamated.sh

log=$folder/log

# silent NAME COMPILER FLAG...: it finds nothing to warn of in the sources of libashlar.a.
silent() {
	name=$1
	shift
	# shellcheck disable=SC2046,SC2086 # lists
	"$@" -fsyntax-only $LIBRARY_SOURCES >"$log" 2>&1
	verdict "$name finds nothing to warn of in the sources of libashlar.a"
	head -n 20 "$log" | sed 's/^/     /'
}

# built NAME BUILD ARGUMENT...: make says nothing but what it does.
built() {
	name=$1 there=$2
	shift 2
	MAKEFLAGS= "${MAKE:-make}" -j2 --no-print-directory BUILD="$there" "$@" >"$log" 2>&1 && ! grep -q 'warning' "$log"
	verdict "$name"
	grep -E 'error|warning' "$log" | head -n 20 | sed 's/^/     /'
}

if command -v clang-19 >/dev/null; then
	there=$build/clang-19
	if [ -n "${STEPS_FULL:-}" ]; then
		built 'clang-19 builds everything without a warning' "$there" CC=clang-19 programs
	else
		# What tests/check/golden.sh looks at; of the rest the warnings.
		built 'clang-19 compiles the fast paths without a warning' "$there" CC=clang-19 "$there/lib/core/front/alloc.o" \
			"$there/lib/core/front/release.o" "$there/lib/core/front/resize.o"
		build_flags
		# shellcheck disable=SC2046 # a list
		silent clang-19 clang-19 $(echo "$LIBRARY_FLAGS" | sed 's/ -MMD -MP / /')
	fi
else
	echo 'skip compiler: clang-19 builds libashlar.a without a warning: it is not here'
fi

if command -v gcc >/dev/null; then
	there=$build/gcc
	if [ -n "${STEPS_FULL:-}" ]; then
		built 'gcc builds the library in each form without a warning' "$there" CC=gcc all
		BUILD=$there sh tests/check/unwind.sh >"$log" 2>&1
		verdict "gcc's library passes tests/check/unwind.sh" "$log"
	else
		built 'gcc builds the shared object without a warning' "$there" CC=gcc "$there/libashlar_malloc.so"
		build_flags CC=gcc BUILD="$there"
		# shellcheck disable=SC2046 # a list
		silent gcc gcc $(echo "$LIBRARY_FLAGS" | sed 's/ -MMD -MP / /')
	fi
	# Under the tests of what the headers promise, which are those of the build.  GNU's
	# assembler asks for a table that nothing refers to.
	build_flags
	if [ -n "${STEPS_FULL:-}" ]; then
		objcopy -N _GLOBAL_OFFSET_TABLE_ "$there/libashlar.a" "$folder/library"
	else
		amalgamated gcc && mv "$folder/one.o" "$folder/library"
	fi
	tests=
	for name in api align zalloc resize misuse; do
		tests="$tests $build/prog/tests/api/$name.o"
	done
	# shellcheck disable=SC2086 # a list
	$LINK $tests "$build/runtime.a" "$build/libashlar_start.a" "$folder/library" -o "$folder/tests" 2>"$log" &&
		"$folder/tests" >"$log" 2>&1
	verdict "gcc's library passes $(grep -c '^ok  ' "$log") tests of the calls" "$log"
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
		grep 'error:' "$log" | grep -q 'Ashlar is for .* Linux, in C'
	verdict "$name"
	grep -E 'error:|warning:' "$log" | head -n 4 | sed 's/^/     /' | grep -v 'Ashlar is for '
}
cc=${CC:-clang}
case $($cc --version) in *clang*) ;; *) cc=clang ;; esac
for target in i386-linux-gnu x86_64-linux-gnux32 x86_64-apple-darwin x86_64-unknown-freebsd x86_64-windows-gnu \
	aarch64_be-linux-gnu aarch64-apple-darwin riscv32-linux-gnu powerpc64le-linux-gnu; do
	refused "the amalgamation for $target: one error" "$build/amalgamation/ashlar.c" $cc --target=$target
done
for cpu in x86_64 aarch64 riscv64; do
	other=aarch64
	[ $cpu != aarch64 ] || other=x86_64
	for file in arch/$cpu/*.[chS]; do
		case $file in */stub.h | */host.h) continue ;; esac
		refused "$file for $other: one error" "$file" $cc --target=$other-linux-gnu -Iarch/$cpu
	done
done
refused 'the amalgamation for riscv64 without atomic instructions: one error' "$build/amalgamation/ashlar.c" \
	$cc --target=riscv64-linux-gnu -march=rv64im
refused 'the amalgamation by a compiler of C++: one error' "$build/amalgamation/ashlar.c" $cc -x c++
! command -v gcc >/dev/null ||
	refused 'the amalgamation by gcc -m32: one error' "$build/amalgamation/ashlar.c" gcc -m32
! command -v g++ >/dev/null ||
	refused 'the amalgamation by g++: one error' "$build/amalgamation/ashlar.c" g++ -x c++
# For this CPU the others do so (malloc.sh, make all); as shared objects make builds them.
for target in aarch64 riscv64; do
	for variant in '' -DASHLAR_MALLOC; do
		# shellcheck disable=SC2086 # no word, or one
		"$cc" --target=$target-linux-gnu -nostdlibinc -ffreestanding $variant -fsyntax-only "$build/amalgamation/ashlar.c" \
			2>"$log" && [ ! -s "$log" ]
		verdict "and none for $target${variant:+ with $variant}"
	done
done

# ---- atomic operations: instructions of the CPU, not calls; the newer ones where they may be used ----

# assembly OBJECT: its instructions.
assembly() {
	llvm-objdump -d --no-show-raw-insn --mattr=+lse "$1" >"$folder/code" 2>"$log"
}
# An instruction is chosen for each operation at any level.
"$cc" -O0 -nostdlibinc -ffreestanding --target=aarch64-linux-gnu -march=armv8.1-a -c "$build/amalgamation/ashlar.c" \
	-o "$folder/one.o" 2>"$log" && [ ! -s "$log" ] && assembly "$folder/one.o" &&
	grep -q '[[:blank:]]casa*l*[[:blank:]]' "$folder/code" && grep -q '[[:blank:]]ldset' "$folder/code" &&
	! grep -qE '[[:blank:]](ldax|ldx|stlx|stx)r' "$folder/code"
verdict 'aarch64 with -march=armv8.1-a: not a warning; the large-system atomics, no exclusive loads'
if [ -f "$build/riscv64/libashlar_malloc.so" ]; then
	assembly "$build/riscv64/libashlar_malloc.so" && grep -q '[[:blank:]]amoor' "$folder/code" &&
		grep -q '<ash_alloc>:' "$folder/code" && grep -q '<ash_release>:' "$folder/code" &&
		[ "$(sed -n '/<ash_alloc>:/,/\tret/p' "$folder/code" | grep -c fence)" = 0 ] &&
		[ "$(sed -n '/<ash_release>:/,/\tret/p' "$folder/code" | grep -c fence)" -le 2 ]
	verdict 'riscv64: no fence in ash_alloc, in ash_release those of a load and a store'
else
	echo "skip $subject: fences of riscv64: riscv64's libashlar_malloc.so is not built"
fi
exit $status
