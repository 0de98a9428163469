#!/bin/sh
# SPDX-License-Identifier: MIT
# Ashlar inside of musl (tools/musl): libc.a and libc.so of Debian's source of musl, staged, and programs with them.
. tools/programs/common.sh

source=$(find "$build/musl" -maxdepth 1 -name 'musl_*.orig.tar.gz' 2>/dev/null | head -n 1)
if [ -z "$source" ] || ! have make gcc patch; then
	skip 'musl: no source of it (make setup-programs), or no make, gcc or patch'
	exit 0
fi
unset MAKEFLAGS MFLAGS MAKELEVEL BUILD CC V

musl=$folder/musl
mkdir "$musl" && quiet tar -xzf "$source" -C "$musl" --strip-components 1 && quiet sh tools/musl/stage "$musl" && quiet sh tools/musl/stage "$musl"
verdict 'musl: its source is staged, twice'
quiet sh tools/musl/stage "$folder"
[ $? = 1 ]
verdict 'musl: another folder is refused'

# build_musl MALLOC: into $to, if there is one
build_musl() {
	to=$folder/$1 lib=$folder/$1/lib
	(
		cd "$musl" || exit
		quiet ./configure --prefix="$to" --syslibdir="$lib" --with-malloc="$1" CC=gcc && quiet plain make -s -j "$(nproc)" install
	) && [ -f "$lib/libc.so" ] && [ -f "$lib/libc.a" ]
}
# exports: the names that libc.so defines for programs, and its sections of thread-local storage.
exports() {
	nm -D --defined-only "$lib/libc.so" | awk '{ print $2, $3 }' | sort
	readelf -lW "$lib/libc.so" | sed -n '/^ *TLS/p'
}
# The objects other than malloc's serve all.
build_musl mallocng && exports >"$folder/before" && [ -s "$folder/before" ]
verdict 'musl: libc.a and libc.so are built with mallocng'

# compiled KIND ARGUMENT...: makes $folder/program.
compiled() {
	kind=$1
	shift
	case $kind in
	static) set -- -static -no-pie -fno-pie "$lib/crt1.o" "$@" "$lib/libc.a" ;;
	static-pie) set -- -static-pie -fPIE "$lib/rcrt1.o" "$@" "$lib/libc.a" ;;
	dynamic) set -- -pie -fPIE "-Wl,-dynamic-linker,$lib/libc.so" "$lib/Scrt1.o" "$@" "$lib/libc.so" ;;
	library) set -- -shared -fPIC "$@" "$lib/libc.so" ;;
	esac
	quiet gcc -O1 -g -fno-builtin -fno-stack-protector -nostdinc -isystem "$to/include" -Icore/include -nostdlib "$lib/crti.o" "$@" \
		"$(gcc -print-libgcc-file-name)" "$lib/crtn.o" -o "$folder/program"
}

# A program that has an Ashlar of its own, by its public names.
cat >"$folder/own.c" <<'C'
#include <ashlar.h>
#include <stdlib.h>
int main(void)
{
	void *p = ash_alloc(100), *q = malloc(100);
	int both = ash_find(p, &(struct ash_block){0}) == ASH_TAKEN && ash_find(q, &(struct ash_block){0}) == ASH_FOREIGN;
	ash_release(p);
	free(q);
	return !both;
}
C
# Another malloc in a dynamic program: its free must not get blocks of aligned_alloc.
cat >"$folder/replaced.c" <<'C'
#include <errno.h>
#include <stdlib.h>
static char memory[1 << 20], *at = memory;
void *malloc(size_t n) { char *p = at; at += (n + 15) & -16; return p; }
void free(void *p) { (void)p; }
void *realloc(void *p, size_t n) { (void)p; return malloc(n); }
int main(void)
{
	char *p = calloc(1, 5000);
	return aligned_alloc(64, 100) != NULL || errno != ENOMEM || p < memory || p >= at;
}
C
cat >"$folder/twice.c" <<'C'
#include <stdlib.h>
int main(void)
{
	void *volatile p = malloc(100);
	free(p);
	free(p);
	return 0;
}
C
for malloc in ashlar ashlar-small; do
	build_musl $malloc
	verdict "$malloc: libc.a and libc.so are built"
	exports >"$folder/out"
	cmp "$folder/before" "$folder/out" >"$folder/errors"
	verdict "$malloc: libc.so exports the names that it has with mallocng, and has no thread-local storage"
	nm -g "$lib/libc.a" 2>/dev/null | grep -E ' (_?ash_|_?ashlar|gnu_get)' >"$folder/out"
	[ ! -s "$folder/out" ]
	verdict "$malloc: libc.a has no public name of Ashlar"
	compiled library -DLIBRARY "$here/musl.c" && mv "$folder/program" "$folder/library.so"
	verdict "$malloc: a library for dlopen"
	for kind in static static-pie dynamic; do
		compiled $kind "$here/musl.c" && quiet plain "$folder/program" && grep -qx 'all is well' "$folder/out"
		verdict "$malloc: what malloc promises, $kind"
		compiled $kind "$here/threads.c" && quiet plain "$folder/program"
		verdict "$malloc: threads, $kind"
		compiled $kind "$here/fork.c" && quiet plain "$folder/program" 300
		verdict "$malloc: forks beside threads, $kind"
	done
	# The dynamic linker moves the main thread if the program's thread-local storage is large.
	for flag in -DMOVED=0 -DMOVED=5000; do
		compiled dynamic $flag "$here/musl.c" && quiet plain "$folder/program" "$folder/library.so" && grep -qx 'all is well' "$folder/out"
		verdict "$malloc: dlopen, $flag"
	done
	for kind in static dynamic; do
		compiled $kind "$folder/own.c" "$build/libashlar.a" && quiet plain "$folder/program"
		verdict "$malloc: a program with libashlar.a of its own, $kind"
	done
	compiled dynamic "$folder/replaced.c" && quiet plain "$folder/program"
	verdict "$malloc: a program with another malloc"
	compiled static "$folder/twice.c"
	quiet plain "$folder/program"
	[ $? = 134 ] && grep -q '^ashlar: ash_release.*double free' "$folder/errors"
	verdict "$malloc: a second free is reported"
done
exit $status
