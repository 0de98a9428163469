/* SPDX-License-Identifier: MIT */
/* Whose malloc this process has. */
#include "facade.h"

/*
 * The process's.  Volatile, so that the compiler neither compares them ahead
 * of time nor drops a malloc whose result is not used.
 */
static struct {
	__typeof__(malloc) *malloc;
	__typeof__(realloc) *realloc;
	__typeof__(free) *free;
} volatile process = {malloc, realloc, free};

static const volatile size_t too_much = SIZE_MAX;
static void *volatile nothing;

INTERNAL struct facade_talk facade_talk;

/*
 * Equal addresses tell.  Unequal ones do not: in a program at fixed addresses
 * a function's address is that of a jump to it.  So it is called.
 */
EXPORT int ashlar_is_malloc(void)
{
	unsigned answer = 0;
	int error = 0;

	if (__errno_location != NULL)
		error = *__errno_location();
	__atomic_fetch_add(&facade_talk.asking, 1, __ATOMIC_RELAXED);
	if (process.malloc == facade_malloc)
		answer |= FACADE_MALLOC;
	else
		nothing = process.malloc(too_much);
	if (process.realloc == facade_realloc)
		answer |= FACADE_REALLOC;
	else
		nothing = process.realloc(NULL, too_much);
	if (process.free == facade_free)
		answer |= FACADE_FREE;
	else
		process.free(NULL);
	__atomic_fetch_sub(&facade_talk.asking, 1, __ATOMIC_RELAXED);
	answer |= __atomic_load_n(&facade_talk.answer, __ATOMIC_RELAXED);
	if (__errno_location != NULL)
		*__errno_location() = error;
	return answer == (FACADE_MALLOC | FACADE_REALLOC | FACADE_FREE);
}
