#!/bin/sh
# SPDX-License-Identifier: MIT
# The archives and libashlar.so in any program: what they define, what they need, what a program
# may define itself, and that a linker still drops what is not used.
. tests/support/verdict.sh

calls() { # HEADER...: the names of its functions and objects
	sed -n 's/^[a-z].*[ *]\(ash[a-z]*_[a-z_]*\)(.*/\1/p; s/^extern .*[ *]\(ash_[a-z_]*\).*/\1/p' "$@" | sort -u
}
list() {
	printf '%s\n' "$@" | sort -u
}
# default FILE: names that others may call.  hidden FILE: that its own objects call.
default() {
	readelf -sW "$1" | awk '$5 ~ /GLOBAL|WEAK/ && $6 == "DEFAULT" && $7 != "UND" { print $8 }' | sort
}
hidden() {
	readelf -sW "$1" | awk '$5 ~ /GLOBAL|WEAK/ && $6 == "HIDDEN" && $7 != "UND" { print $8 }' | sort -u
}
undefined() {
	nm "$1" | awk 'NF == 3 { d[$3] = 1 } NF == 2 { w[$2] = 1 }
		END { for (s in w) if (!(s in d) && s != "_GLOBAL_OFFSET_TABLE_") print s }' | sort
}

family='memcpy memmove memset memcmp'
between='ash_blocks_nearest ash_blocks_visit ash_diagnose_nearest'
heap=$(calls core/include/ashlar_heap*.h)
main=$(calls core/include/ashlar.h | grep -v '^ash_on_misuse$'; echo ash_on_misuse ash_descriptor)
names='ash_names_alloc ash_names_resize ash_names_release ash_names_init'

# shellcheck disable=SC2086 # lists of words, here and below
list $main $heap $names >"$folder/expected"
default "$build/libashlar.a" >"$folder/found"
same 'libashlar.a: every name that is seen is public'
list alloc resize release init_global_allocator >"$folder/expected"
default "$build/libashlar_names.a" >"$folder/found"
list $names >>"$folder/expected"
undefined "$build/libashlar_names.a" >>"$folder/found"
same 'libashlar_names.a: the names of ashlar_names.h in 1.0, and what they call'
list $family $between ash_alloc_or ash_first_metadata >"$folder/expected"
hidden "$build/libashlar.a" >"$folder/found"
same '... and others are its own objects'\'' and those that the compiler calls'
list $main ash_heap_walk | grep -vx ash_descriptor >"$folder/expected"
default "$build/libashlar-small.a" >"$folder/found"
same 'libashlar-small.a: without heaps'
cp "$build/libashlar_start.a" "$folder/start.a"
ar d "$folder/start.a" new.o cxx.o
list $(calls sys/start/ashlar_start.h) _start >"$folder/expected"
default "$folder/start.a" >"$folder/found"
same 'libashlar_start.a: its own, and _start'
list main __ehdr_start __init_array_start __init_array_end ash_thread_detach >"$folder/expected"
undefined "$folder/start.a" >"$folder/found"
same 'it needs main, what a linker makes, and what may be absent'
top=$(realpath "$build") && (cd "$folder" && ar x "$top/libashlar_start.a" new.o && ar x "$top/libashlar_malloc.a" ashlar_new.o)
default "$folder/ashlar_new.o" >"$folder/expected"
default "$folder/new.o" | grep -vx _ZSt7nothrow >"$folder/found"
same 'and, where a program uses them, operator new and delete in all forms'
[ "$(nm "$build/libashlar_start.a" | awk '$2 == "ash_thread_detach" { print $1 }')" = w ]
verdict 'which is ash_thread_detach'
for archive in libashlar libashlar-small libashlar-sample libashlar-field; do
	[ -z "$(undefined "$build/$archive.a")" ]
	verdict "$archive.a needs nothing"
