#!/bin/sh
# SPDX-License-Identifier: MIT
# Ashlar as malloc, as far as no C library is needed to look at it: what the archive and
# the shared object show, and the amalgamation, by each compiler that is here.  STEPS_FULL=1 (make
# test-long): code of clang-19's, too; else its warnings.
# promises: malloc_object_size
. tests/support/verdict.sh

# ---- names ----

operators='_Znwm _Znam _ZnwmRKSt9nothrow_t _ZnamRKSt9nothrow_t _ZnwmSt11align_val_t
	_ZnamSt11align_val_t _ZnwmSt11align_val_tRKSt9nothrow_t
	_ZnamSt11align_val_tRKSt9nothrow_t _ZdlPv _ZdaPv _ZdlPvm _ZdaPvm
	_ZdlPvSt11align_val_t _ZdaPvSt11align_val_t _ZdlPvmSt11align_val_t
	_ZdaPvmSt11align_val_t _ZdlPvRKSt9nothrow_t _ZdaPvRKSt9nothrow_t
	_ZdlPvSt11align_val_tRKSt9nothrow_t _ZdaPvSt11align_val_tRKSt9nothrow_t'
names='malloc calloc realloc reallocarray free cfree free_sized free_aligned_sized aligned_alloc
	posix_memalign memalign valloc pvalloc malloc_usable_size mallopt malloc_trim mallinfo mallinfo2
	malloc_stats malloc_object_size ashlar_is_malloc'
# Inner names of glibc's, which are weak (core/malloc/glibc.c).
inner='__libc_malloc __libc_calloc __libc_realloc __libc_free __libc_memalign __libc_valloc __libc_pvalloc
	__posix_memalign'
xml=malloc_info
# Of the shared objects alone (core/malloc/open.c).
open='dlopen dlmopen'
api=$(sed -n 's/^[a-z].*[ *]\(ash_[a-z_]*\)(.*/\1/p' core/include/ashlar.h)
# Of the other header, and objects.
more='ash_heap_walk ash_last_words ash_descriptor'
hooks=$(sed -n 's/.*[ *]\(ash_on_[a-z_]*\)(.*/\1/p' core/include/ashlar.h)
# From munmap on: memory goes back by glibc's functions (sys/back.h); the program's name (core/malloc/info.c).
absent='__environ __errno_location ash_heap_of getauxval pthread_key_create pthread_key_delete pthread_setspecific
	munmap madvise mremap gnu_get_libc_version _IO_stdin_used program_invocation_short_name'
absent_xml='fwrite pthread_setcancelstate'
# What one object of ours calls in the other; hidden from all others.
between='__pthread_tsd_run_dtors ash_alloc_or ash_delete ash_delete_aligned_sized ash_delete_sized ash_may_say ash_own_settings ash_say ash_stats_parts ash_stats_rows ash_stats_rows_few'
cxx='_ZSt15get_new_handlerv _ZSt17__throw_bad_allocv __cxa_allocate_exception __cxa_throw
	_ZTISt9bad_alloc _ZTVSt9bad_alloc _ZNSt9bad_allocD1Ev abort dlsym'

# list WORD...: one a line, sorted
list() {
	printf '%s\n' "$@" | sort -u
}

# shellcheck disable=SC2086 # lists of words, here and below
members() {
	ar t "$build/libashlar_malloc.a" | tr '\n' ' '
}
[ "$(members)" = 'ashlar_malloc.o ashlar_new.o ashlar_xml.o ' ]
verdict 'the archive has one object for malloc, one for C++, and one for malloc_info'

# shellcheck disable=SC2086
list $names $inner $api $more $between ash_defaults ash_first_metadata >"$folder/expected"
nm -g --defined-only "$build/malloc/ashlar_malloc.o" | awk '{print $3}' | sort >"$folder/found"
same 'the object shows the public names and no others, but for what a linker places'

# shellcheck disable=SC2086
list $operators >"$folder/expected"
nm -g --defined-only "$build/malloc/ashlar_new.o" | awk '$2 == "W" {print $3}' | sort >"$folder/found"
same 'operator new and delete in twenty forms, all weak'

