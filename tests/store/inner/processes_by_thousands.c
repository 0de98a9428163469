/* SPDX-License-Identifier: MIT */
/*
 * S12: thousands of processes attached to one heap at a time, each with a record of its own; all of
 * them are killed, and the one that is left takes over what they held.
 */
#include "ashlar_heap.h"
#include "pages.h"
#include "rt.h"
#include "syscall.h"

enum { MOST = 2000 };

static ash_heap *heap;
static struct {
	_Atomic uint32_t ready, leave;
	_Atomic size_t draft_none;
	uint64_t *block[MOST];
} *told;
static unsigned char seen[MOST];
static size_t live, dead, nameless, drafts;

static void stays(size_t i)
{
	uint64_t *p;

	rt_end_with_parent();
	CHECK((p = ash_heap_alloc(heap, 48)) != NULL);
	*p = i;
	told->block[i] = p;
	if (ash_heap_draft(heap, 100) == NULL)
		told->draft_none++;
	told->ready++;
	while (!told->leave)
		(void)arch_futex(&told->leave, 0, 0, NULL, NULL, 0); /* wait while it is 0 */
	rt_exit(1);
}

static int visit(void *context, void *block, size_t size, const struct ash_heap_owner *owner)
{
	uint64_t i = *(uint64_t *)block;

	if (size != 48) {
		drafts++;
		return 0;
	}
	CHECK(context != NULL && i < MOST && told->block[i] == block && !seen[i]);
	seen[i] = 1;
	live += owner->live;
	dead += !owner->live;
	nameless += owner->id == 0 || owner->id == 16383;
	return 0;
}

static size_t walk(void)
{
	size_t i, n = 0;

	memset(seen, 0, sizeof seen);
	live = dead = nameless = drafts = 0;
	CHECK_EQ(ash_heap_walk(heap, visit, seen), 0);
	for (i = 0; i < MOST; i++)
		n += seen[i];
	return n;
}

TEST(processes_by_thousands, 120)
{
	size_t many = rt_under_qemu() ? 60 : MOST, i;
	static long pid[MOST];

	heap = NOT_NULL(ash_heap_create_shared((size_t)256 << 20, NULL));
	told = NOT_NULL(pages_reserve(sizeof *told, PAGE_LEAST, PAGES_SHARED));
	for (i = 0; i < many; i++) {
		pid[i] = rt_fork();
		if (pid[i] == 0)
			stays(i);
		if (pid[i] < 0)
			rt_skip("so many processes at once may not be had here");
	}
	while (told->ready < many)
		rt_yield();
	CHECK_EQ(told->draft_none, 0);
	CHECK_EQ(walk(), many);
	CHECK(live == many && dead == 0 && nameless == 0);
	CHECK_EQ(drafts, many);
	for (i = 0; i < many; i++) {
		rt_kill(pid[i], 9);
		CHECK_EQ(rt_wait(pid[i]), 1000 + 9);
	}
	CHECK_EQ(ash_heap_recover(heap), many);
	CHECK_EQ(walk(), many);
	CHECK(live == 0 && dead == many && nameless == 0 && drafts == 0);
	for (i = 0; i < many; i++)
		ash_heap_release(heap, told->block[i]);
	CHECK_EQ(ash_heap_check(heap), 0);
	CHECK_EQ(walk(), 0);
	CHECK(ash_heap_alloc(heap, (size_t)256 << 20) != NULL);
}
