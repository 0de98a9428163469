#!/bin/sh
# SPDX-License-Identifier: MIT
# The library for one thread has no locked instruction and no thread-local
# storage; neither library needs a symbol from elsewhere.  The same of the
# amalgamation for one thread, by each compiler that is here (tests/check/malloc.sh has
# the others).
set -u

build=${BUILD:-build}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# An exchange with memory is locked without saying so; between registers it is not.
locked='[[:space:]](lock|xacquire|xrelease)[[:space:]]|[[:space:]]xchg[a-z]*[[:space:]].*\('
local='%fs|%gs'

subject='st'
. tests/support/verdict.sh

for library in libashlar libashlar-st; do
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
! grep -nE "$locked" "$folder/libashlar-st"
verdict 'libashlar-st.a has no locked instruction'
! grep -nE "$local" "$folder/libashlar-st"
verdict 'libashlar-st.a has no thread-local word'

# ---- threads ----

cat >"$folder/threads.c" <<'C'
#include <ashlar.h>
#include <ashlar_start.h>
static void body(void *p) { ash_release(p); }
int main(void)
{
#ifdef THREADS
	ash_thread_join(ash_thread_start(body, ash_alloc(100), 0));
#else
	body(ash_alloc(100));
#endif
	return 0;
}
C
# threads LIBRARY FLAG...: such a program is linked.
threads() {
	library=$1
	shift
	clang -O1 -ffreestanding -nostdlib -static -fno-stack-protector -I"$build/include" "$@" "$folder/threads.c" \
		"$build/libashlar_start.a" "$build/$library.a" -o "$folder/threads" >"$folder/link" 2>&1
}
for linker in -DGNU -fuse-ld=lld; do
	! threads libashlar-st -DTHREADS $linker && grep -q ash_threads_need_libashlar_not_libashlar_st "$folder/link"
	verdict "a program with threads is not linked with it ($linker)" "$folder/link"
	threads libashlar-st $linker && "$folder/threads" && threads libashlar -DTHREADS $linker && "$folder/threads"
	verdict "one without is, nor is libashlar.a in the way of threads ($linker)" "$folder/link"
done

# ---- the amalgamation ----

if [ ! -f "$build/prog/tests/support/main.o" ]; then
	echo "skip st: the amalgamation: no tests in $build"
	exit $status
fi
eval "$("${MAKE:-make}" -s --no-print-directory BUILD="$build" flags)"
# What takes seconds each time is for make test-long.
words='-st_handler'
[ -z "${STEPS_FULL:-}" ] || words=
cp "$build/amalgamation/ashlar.c" "$build"/amalgamation/ashlar*.h "$folder"

# passes NAME OBJECT...: the tests, linked with the amalgamation and these.
passes() {
	name=$1
	shift
	# GNU's assembler asks for a table that nothing refers to.
	objcopy -N _GLOBAL_OFFSET_TABLE_ "$folder/one.o"
	${LINK% -Wl,-u,*} "$build/prog/tests/support/main.o" "$@" "$folder/one.o" "$build/runtime.a" "$build/libashlar_start.a" \
		-o "$folder/program" &&
		"$folder/program" $words >"$folder/log" 2>&1 && RT_QEMU=1 qemu-x86_64 "$folder/program" $words >>"$folder/log" 2>&1
	verdict "$name passes its tests, natively and under QEMU" "$folder/log"
}

for compiler in clang clang-19 gcc; do
	if ! command -v $compiler >/dev/null; then
		echo "skip st: the amalgamation by $compiler: it is not here"
		continue
	fi
	for flags in -DASHLAR_SINGLE_THREAD '-DASHLAR_SINGLE_THREAD -DASHLAR_MALLOC'; do
		# Of clang-19 all is for make test-long.
		[ "$compiler $flags" != 'clang-19 -DASHLAR_SINGLE_THREAD -DASHLAR_MALLOC' ] || [ -n "${STEPS_FULL:-}" ] || continue
		name="the amalgamation by $compiler $flags"
		# shellcheck disable=SC2086 # a list of flags
		(cd "$folder" && $compiler -O2 -Wall -Wextra -ffreestanding -fno-pie -fno-stack-protector $flags \
			-c ashlar.c -o one.o) 2>"$folder/errors" && ! [ -s "$folder/errors" ]
		verdict "$name: not a warning"
		head -n 5 "$folder/errors" | sed 's/^/     /'
		if [ "$flags" != -DASHLAR_SINGLE_THREAD ]; then # without ashlar_heap.h, and so without st/one_thread.c
			passes "$name" "$build/prog/tests/api/api.o"
			continue
		fi
		passes "$name" "$build/prog/tests/api/api.o" "$build/prog/tests/st/one_thread.o" "$build/st/core/heaps/global_names.o"
		objdump -d --no-show-raw-insn "$folder/one.o" >"$folder/code"
		grep -q 'ash_alloc>:' "$folder/code" && ! grep -nE "$locked" "$folder/code" && ! grep -nE "$local" "$folder/code"
		verdict "$name: no locked instruction, no thread-local word"
	done
done
exit $status