# shellcheck disable=SC2086
list $absent >"$folder/expected"
nm -u "$build/malloc/ashlar_malloc.o" | awk '$1 == "w" {print $2} $1 != "w"' |
	grep -v _GLOBAL_OFFSET_TABLE_ | sort >"$folder/found"
same 'of a C library only names that may be absent'

list $xml >"$folder/expected"
nm -g --defined-only "$build/malloc/ashlar_xml.o" | awk '{print $3}' >"$folder/found"
same 'malloc_info is alone'
list 'U ash_stats' 'U ash_stats_rows' 'U fwrite' 'w pthread_setcancelstate' >"$folder/expected"
nm -u "$build/malloc/ashlar_xml.o" | grep -v _GLOBAL_OFFSET_TABLE_ | sed 's/^ *//' | sort >"$folder/found"
same 'it needs fwrite, and nothing else of a C library must be there'

# shellcheck disable=SC2086
list $names $inner $xml $open $operators $more $(printf '%s\n' $api | grep -vxF "$hooks") >"$folder/expected"
nm -D --defined-only "$build/libashlar_malloc.so" | awk '{ if ($3 ~ /^ash_/) sub(/@@ASHLAR_MALLOC_1\.0$/, "", $3); print $3 }' | sort >"$folder/found"
same 'the shared object shows the same, without hooks'

# shellcheck disable=SC2086
list $absent $absent_xml $cxx ash_on_misuse >"$folder/expected"
nm -D -u "$build/libashlar_malloc.so" | awk '$1 == "w" {print $2} $1 != "w"' | sort >"$folder/found"
same 'the shared object asks for nothing that must be there'

# ---- the shared object ----

readelf -dW "$build/libashlar_malloc.so" >"$folder/dynamic"
! grep -q 'NEEDED' "$folder/dynamic"
verdict 'the shared object needs no library'
grep -q 'SONAME.*\[libashlar_malloc\.so\.1\]' "$folder/dynamic"
verdict 'its soname is libashlar_malloc.so.1'
# Names that have no version are found whatever version a program asks for: so each can stand in front of another malloc.
nm -D --defined-only "$build/libashlar_malloc.so" | awk '{ print $3 }' | sort >"$folder/expected"
for each in libashlar_malloc-hardened libashlar_profile; do
	nm -D --defined-only "$build/$each.so" | awk '$3 != "ashlar_profile_dump" { print $3 }' | sort >"$folder/found"
	same "$each.so has the same names, of the same versions" && readelf -dW "$build/$each.so" | grep -q "SONAME.*\[$each\.so\.1\]"
	verdict "its soname is $each.so.1"
done
grep -q 'NODELETE' "$folder/dynamic" && grep -q 'STATIC_TLS' "$folder/dynamic"
verdict 'it stays loaded, and its thread-local words are at a fixed offset'
! grep -qE '\((INIT|FINI|PREINIT_ARRAY|TEXTREL)\)' "$folder/dynamic" &&
	[ "$(grep -cE '\((INIT|FINI)_ARRAYSZ\) +8 ' "$folder/dynamic")" = 2 ]
verdict 'its only constructor and destructor are those of the settings, and its code is not patched'
readelf -rW "$build/libashlar_malloc.so" >"$folder/relocations"
! grep -qE 'DTPMOD|DTPOFF|TLSDESC' "$folder/relocations"
verdict 'no function is called to find thread-local words'
readelf -x .got "$build/libashlar_malloc.so" | grep -q ' 00010000 00000000 '
verdict 'calls before it is relocated find no owner (tools/prereloc)'

# ---- the amalgamation, and malloc without any library ----

build_flags
cat >"$folder/program.c" <<'C'
#include "rt.h"
#include "ashlar.h"

void *malloc(size_t size) __attribute__((weak));
void free(void *p) __attribute__((weak));
int ashlar_is_malloc(void) __attribute__((weak));

static void *kept[4][1000];

static void work(void *place)
{
	void **row = place;
	for (unsigned i = 0; i < 1000; i++)
		row[i] = malloc != NULL ? malloc(i) : ash_alloc(i);
}