done
for archive in libashlar-sample libashlar-field libashlar-core; do
	{ default "$build/$archive.a"; hidden "$build/$archive.a"; } >"$folder/found"
	[ "$(wc -l <"$folder/found")" -gt 20 ] &&
		! grep -v '^ash_' "$folder/found" | grep -vxE "$(echo $family | tr ' ' '|')" >"$folder/odd"
	verdict "$archive.a: names begin with ash, but for those that a program may have itself" "$folder/odd"
done
[ "$(ar t "$build/libashlar.a" | sort | tr '\n' ' ')" = 'ashlar.o global_names.o heap_walk.o memory.o ' ]
verdict 'libashlar.a is one object, and three that programs may have or leave'

# ---- a program with functions of all the names inside ----

nm "$build/whole/ashlar.o" | awk '$2 ~ /^[tdbr]$/ && $3 ~ /^[a-z_]+$/ && $3 !~ /^_/ {print $3}' | sort -u >"$folder/inside"
{
	echo '#include <ashlar.h>'
	echo '#include <ashlar_heap.h>'
	echo '#include <ashlar_start.h>'
	sed 's/.*/extern int taken_& __asm__("&"); int taken_& = 1;/' "$folder/inside"
	cat <<'C'
int main(void)
{
	ash_heap *heap = ash_heap_create(NULL);
	void *p = ash_heap_alloc(heap, 100), *q = ash_alloc(3000000);
	int n = 0;
	if (!p || !q)
		return 1;
	ash_release(p);
	ash_release(q);
	ash_heap_destroy(heap);
	n = ash_check();
C
	sed 's/.*/	n += taken_& - 1;/' "$folder/inside"
	echo '	return n; }'
} >"$folder/program.c"
flags="-O1 -ffreestanding -nostdlib -static -fno-stack-protector -I$build/include"
[ "$(wc -l <"$folder/inside")" -gt 150 ] && grep -qx class_of "$folder/inside" &&
	clang $flags "$folder/program.c" "$build/libashlar_start.a" "$build/libashlar.a" -o "$folder/program" &&
	"$folder/program"
verdict "a program may have the $(wc -l <"$folder/inside") names inside libashlar.a for itself"
! clang $flags "$folder/program.c" "$build/libashlar_start.a" "$build/parts.a" -o "$folder/clash" 2>/dev/null
verdict 'which clash with the separate objects'

cat >"$folder/program.c" <<'C'
#include <ashlar.h>
void *alloc(int n) { return ash_alloc(n); }
void resize(void) {}
int release(void *p) { ash_release(p); return 0; }
void *memcpy(void *to, const void *from, unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		((volatile char *)to)[i] = ((const volatile char *)from)[i];
	return to;
}
int main(void) { char *p = alloc(100); p = ash_resize(p, 9000); resize(); return release(p); }
C
clang $flags "$folder/program.c" "$build/libashlar_start.a" "$build/libashlar.a" -o "$folder/program" 2>/dev/null &&
	"$folder/program"
verdict 'and alloc, resize, release and memcpy'

# ---- what is not used is dropped ----

# text LINKER LIBRARY: code and constants of a program of four calls; of lld without what aligns them, by its map
text() {
	clang $flags $1 -Wl,--gc-sections,-Map="$folder/map" tests/check/calls.c "$build/libashlar_start.a" "$build/$2" -o "$folder/calls" || return
	if [ -z "$1" ]; then
		size -A "$folder/calls" | awk '$1 ~ /^\.(text|rodata|data\.rel\.ro)/ { n += $2 } END { print n + 0 }'
		return
	fi
	awk '/:\(\.(text|rodata|data\.rel\.ro)/ {
		size = 0
		for (i = 1; i <= length($3); i++)
			size = size * 16 + index("0123456789abcdef", substr($3, i, 1)) - 1
		n += size
	}
	END { print n + 0 }' "$folder/map"
}
for linker in '' -fuse-ld=lld; do
	whole=$(text "$linker" libashlar.a) parts=$(text "$linker" parts.a)
	# The separate objects have the descriptor of arenas only if it is used; GNU ld drops no strings, and aligns.
	# A function that is not inlined in two sources is there twice (seat_take).
	more=160
	[ -n "$linker" ] || more=600
	[ "$parts" -gt 10000 ] && [ "$whole" -le $((parts + more)) ]
	verdict "--gc-sections leaves as little of it as of separate objects (${linker:-GNU ld}: $whole, $parts bytes)"
