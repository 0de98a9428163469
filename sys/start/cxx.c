/* SPDX-License-Identifier: MIT */
/* The parts that C++ programs without a C++ library need besides operator new and delete (core/malloc/new.c). */
#include "atomic.h"
#include "cpu.h"
#include "internal.h"

#include <stddef.h>

enum { MOST = 128 };

struct ending {
	void (*destroy)(void *);
	void *object;
};
static struct ending endings[MOST];
static uint64_t count;

extern void *__dso_handle HIDDEN;
int __cxa_atexit(void (*destroy)(void *), void *object, void *handle);
void __cxa_pure_virtual(void);
HIDDEN void ash_start_destroy(void);

void *__dso_handle;

int __cxa_atexit(void (*destroy)(void *), void *object, void *handle)
{
	uint64_t i = load_relaxed(&count);

	(void)handle;
	do
		if (i == MOST)
			return -1;
	while (!cas_acq_rel(&count, &i, i + 1)); /* pairs with itself: each index has a single thread */
	endings[i] = (struct ending){destroy, object};
	return 0;
}

/* Called when main has returned (begin.c).  An object that is made during the call is destroyed, too. */
void ash_start_destroy(void)
{
	uint64_t i;

	while ((i = load_relaxed(&count)) > 0) {
		store_relaxed(&count, i - 1);
		if (endings[i - 1].destroy != NULL)
			endings[i - 1].destroy(endings[i - 1].object);
	}
}

void __cxa_pure_virtual(void)
{
	cpu_stop();
}
