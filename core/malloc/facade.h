/* SPDX-License-Identifier: MIT */
/*
 * Declarations for the malloc facade: the files of core/malloc, which give Ashlar the names of C, POSIX and C++.
 * They use the public headers of Ashlar, the few functions declared here, and names of the C library.  Those names
 * may be absent, so they are weak.
 */
#ifndef FACADE_H
#define FACADE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ashlar.h"
#include "ashlar_malloc.h"
#include "internal.h"

/* A weak reference, which is NULL if the program has no such symbol.  Ashlar itself needs no library. */
#define IF_PRESENT __attribute__((weak))
/* Visible to programs, independent of the compiler's default visibility. */
#define EXPORT __attribute__((visibility("default")))

/* Error numbers of Linux, equal in every libc. */
enum facade_error { FACADE_ENOMEM = 12, FACADE_EINVAL = 22, FACADE_ENOSYS = 38 };

/* Sets errno, if the program has errno.  Returns NULL. */
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
EXPORT size_t malloc_object_size(const void *p);
EXPORT int mallopt(int parameter, int value);
EXPORT void malloc_stats(void);

/*
 * Counts the default heap, and then calls `row` for each row of ash_stats_class in order.  Not in ashlar.h
 * (core/diagnostics/malloc_needs.c).
 */
HIDDEN void ash_stats_rows(void (*row)(void *to, const struct ash_class *class), void *to);
/* Counts the heap a few rows at a time, for a small stack.  `row` must not allocate. */
HIDDEN void ash_stats_rows_few(void (*row)(void *to, const struct ash_class *class), void *to);
/*
 * Calls `part` for each slab and each span, as if it were alone in its row; the `bytes` of a span are those of its
 * block.  Returns the bytes that are free outside all slabs, and sets *runs to the number of their runs.
 */
HIDDEN size_t ash_stats_parts(void (*part)(void *to, const struct ash_class *class), size_t *runs, void *to);
/*
 * Returns the settings of the default heap, which the first call makes settings of its own.  They are changed only
 * while the process has one thread, so each thread reads them without an order.  Not in ashlar.h
 * (core/diagnostics/malloc_needs.c).
 */
HIDDEN struct ash_defaults *ash_own_settings(void);
/* See core/front/free.h and realloc.h. */
INTERNAL void ash_free(void *p);
HIDDEN void ash_delete(void *p);
HIDDEN void ash_delete_sized(void *p, size_t size);
HIDDEN void ash_delete_aligned_sized(void *p, size_t size, size_t alignment);
INTERNAL void ash_free_sized(void *p, size_t size);
INTERNAL void ash_free_aligned_sized(void *p, size_t alignment, size_t size);
INTERNAL void *ash_realloc(void *p, size_t size);
/* See core/front/diagnose.h.  `name` is a string literal. */
INTERNAL void diagnose_called(const char *name, const void *p);
/*
 * Returns the bytes from p to the end of its live block, 0 if p is in no live block, or SIZE_MAX if p is not Ashlar's
 * memory.
 */
INTERNAL size_t ash_object_size(const void *p);
/* See sys/text.h. */
INTERNAL char *text_add_number(char *to, uintptr_t n, unsigned base);
/* See sys/process.h. */
INTERNAL uint64_t process_number(void);
/* Writes to fd 2 by one system call. */
HIDDEN void ash_say(const char *text, size_t length);
/* Returns false if fd 2 of the program is now another file, and not a log. */
HIDDEN bool ash_may_say(void);

/* Write text or a number at `at`, without a final NUL; return the end. */
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

/*
 * Writes the text from `at` to `end` for a terminal or a log, as far as there is room between `to` and `last`.
 * Unprintable bytes and the backslash become \xHH.  Returns the end.
 */
INTERNAL char *facade_add_printed(char *to, const char *last, const char *at, const char *end);

/* Second names of malloc and others: they name Ashlar's functions even if the program uses another malloc. */
INTERNAL void *facade_malloc(size_t size);
INTERNAL void *facade_calloc(size_t count, size_t size);
INTERNAL void *facade_realloc(void *p, size_t size);
INTERNAL void facade_free(void *p);

/*
 * ashlar_is_malloc finds out whether an unknown function is Ashlar's by calling it with an argument that every malloc
 * refuses or ignores: too many bytes, or NULL.  Ashlar's function sets its bit in `answer`, but only while `asking`
 * is not 0; otherwise each free(NULL) would write a word that all threads share.
 */
enum facade_answer { FACADE_MALLOC = 1, FACADE_REALLOC = 2, FACADE_FREE = 4, FACADE_ALL = 7 };
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