done

# ---- the tests of the calls, with the archive itself ----

build_flags
tests=
for name in api align zalloc resize large misuse names heap heap_in inline_none; do
	[ ! -f "$build/prog/tests/api/$name.o" ] || tests="$tests $build/prog/tests/api/$name.o"
done
$LINK $tests "$build/runtime.a" "$build/libashlar_start.a" "$build/libashlar.a" -o "$folder/tests" 2>"$folder/errors" &&
	"$folder/tests" >"$folder/log" 2>&1
verdict "libashlar.a passes $(grep -c '^ok  ' "$folder/log") tests of the calls" "$folder/log"
head -n 5 "$folder/errors" | sed 's/^/     /'

# ---- with a C library ----

if ! echo 'int main(void) { return 0; }' | cc -x c - -o "$folder/hosted" 2>/dev/null; then
	echo 'skip archives: plug-ins, libashlar.so: no compiler with a C library here'
	exit $status
fi
cat >"$folder/plugin.c" <<'C'
#include <ashlar.h>
void *plugged(void);
void *plugged(void) { return ash_zalloc(10, 10); }
C
cat >"$folder/host.c" <<'C'
#include <ashlar.h>
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	void *library = dlopen(argv[1], RTLD_NOW);
	void *(*plugged)(void) = library ? (void *(*)(void))dlsym(library, "plugged") : 0;
	struct ash_statistics s;
	void *p;
	(void)argc;
	if (!plugged)
		return puts(dlerror()), 1;
	p = plugged();
	ash_stats(&s);
	printf("%zu blocks, %zu bytes\n", s.blocks, ash_usable_size(p));
	ash_release(p);
	return 0;
}
C
for flag in '' -Wl,--gc-sections; do
	cc -shared -fPIC -I"$build/include" "$folder/plugin.c" -o "$folder/plugin.so" &&
		cc -rdynamic $flag -I"$build/include" "$folder/host.c" "$build/libashlar.a" -ldl -o "$folder/host" &&
		[ "$("$folder/host" "$folder/plugin.so")" = '1 blocks, 112 bytes' ]
	verdict "a plug-in calls the program's Ashlar ${flag:+with $flag}"
done

library=$build/libashlar.so
list $main $heap >"$folder/expected"
nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort >"$folder/found"
same 'libashlar.so shows the public names and no others'
[ -z "$(nm -D -u "$library")" ] && readelf -dW "$library" >"$folder/dynamic" && ! grep -q NEEDED "$folder/dynamic" &&
	grep -q 'SONAME.*\[libashlar\.so\.1\]' "$folder/dynamic" && ! grep -qE 'INIT|FINI|TEXTREL' "$folder/dynamic"
