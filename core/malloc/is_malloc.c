/* SPDX-License-Identifier: MIT */
/* Finds out whether the process's malloc is Ashlar's. */
#include "facade.h"

/*
 * The functions to which the process's names are bound.  Volatile, so that the compiler neither compares them at
 * compile time nor drops a malloc whose result is unused.
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
 * Equal addresses prove that a function is Ashlar's.  Unequal addresses prove nothing, because in a program at fixed
 * addresses a function's address may be that of its PLT entry.  Then the function is called.  A tool such as valgrind
 * may have replaced the code at Ashlar's address: then the block that the call returns is not Ashlar's.
 */
EXPORT int ashlar_is_malloc(void)
{
	struct ash_block found;
	unsigned answer = 0;
	int error = 0;
	void *p;

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
	if (answer == FACADE_ALL) {
		p = process.malloc(1);
		if (p != NULL && ash_find(p, &found) != ASH_TAKEN)
			answer = 0;
		process.free(p);
	}
	if (__errno_location != NULL)
		*__errno_location() = error;
	return answer == FACADE_ALL;
}
