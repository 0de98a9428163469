/* SPDX-License-Identifier: MIT */
/* The program's functions (hook.c): called once where a call fails, and never elsewhere. */
/* promises: ash_on_no_memory, ash_on_thread */
#include "ashlar.h"
#include "rt.h"

static unsigned refused;
static _Thread_local unsigned threads;

void ash_on_no_memory(void)
{
	refused++;
}

void ash_on_thread(void)
{
	threads++;
}

#define REFUSED(expression)                                                                        \
	do {                                                                                       \
		unsigned before = refused;                                                         \
		CHECK((expression) == NULL);                                                       \
		CHECK_EQ(refused, before + 1);                                                     \
	} while (0)

TEST(hooks_no_memory, 10)
{
	char *p = ash_alloc(100), *q = ash_alloc(2 * MIB);
	size_t much = (size_t)1 << 50, most = PTRDIFF_MAX;

	CHECK_EQ(refused, 0);
	REFUSED(ash_alloc(most));
	REFUSED(ash_alloc(most + 1));
	REFUSED(ash_alloc(SIZE_MAX));
	REFUSED(ash_alloc(much));
	REFUSED(ash_zalloc(1, much));
	REFUSED(ash_zalloc(much, much));
	REFUSED(ash_zalloc(2, most));
	REFUSED(ash_aligned_alloc(64, much));
	REFUSED(ash_aligned_alloc(64, SIZE_MAX));
	REFUSED(ash_aligned_alloc(48, 100));
	REFUSED(ash_aligned_alloc(much, 100));
	REFUSED(ash_resize(p, much));
	REFUSED(ash_resize(p, most));
	REFUSED(ash_resize(p, SIZE_MAX));
	REFUSED(ash_resize(q, much));
	REFUSED(ash_resize(q, SIZE_MAX));
	REFUSED(ash_aligned_zalloc(64, much));
	REFUSED(ash_aligned_zalloc(48, 100));
	REFUSED(ash_aligned_zalloc((size_t)4 << 20, much));
	REFUSED(ash_aligned_resize(p, 64, much));
	REFUSED(ash_aligned_resize(p, 48, 100));
	REFUSED(ash_aligned_resize(q, 64, much));
	REFUSED(ash_aligned_resize(q, (size_t)64 << 20, much));
	refused = 0;
	CHECK_EQ(ash_expand(p, 5000) + ash_expand(q, much) + ash_expand(p, SIZE_MAX), 0);
	CHECK_EQ(refused, 0); /* the block only stays as it is */
	refused = 0;
	p = ash_resize(p, 5000);
	q = ash_resize(q, 5 * MIB);
	ash_release(ash_zalloc(3, 3000));
	ash_release(ash_aligned_alloc(4096, 30000));
	ash_release(p);
	ash_release(q);
	CHECK_EQ(refused, 0);
}

static void thread_body(void *result)
{
	ash_release(ash_alloc(10));
	ash_release(ash_alloc(3 * MIB));
	*(unsigned *)result = threads;
	ash_thread_detach();
	ash_release(ash_alloc(10)); /* a first call again */
	*(unsigned *)result += threads;
}

TEST(hooks_thread, 10)
{
	unsigned result = 0;

	rt_in_thread(thread_body, &result);
	CHECK_EQ(result, 1 + 2);
}