verdict 'it needs nothing, runs nothing when it is loaded, and is libashlar.so.1'
ln -s "$(realpath "$library")" "$folder/libashlar.so.1"
cat >"$folder/dynamic.c" <<'C'
#include <ashlar.h>
#include <ashlar_heap.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int threads, none;
const struct ash_defaults ash_defaults = {.initial = 2 << 20, .cap = 64 << 20};
void ash_on_thread(void) { __atomic_fetch_add(&threads, 1, __ATOMIC_RELAXED); }
void ash_on_no_memory(void) { none++; }
static void *work(void *block)
{
	ash_release(block);
	block = ash_alloc(2000);
	ash_thread_detach();
	return block;
}
int main(void)
{
	ash_heap *heap = ash_heap_create_shared(16 << 20, NULL);
	void *p = ash_alloc(100), *q = malloc(100), *r = heap ? ash_heap_alloc(heap, 100) : NULL;
	pthread_t t;
	if (!p || !q || !r || ash_alloc(100 << 20) || pthread_create(&t, NULL, work, p) || pthread_join(t, &p))
		return 1;
	ash_release(r);
	ash_release(p);
	free(q);
	printf("threads %d, none %d, check %d\n", threads, none, ash_check());
	return 0;
}
C
cc -O1 -Wno-builtin-macro-redefined -I"$build/include" "$folder/dynamic.c" "$library" -lpthread -o "$folder/dynamic" &&
	[ "$(LD_LIBRARY_PATH=$folder "$folder/dynamic")" = 'threads 2, none 1, check 0' ]
verdict 'a program with it: threads, heaps, its own hooks and ash_defaults; malloc is not ours'
cc -O1 -w -I"$build/include" "$folder/dynamic.c" "$library" -lpthread -Wl,-rpath,"$(realpath "$build")" -o "$folder/dynamic" &&
	[ "$("$folder/dynamic")" = 'threads 2, none 1, check 0' ]
verdict 'the same where it was built, by -Wl,-rpath'

# Preloaded malloc has calls of these names, too, of its own version: heaps and calls stay together.
cat >"$folder/mixed.c" <<'C'
#include <ashlar.h>
#include <ashlar_heap.h>
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
	ash_heap *heap = ash_heap_create(NULL);
	void *p = ash_heap_alloc(heap, 100), *q = ash_alloc(100), *r = malloc(100);
	int whose = ash_heap_of(p) == heap;
	struct ash_statistics s;

	ash_release(p);
	ash_stats(&s);
	ash_release(q);
	free(r);
	printf("%d, %zu blocks, check %d\n", whose, s.blocks, ash_check());
	return 0;
}
C
cc -O1 -fno-builtin -I"$build/include" "$folder/mixed.c" "$library" -o "$folder/mixed" &&
	[ "$(LD_LIBRARY_PATH=$folder "$folder/mixed")" = '1, 1 blocks, check 0' ] &&
	[ "$(LD_PRELOAD=$(realpath "$build/libashlar_malloc.so") LD_LIBRARY_PATH=$folder "$folder/mixed")" = '1, 1 blocks, check 0' ]
verdict 'a program with libashlar.so uses that one with libashlar_malloc.so preloaded, too'

# Linked with both: libashlar first, or a line says so; of two archives the linker does.
ln -s "$(realpath "$build/libashlar_malloc.so")" "$folder/libashlar_malloc.so.1"
# mixed LIBRARY...: compiles with these.
mixed() {
	rm -f "$folder/mixed"
	cc -O1 -fno-builtin -I"$build/include" "$folder/mixed.c" "$@" -o "$folder/mixed" 2>"$folder/errors"
}
mixed "$library" "$build/libashlar_malloc.so" && [ "$(LD_LIBRARY_PATH=$folder "$folder/mixed")" = '1, 1 blocks, check 0' ]
verdict 'a program with -lashlar -lashlar_malloc has both'
for malloc in so a; do
	mixed "$build/libashlar_malloc.$malloc" "$library" &&
		! LD_LIBRARY_PATH=$folder "$folder/mixed" >"$folder/log" 2>&1 &&
		grep -q '^ashlar: ash_release(0x[0-9a-f]*): block of a heap of libashlar; is -lashlar behind -lashlar_malloc?$' "$folder/log"
	verdict "in the other order (libashlar_malloc.$malloc) a line says so"
done
! mixed "$build/libashlar_malloc.a" "$build/libashlar.a" && grep -q 'multiple definition' "$folder/errors" &&
	! mixed "$build/libashlar.a" "$build/libashlar_malloc.a" && grep -q 'multiple definition' "$folder/errors"
verdict 'two archives: the linker refuses'
exit $status