int main(int argc, char **argv, char **envp)
{
	struct rt_thread *t[4];
	struct ash_statistics s;
	(void)argc, (void)argv, (void)envp;
	for (unsigned i = 0; i < 4; i++)
		t[i] = rt_thread_start(work, kept[i]);
	for (unsigned i = 0; i < 4; i++)
		rt_thread_join(t[i]);
	for (unsigned i = 0; i < 4000; i++)
		(free != NULL ? free : ash_release)(kept[i / 1000][i % 1000]);
	if (malloc != NULL && (malloc((size_t)-1) != NULL || ashlar_is_malloc() != 1))
		return 1;
	ash_thread_detach();
	ash_stats(&s);
	rt_print("%zu blocks, check %d\n", s.blocks, ash_check());
	return 0;
}
C
$COMPILE -w -c "$folder/program.c" -o "$folder/program.o" || exit 1

# works NAME FILE...: linked with the program and the test runtime, it runs.
works() {
	name=$1
	shift
	$LINK "$folder/program.o" "$@" "$build/runtime.a" "$build/libashlar_start.a" \
		-o "$folder/program" &&
		[ "$("$folder/program")" = '0 blocks, check 0' ] &&
		[ "$(RT_QEMU=1 qemu-x86_64 "$folder/program")" = '0 blocks, check 0' ]
	verdict "$name: threads allocate, natively and under QEMU"
}

works 'libashlar_malloc.a without a C library' "$build/libashlar_malloc.a"

. tests/support/amalgamated.sh
cp "$build/amalgamation/ashlar.c" "$build"/amalgamation/ashlar*.h "$folder"
for compiler in clang clang-19 gcc; do
	if ! command -v $compiler >/dev/null; then
		echo "skip malloc: amalgamation by $compiler: it is not here"
		continue
	fi
	for flag in '' -DASHLAR_MALLOC; do
		# shellcheck disable=SC2086 # a flag or none
		(cd "$folder" && $compiler -fsyntax-only -Wall -Wextra $flag ashlar.c) 2>"$folder/errors" && ! [ -s "$folder/errors" ]
		verdict "amalgamation by $compiler $flag: not a warning in a hosted program" "$folder/errors"
		# One newer clang's code is enough, but for make test-long.
		[ $compiler != clang-19 ] || [ -n "${STEPS_FULL:-}" ] || continue
		# shellcheck disable=SC2086
		amalgamated $compiler $flag && ! [ -s "$folder/errors" ]
		verdict "amalgamation by $compiler $flag: not a warning" "$folder/errors"
		works "amalgamation by $compiler $flag" "$folder/one.o"
	done
done

# A program that was linked with one product runs with another one in front of it, or of none, and dlsym finds that one.
cat >"$folder/linked.c" <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <ashlar.h>
int main(void)
{
	void *p = malloc(100), *q = ash_alloc(100), *by[] = {dlsym(RTLD_DEFAULT, "malloc"), dlsym(RTLD_DEFAULT, "ash_alloc"),
		dlvsym(RTLD_DEFAULT, "ash_alloc", "ASHLAR_MALLOC_1.0")};
	void *(*m)(size_t) = malloc;
	Dl_info info = {0}, other = {0};
	ash_release(p); /* malloc's block, by the other's name */
	free(q);
	dladdr((void *)m, &info);
	dladdr((void *)ash_alloc, &other);
	printf("%s %d%d%d %d\n", info.dli_fname, by[0] == (void *)m, by[1] == (void *)ash_alloc, by[2] == by[1],
		info.dli_fbase == other.dli_fbase);
	return 0;
}
C
if cc -O1 -fno-builtin -I"$build/include" "$folder/linked.c" "$build/libashlar_malloc.so" -o "$folder/linked" -ldl 2>"$folder/errors"; then
	mkdir "$folder/so" && for each in libashlar_malloc libashlar_malloc-hardened libashlar_profile; do
		cp "$build/$each.so" "$folder/so/$each.so.1"
	done
	for each in libashlar_malloc libashlar_malloc-hardened libashlar_profile; do
		(cd "$folder" && LD_PRELOAD=$folder/so/$each.so.1 LD_LIBRARY_PATH=$folder/so ./linked) >"$folder/said" 2>&1
		[ "$(cat "$folder/said")" = "$folder/so/$each.so.1 111 1" ]
		verdict "a program linked with libashlar_malloc.so, $each.so preloaded" "$folder/said"
	done
	LD_LIBRARY_PATH=$folder/so "$folder/linked" >"$folder/said" 2>&1
	[ "$(cat "$folder/said")" = "$folder/so/libashlar_malloc.so.1 111 1" ]
	verdict 'the same, nothing preloaded' "$folder/said"
	there=$(realpath "$build")
	for each in libashlar_malloc libashlar_malloc-hardened; do
		cc -O1 -fno-builtin -I"$build/include" "$folder/linked.c" "$build/$each.so" -Wl,-rpath,"$there" -o "$folder/linked" -ldl &&
			[ "$("$folder/linked")" = "$there/$each.so.1 111 1" ]
		verdict "a program linked with $each.so where it was built, by -Wl,-rpath" "$folder/said"
	done
