/* SPDX-License-Identifier: MIT */
/* Tests the contract of each function of malloc's family; a hosted program under Ashlar. */
#define _GNU_SOURCE
#ifdef FIXED
#include <dlfcn.h>
#endif
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ashlar_malloc.h"

static int failures;

#define CHECK(condition)                                                                           \
	((condition) ? (void)0                                                                     \
		     : (void)(failures++, printf("%s:%d: %s\n", __FILE__, __LINE__, #condition)))

/* Functions that glibc lacks or has removed: present only with Ashlar. */
__attribute__((weak)) void cfree(void *p);
__attribute__((weak)) void free_sized(void *p, size_t size);
__attribute__((weak)) void free_aligned_sized(void *p, size_t alignment, size_t size);
__attribute__((weak)) int ashlar_is_malloc(void);

/* musl's headers leave these out. */
void *pvalloc(size_t size);
int mallopt(int parameter, int value);
int malloc_trim(size_t pad);
void malloc_stats(void);
struct figures {
	size_t arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks, uordblks, fordblks,
		keepcost;
};
struct figures figures(void) __asm__("mallinfo2");

/* Volatile, as the compiler knows these functions and would optimise the calls away. */
static void *volatile sink;
static volatile size_t odd = 24, none = 0, huge = (size_t)PTRDIFF_MAX + 1, most = SIZE_MAX;

static int aligned(const void *p, size_t alignment)
{
	return p != NULL && (uintptr_t)p % alignment == 0;
}

/* The call must fail with this error. */
#define FAILS(call, error)                                                                         \
	do {                                                                                       \
		errno = 0;                                                                         \
		sink = (call);                                                                     \
		CHECK(sink == NULL);                                                               \
		CHECK(errno == (error));                                                           \
	} while (0)

static void too_large(void)
{
	void *p = malloc(100), *out = p;

	FAILS(malloc(huge), ENOMEM);
	FAILS(malloc(most), ENOMEM);
	FAILS(calloc(huge, 1), ENOMEM);
	FAILS(calloc(most, most), ENOMEM);
	FAILS(calloc(huge >> 20, huge >> 20), ENOMEM);
	FAILS(realloc(NULL, huge), ENOMEM);
	FAILS(realloc(p, most), ENOMEM);
	FAILS(reallocarray(p, most, 2), ENOMEM);
	FAILS(reallocarray(p, huge, 1), ENOMEM);
	FAILS(aligned_alloc(64, huge), ENOMEM);
	FAILS(memalign(64, most), ENOMEM);
	FAILS(valloc(most), ENOMEM);
	FAILS(pvalloc(most), ENOMEM);
	FAILS(pvalloc(huge), ENOMEM);
	errno = 0;
	CHECK(posix_memalign(&out, 64, huge) == ENOMEM && out == p && errno == ENOMEM);
	p = realloc(p, (size_t)3 << 20);
	FAILS(realloc(p, huge), ENOMEM);
	FAILS(realloc(p, (size_t)1 << 47), ENOMEM);
	free(p);
}

static void alignments(void)
{
	void *p = NULL;
	size_t size, a;

	for (size = 16; size < 5000; size += 7) {
		p = malloc(size);
		CHECK(aligned(p, 16));
		p = realloc(p, size * 2);
		CHECK(aligned(p, 16));
		free(p);
		p = calloc(1, size);
		CHECK(aligned(p, 16));
		free(p);
	}
	for (a = 8; a <= (size_t)1 << 22; a *= 2) {
		CHECK(posix_memalign(&p, a, a + 1) == 0 && aligned(p, a));
		free(p);
		p = aligned_alloc(a, 3 * a);
		CHECK(aligned(p, a) && malloc_usable_size(p) >= 3 * a);
		free_aligned_sized(p, a, 3 * a);
		p = memalign(a - 1, 100);
		CHECK(aligned(p, a));
		cfree(p);
	}
	FAILS(aligned_alloc(none, 8), EINVAL);
	FAILS(aligned_alloc(odd, 48), EINVAL);
	FAILS(memalign(most, 8), EINVAL);
	errno = 0;
	CHECK(posix_memalign(&p, 24, 8) == EINVAL && errno == 0);
	CHECK(posix_memalign(&p, 4, 8) == EINVAL && errno == 0);
	p = valloc(10);
	CHECK(aligned(p, 4096));
	free(p);
	p = pvalloc(4097);
	CHECK(aligned(p, 4096) && malloc_usable_size(p) >= 8192);
	free(p);
}

static void errno_stays(void)
{
	void *blocks[6] = {NULL, malloc(8), malloc(5000), malloc(300000), malloc((size_t)40 << 20),
			   malloc(1)};
	unsigned i;

	for (i = 0; i < 5; i++) {
		errno = 4711;
		free(blocks[i]);
		CHECK(errno == 4711);
	}
	free_sized(blocks[5], 1);
	CHECK(errno == 4711);
	errno = 0;
}

static void details(void)
{
	struct figures before, after;
	char *p, *q;

	sink = malloc(10);
	CHECK(realloc(sink, 0) == NULL && errno == 0);
	p = realloc(NULL, 0);
	q = malloc(0);
	CHECK(p != NULL && q != NULL && p != q);
	free(p);
	free(q);
	p = malloc(3000);
	memset(p, 1, 3000);
	free(p);
	p = calloc(3, 1000);
	CHECK(p[0] == 0 && memcmp(p, p + 1, 2999) == 0);
	memset(p, 7, 3000);
	p = reallocarray(p, 1000, 3000);
	CHECK(p[2999] == 7);
	CHECK(malloc_usable_size(p) >= 3000000 && malloc_usable_size(NULL) == 0);
	before = figures();
	free(p);
	after = figures();
	CHECK(before.hblkhd >= after.hblkhd + 3000000 && before.hblks == after.hblks + 1);
	CHECK(mallopt(-3, 1) == 1 && mallopt(5, 1) == 0);
	CHECK(malloc_trim(0) == 0 || malloc_trim(0) == 0);
	malloc_stats();
}

/* In a program at fixed addresses these point to PLT entries, not to the functions. */
static void *(*volatile my_malloc)(size_t);
static void (*volatile my_free)(void *);

int main(int argc, char **argv)
{
	int (*is_malloc)(void) = ashlar_is_malloc;

	(void)argv;
	my_malloc = malloc;
	my_free = free;
	my_free(my_malloc(1));
#ifdef FIXED /* the linker resolves weak references to NULL there */
	is_malloc = (int (*)(void))dlsym(RTLD_DEFAULT, "ashlar_is_malloc");
#endif
	CHECK(is_malloc != NULL);
	errno = 77;
	CHECK(is_malloc != NULL && is_malloc() == 1 && errno == 77);
	errno = 0;
	if (argc == 1) {
		too_large();
		alignments();
		errno_stays();
		details();
	}
	puts(failures == 0 ? "all is well" : "it is not");
	return failures != 0;
}
