#!/bin/sh
# SPDX-License-Identifier: MIT
# linker.ld: what it must refuse, and what a small program is made of.
. tests/support/verdict.sh

build_flags

# build_program: standard input, built as make builds programs.
build_program() {
	cat >"$folder/program.c"
	{
		$COMPILE -w -c "$folder/program.c" -o "$folder/program.o" &&
			$LINK "$folder/program.o" "$build/runtime.a" "$build/libashlar_start.a" "$build/libashlar.a" \
				-o "$folder/program"
	} 2>"$folder/errors"
}

# refused NAME ERROR SOURCE
refused() {
	! printf '%s\n' "$3" 'int main(void) { return 0; }' | build_program &&
		grep -q "$2" "$folder/errors"
	verdict "refuses $1"
}

refused 'a constructor' 'constructors: the runtime calls none' \
	'volatile int x; __attribute__((constructor)) static void early(void) { x = 1; }'
refused 'an ifunc' 'calls by table, or ifuncs' \
	'static int one(void) { return 1; } static void *pick(void) { return (void *)one; }
	int f(void) __attribute__((ifunc("pick")));
	__attribute__((constructor)) void g(void) { f(); }'
if echo 'int main(void) { return 0; }' | cc -ffreestanding -nostdlib -fuse-ld=bfd -Wl,-e,main -x c - -o "$folder/bfd" 2>"$folder/errors"; then
	! cc -ffreestanding -nostdlib -fuse-ld=bfd -pie -fpie -I"$build/include" -T linker.ld tests/check/calls.c "$build/libashlar_start.a" \
		"$build/libashlar.a" -o "$folder/bfd" 2>"$folder/errors" && grep -q 'use lld' "$folder/errors"
	verdict 'refuses GNU ld, and says what to use' "$folder/errors"
else
	echo 'skip link: GNU ld: it is not here'
fi
refused 'a section that is not placed' 'odd_section' \
	'__attribute__((section("odd_section"), retain, used)) int odd = 1;'

build_program <<'C'
#include "rt.h"
#include <ashlar.h>
int main(int argc, char **argv, char **envp)
{
	char *text = ash_alloc(32);
	(void)argc, (void)argv, (void)envp;
	rt_format(text, 32, "hello, world");
	rt_print("%s\n%zu\n", text, rt_resident_peak());
	ash_release(text);
	return 0;
}
C
verdict 'hello, world'

readelf -lW "$folder/program" >"$folder/segments"
grep -q 'GNU_STACK.* RW ' "$folder/segments"
verdict 'the stack is not executable'
! grep -qE 'LOAD.* RWE|INTERP|DYNAMIC' "$folder/segments"
verdict 'no segment is writable and executable, none dynamic'
[ "$(grep -c LOAD "$folder/segments")" = 2 ]
verdict 'two segments in memory'

[ "$("$folder/program" | head -n 1)" = 'hello, world' ] && [ -z "$(nm -u "$folder/program")" ]
verdict 'it runs, and asks for no symbol'
# Without an environment: its strings lie on the stack and are not the program's.  The least of
# forty: where the stack begins within a page is random, and one run in four is without a page of it
# (footprint.sh looks at the pages themselves).
resident=$(for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40; do env -i "$folder/program" | tail -n 1; done | sort -n | head -n 1)
[ "$resident" -gt 0 ] && [ "$resident" -le 65536 ]
verdict "hello, world stays within 64 KiB of memory ($((resident / 1024)) KiB)"

# ---- a library of the program's own with names of ashlar_names.h ----

cat >"$folder/own.c" <<'C'
int alloc(int n), resize(int width, int height), release(void), init_global_allocator(void);
int alloc(int n) { return n + 1; }
int resize(int width, int height) { return width * height; }
int release(void) { return 3; }
int init_global_allocator(void) { return 4; }
C
cat >"$folder/calls.c" <<'C'
#include <ashlar.h>
int alloc(int n), resize(int width, int height), release(void), init_global_allocator(void);
int main(void)
{
	ash_release(ash_alloc(10));
	return alloc(1) == 2 && resize(3, 4) == 12 && release() == 3 && init_global_allocator() == 4 ? 0 : 1;
}
C
# The other object of the program uses Ashlar's by the header.
cat >"$folder/ours.c" <<'C'
#include <ashlar_names.h>
int theirs(int width, int height);
int main(void)
{
	char *block;
	if (!init_global_allocator(8)) return 1;
	block = resize(alloc(100), 200);
	release(block);
	return block != 0 && theirs(3, 4) == 12 ? 0 : 1;
}
C
echo 'int resize(int, int); int theirs(int, int); int theirs(int w, int h) { return resize(w, h); }' >"$folder/theirs.c"
# An object that was compiled with the header of 1.0 asks for these names.
cat >"$folder/old.c" <<'C'
void *alloc(unsigned long size), *resize(void *p, unsigned long size);
void release(void *p);
_Bool init_global_allocator(unsigned long chunks);
int main(void)
{
	char *block;
	if (!init_global_allocator(8)) return 1;
	block = resize(alloc(100), 200);
	release(block);
	return block != 0 ? 0 : 1;
}
C
for each in own calls ours theirs old; do
	$COMPILE -w -fno-builtin -c "$folder/$each.c" -o "$folder/$each.o" || status=1
done
ar qc "$folder/libown.a" "$folder/own.o"
# linked FILE...: links and runs.
linked() {
	# shellcheck disable=SC2086 # LINK is a list of words
	$LINK "$@" -o "$folder/program" 2>"$folder/errors" && "$folder/program" >>"$folder/errors" 2>&1
}
start="$build/runtime.a $build/libashlar_start.a"
for order in "$folder/libown.a $build/libashlar.a" "$build/libashlar.a $folder/libown.a"; do
	linked "$folder/calls.o" $start $order && linked "$folder/ours.o" "$folder/theirs.o" $start $order
	verdict "a library with a resize of its own, ${order##*/} last" "$folder/errors"
done
linked "$folder/old.o" $start "$build/libashlar_names.a" "$build/libashlar.a" && ! linked "$folder/old.o" $start "$build/libashlar.a"
verdict 'what asks for the names of 1.0 finds them in libashlar_names.a' "$folder/errors"

exit $status