else
	echo 'skip malloc: a program linked with one product runs with another: no C library is here'
fi
# At fixed addresses the names stand for entries of the program's PLT, so each function answers for itself.
cat >"$folder/asks.c" <<'C'
#include <dlfcn.h>
#include <stdlib.h>
void *(*volatile m)(size_t);
void *(*volatile r)(void *, size_t);
void (*volatile f)(void *);
int main(void)
{
	int (*is)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "ashlar_is_malloc");
	char *own = (char *)main; /* PLT and code lie together */
	m = malloc, r = realloc, f = free; /* in code: else the dynamic linker writes the functions themselves */
	if (is == NULL || (char *)m - own + 65536ul > 131072 || (char *)r - own + 65536ul > 131072 ||
	    (char *)f - own + 65536ul > 131072)
		return 2;
	f(r(m(1), 2));
	return is() != 1;
}
C
if ! cc -O1 -fno-builtin -fno-pie -no-pie -w "$folder/asks.c" -o "$folder/asks" -ldl 2>"$folder/errors"; then
	echo 'skip malloc: ashlar_is_malloc of a program at fixed addresses: no C library is here'
else
	LD_PRELOAD=$(realpath "$build/libashlar_malloc.so") "$folder/asks"
	verdict 'ashlar_is_malloc asks malloc, realloc and free of a program at fixed addresses'
fi
# ---- threads of static programs of musl, which need no flag ----

cat >"$folder/threads.c" <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <ashlar.h>
static int ended;
#ifdef KEYS
static pthread_key_t key;
static void end(void *value) { (void)value; ended++; }
#endif
static void *thread(void *unused)
{
	for (size_t i = 0; i < 1000; i++)
		free(malloc(i));
#ifdef KEYS
	pthread_setspecific(key, thread);
#endif
	return malloc(10);
}
int main(void)
{
	struct ash_statistics s;
	void *block;
	free(malloc(10));
#ifdef KEYS
	pthread_key_create(&key, end);
#endif
	for (int i = 0; i < 300; i++) {
		pthread_t other;
		if (pthread_create(&other, NULL, thread, NULL) != 0 || pthread_join(other, &block) != 0)
			return 1;
		free(block);
	}
	ash_stats(&s);
	printf("%zu records, %zu bytes in slabs, %d ended\n", s.owners, s.slabs, ended);
	return 0;
}
C
for kind in 'without keys:-w:0' 'with keys of its own:-DKEYS:300'; do
	name=${kind%%:*} flag=${kind#*:}
	if ! musl-gcc -O2 -static "${flag%:*}" -I"$build/include" "$folder/threads.c" "$build/libashlar_malloc.a" -o "$folder/threads" 2>"$folder/errors"; then
		echo 'skip malloc: threads of static programs: musl-gcc is not here'
		break
	fi
	"$folder/threads" >"$folder/out" && grep -q "^1 records, 0 bytes in slabs, ${flag#*:} ended" "$folder/out"
	verdict "threads of a static program of musl $name leave nothing" "$folder/out"
done
exit $status
