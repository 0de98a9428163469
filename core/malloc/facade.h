/* SPDX-License-Identifier: MIT */
/*
 * What the files of the facade share.  They see the public header only, and
 * of a C library nothing but names that may be absent: each is weak.
 */
#ifndef FACADE_H
#define FACADE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ashlar.h"
#include "ashlar_malloc.h"
#include "internal.h"

/* Taken where it is there, 0 where not: Ashlar itself needs no library. */
#define IF_PRESENT __attribute__((weak))
/* What programs call: seen from outside, whatever the objects are built with. */
#define EXPORT __attribute__((visibility("default")))

/* The kernel's and every libc's numbers on Linux. */
enum facade_error { FACADE_ENOMEM = 12, FACADE_EINVAL = 22, FACADE_ENOSYS = 38 };

/* Sets errno, where there is one; returns NULL. */
INTERNAL void *facade_fail(enum facade_error error);

EXPORT void *malloc(size_t size);
EXPORT void *calloc(size_t count, size_t size);
EXPORT void *realloc(void *p, size_t size);
EXPORT void *reallocarray(void *p, size_t count, size_t size);
EXPORT void free(void *p);
EXPORT void cfree(void *p);
EXPORT void free_sized(void *p, size_t size);
EXPORT void free_aligned_sized(void *p, size_t alignment, size_t size);
EXPORT void *aligned_alloc(size_t alignment, size_t size);
EXPORT int posix_memalign(void **out, size_t alignment, size_t size);
EXPORT void *memalign(size_t alignment, size_t size);
EXPORT void *valloc(size_t size);
EXPORT void *pvalloc(size_t size);
EXPORT size_t malloc_usable_size(void *p);

/*
 * Of the library, beside ashlar.h (core/diagnostics/stats.c).  ash_stats_rows counts the default
 * heap and then calls `row` for each size class, the smallest first, with the bytes of
 * a slot, how many there are and are taken, and the bytes that all of this holds; in
 * the end with size 0 for the blocks that have chunks of their own.
 */
HIDDEN void ash_stats_rows(void (*row)(void *to, size_t size, size_t slots, size_t taken,
					size_t bytes),
			    void *to);
/* Writes on fd 2, by one system call. */
HIDDEN void ash_say(const char *text, size_t length);

/* Text and numbers at `at`; where they end.  No end mark. */
static inline char *facade_add(char *at, const char *text)
{
	while (*text != '\0')
		*at++ = *text++;
	return at;
}

static inline char *facade_add_number(char *at, size_t n)
{
	char digits[20];
	unsigned i = 0;

	do
		digits[i++] = (char)('0' + n % 10);
	while ((n /= 10) != 0);
	while (i > 0)
		*at++ = digits[--i];
	return at;
}

/* Our own, whatever the dynamic linker makes of the names. */
INTERNAL void *facade_malloc(size_t size);
INTERNAL void *facade_calloc(size_t count, size_t size);
INTERNAL void *facade_realloc(void *p, size_t size);
INTERNAL void facade_free(void *p);

/*
 * ashlar_is_malloc asks a function that it does not know by calling it with
 * what every malloc refuses or ignores: too many bytes, or NULL.  Ours answers
 * while it is asked; else free(NULL) would write a word that all threads share.
 */
enum facade_answer { FACADE_MALLOC = 1, FACADE_REALLOC = 2, FACADE_FREE = 4 };
struct facade_talk {
	unsigned asking, answer;
};
INTERNAL_EXTERN struct facade_talk facade_talk;

static inline void facade_tell(enum facade_answer answer)
{
	if (__atomic_load_n(&facade_talk.asking, __ATOMIC_RELAXED) != 0)
		__atomic_fetch_or(&facade_talk.answer, (unsigned)answer, __ATOMIC_RELAXED);
}

IF_PRESENT int *__errno_location(void);

#endif
