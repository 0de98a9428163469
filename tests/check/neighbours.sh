#!/bin/sh
# SPDX-License-Identifier: MIT
# Malloc among other libraries of a process: those that put functions of their own in the places of munmap, madvise
# and mremap; those that call glibc's malloc by its inner names; those that dlopen gives the C library's free.
. tests/support/verdict.sh

if ! echo 'int main(void) { return 0; }' | cc -x c - -o "$folder/hosted" 2>/dev/null; then
	echo "skip $subject: no compiler with a C library here"
	exit 0
fi
products='libashlar_malloc libashlar_malloc-hardened libashlar_profile'
top=$(realpath "$build")

# with PRODUCT COMMAND...: preloaded, in a folder that may get profiles, with its output in $folder/said
with() {
	preloaded=$1
	shift
	(cd "$folder" && LD_PRELOAD=$top/$preloaded.so "$@") >"$folder/said" 2>&1
}

# ---- memory goes back by the C library's functions ----

# told NAME: after told.c ran
told() {
	case $? in
	0) grep -qx told "$folder/said" ;;
	77) echo "skip $subject: $1: no filter of system calls can be had" && return ;;
	*) false ;;
	esac
	verdict "$1: memory goes back by the program's munmap, madvise and mremap, which may do anything" "$folder/said"
}
compile='cc -O1 -fno-builtin -w tests/check/told.c'
$compile -rdynamic -o "$folder/told" 2>"$folder/errors"
verdict 'the program is made' "$folder/errors"
for product in $products; do
	with $product "$folder/told"
	told "$product.so preloaded"
done
for product in libashlar_malloc libashlar_malloc-hardened; do
	for kind in -static -rdynamic; do
		$compile $kind "$build/$product.a" -o "$folder/linked" 2>"$folder/errors"
		verdict "a program links with $product.a ($kind)" "$folder/errors" || continue
		"$folder/linked" >"$folder/said" 2>&1
		told "$product.a ($kind)"
	done
done
# The kernel's headers are those of the C library here.
if musl-gcc -O1 -fno-builtin -w -static -DWAITS -idirafter /usr/include -idirafter "/usr/include/$(cc -dumpmachine)" \
	tests/check/told.c "$build/libashlar_malloc.a" -o "$folder/musl" 2>"$folder/errors"; then
	"$folder/musl" >"$folder/said" 2>&1 && grep -qx told "$folder/said"
	verdict 'in a static program of musl the kernel is asked, as its munmap and mremap wait for other threads' "$folder/said"
else
	echo "skip $subject: musl's functions are not called: musl-gcc is not here"
fi

# ---- the inner names of glibc's malloc ----

cat >"$folder/inner.c" <<'C'
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t), *__libc_valloc(size_t), *__libc_pvalloc(size_t);
extern void __libc_free(void *);
extern int __posix_memalign(void **, size_t, size_t) __attribute__((weak)); /* not in every glibc */
int main(void)
{
	static char zero[100];
	void *p[8] = {__libc_malloc(100), __libc_calloc(10, 10), __libc_realloc(malloc(10), 100), __libc_memalign(64, 100),
		__libc_valloc(100), __libc_pvalloc(100), realloc(__libc_malloc(10), 100), malloc(100)};
	if (memcmp(p[1], zero, 100) != 0 || malloc_usable_size(p[0]) < 100)
		return 1;
	for (int i = 0; i < 8; i++) {
		memset(p[i], i, 100);
		p[i] = i % 2 == 0 ? realloc(p[i], 5000) : __libc_realloc(p[i], 5000);
	}
	for (int i = 0; i < 8; i++)
		i < 4 ? free(p[i]) : __libc_free(p[i]);
	if (__posix_memalign == NULL || __posix_memalign(p, 64, 100) == 0)
		__posix_memalign == NULL ? (void)0 : free(p[0]);
	puts("right");
	return 0;
}
C
cc -O1 -fno-builtin -w "$folder/inner.c" -o "$folder/inner" 2>"$folder/errors"
verdict 'a program that calls glibc by its inner names is made' "$folder/errors"
for product in $products; do
	with $product "$folder/inner" && grep -qx right "$folder/said"
	verdict "$product.so preloaded: blocks by __libc_malloc and others are free's" "$folder/said"
