/* SPDX-License-Identifier: MIT */
/*
 * What the files of the facade share.  They see the public header only, and
 * of a C library nothing but names that may be absent: each is weak.
 */
#ifndef FACADE_H
#define FACADE_H

#include <stddef.h>
#include <stdint.h>

#include "ashlar.h"
#include "ashlar_malloc.h"

/* Taken where it is there, 0 where not: Ashlar itself needs no library. */
#define IF_PRESENT __attribute__((weak))
/* What programs call: seen from outside, whatever the objects are built with. */
#define EXPORT __attribute__((visibility("default")))

/* One object of ours calls it in the other: nobody else sees it. */
#define BETWEEN __attribute__((visibility("hidden")))

/* The kernel's and every libc's numbers on Linux. */
enum facade_error { FACADE_ENOMEM = 12, FACADE_EINVAL = 22 };

/* Sets errno, where there is one; returns NULL. */
void *facade_fail(enum facade_error error);

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

/* Our own, whatever the dynamic linker makes of the names. */
void *facade_malloc(size_t size);
void *facade_realloc(void *p, size_t size);
void facade_free(void *p);

/*
 * ashlar_is_malloc asks a function that it does not know by calling it with
 * what every malloc refuses or ignores: too many bytes, or NULL.  Ours answers
 * while it is asked; else free(NULL) would write a word that all threads share.
 */
enum facade_answer { FACADE_MALLOC = 1, FACADE_REALLOC = 2, FACADE_FREE = 4 };
struct facade_talk {
	unsigned asking, answer;
};
extern struct facade_talk facade_talk;

static inline void facade_tell(enum facade_answer answer)
{
	if (__atomic_load_n(&facade_talk.asking, __ATOMIC_RELAXED) != 0)
		__atomic_fetch_or(&facade_talk.answer, (unsigned)answer, __ATOMIC_RELAXED);
}

IF_PRESENT int *__errno_location(void);

#endif