done
for compiler in cc musl-gcc; do
	for product in libashlar_malloc libashlar_malloc-hardened; do
		if ! command -v $compiler >/dev/null; then
			echo "skip $subject: $product.a by $compiler: it is not here"
			continue
		fi
		$compiler -O1 -static -fno-builtin -w "$folder/inner.c" "$build/$product.a" -o "$folder/linked" 2>"$folder/errors" &&
			"$folder/linked" >"$folder/said" 2>&1 && grep -qx right "$folder/said"
		verdict "$product.a in a static program by $compiler: the same" "$folder/errors" "$folder/said"
	done
done

# ---- RTLD_DEEPBIND ----

mkdir "$folder/inside"
cat >"$folder/bound.c" <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
void *give(void) { return malloc(100); }
void take(void *p) { free(p); }
/* Found by the RUNPATH of this library, not of the program. */
void *open_beside(void) { return dlopen("libinside.so", RTLD_NOW | RTLD_DEEPBIND); }
void *open_apart(void) { return dlmopen(LM_ID_BASE, "libinside2.so", RTLD_NOW | RTLD_DEEPBIND); }
C
cat >"$folder/deep.c" <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void exchange(void *library, const char *how)
{
	void *(*give)(void) = library != NULL ? (void *(*)(void))dlsym(library, "give") : NULL;
	void (*take)(void *) = library != NULL ? (void (*)(void *))dlsym(library, "take") : NULL;
	if (give == NULL || take == NULL) {
		printf("%s: %s\n", how, dlerror());
		exit(1);
	}
	free(give());
	take(malloc(100));
}
int main(int argc, char **argv)
{
	void *library = dlopen(argv[1], RTLD_LAZY | RTLD_DEEPBIND);
	const char *error;
	(void)argc;
	exchange(library, "dlopen");
	exchange(dlmopen(LM_ID_BASE, argv[2], RTLD_NOW | RTLD_DEEPBIND), "dlmopen");
	exchange(((void *(*)(void))dlsym(library, "open_beside"))(), "a library that dlopen is called from");
	exchange(((void *(*)(void))dlsym(library, "open_apart"))(), "a library that dlmopen is called from");
	if (dlopen("libinside.so", RTLD_NOW) != dlopen("libinside.so", RTLD_NOW | RTLD_NOLOAD) ||
	    dlopen("libnowhere.so", RTLD_NOW | RTLD_DEEPBIND) != NULL || (error = dlerror()) == NULL ||
	    strstr(error, "libnowhere.so") == NULL)
		return puts("a library that is not there"), 1;
	/* Of a namespace of its own: both are its C library's. */
	if ((library = dlmopen(LM_ID_NEWLM, argv[1], RTLD_NOW | RTLD_DEEPBIND)) == NULL)
		return puts("a namespace"), 1;
	((void (*)(void *))dlsym(library, "take"))(((void *(*)(void))dlsym(library, "give"))());
	puts("right");
	return 0;
}
C
for library in inside apart bound; do
	cc -shared -fPIC -fno-builtin -O1 "$folder/bound.c" -Wl,-rpath,"\$ORIGIN/inside",--enable-new-dtags \
		-o "$folder/lib$library.so" -ldl || exit 1
done
cp "$folder/libinside.so" "$folder/inside/libinside2.so" && mv "$folder/libinside.so" "$folder/inside"
cc -O1 -fno-builtin -w "$folder/deep.c" -o "$folder/deep" -ldl 2>"$folder/errors"
verdict 'a program that opens by RTLD_DEEPBIND is made' "$folder/errors"
for product in $products; do
	with $product "$folder/deep" "$folder/libbound.so" "$folder/libapart.so" && grep -qx right "$folder/said"
	verdict "$product.so preloaded: a library opened so has the same malloc, found for whom it is opened" "$folder/said"
done
exit $status
