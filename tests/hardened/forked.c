/* SPDX-License-Identifier: MIT */
/*
 * promises: a hardened product draws other numbers in each child of a fork, from its first block on, whichever thread
 * gets that; a child of vfork goes on with its parent's.
 */
#include "ashlar_malloc.h"
#include "program/child.h"
#include "program/filter.h"
#include "support/malloc_names.h"
#include "syscall.h"

enum { CHILDREN = 40, FEW = 16 };

/* The first large block, and which of the slots that this process left free the first blocks of 48 bytes get. */
struct places {
	uintptr_t large, small;
};

static void small_blocks(void *at)
{
	struct places *p = at;

	for (unsigned i = 0; i < FEW; i++)
		p->small = p->small * 31 + (uintptr_t)NOT_NULL(malloc(40));
}

static void large_block(void *at)
{
	((struct places *)at)->large = (uintptr_t)NOT_NULL(malloc(200000));
}

static void small_first(void *at)
{
	small_blocks(at);
	large_block(at);
}

static void large_first(void *at)
{
	large_block(at);
	small_blocks(at);
}

static void tell(void (*body)(void *))
{
	struct places p = {0, 0};

	body(&p);
	arch_write(2, &p, sizeof p);
}

static void by_itself(void *body)
{
	tell(*(void (**)(void *))body);
}

/* A thread that the child starts is the first, and is another one than the thread that forked. */
static void by_a_thread(void *body)
{
	rt_thread_join(NOT_NULL(rt_thread_start(by_itself, body)));
}

static void first_a_thread(void *body)
{
	struct places unused = {0, 0};

	rt_thread_join(NOT_NULL(rt_thread_start(large_first, &unused)));
	by_itself(body);
}

static void in_its_child(void *body)
{
	CHECK_EQ(in_child(by_itself, body), 0);
}

static unsigned others(const struct places *p, bool large)
{
	unsigned n = 0, i, k;

	for (i = 0; i < CHILDREN; i++) {
		for (k = 0; k < i && (large ? p[k].large != p[i].large : p[k].small != p[i].small); k++)
			;
		n += k == i;
	}
	return n;
}

/* 40 of the 16384 places: four pairs are seen once in 10^6 runs. */
static void children_differ(const char *name, void (*where)(void *), void (*body)(void *))
{
	struct places p[CHILDREN + 1];

	for (unsigned i = 0; i < CHILDREN; i++)
		CHECK_EQ(rt_run_child(where, (void *)&body, (char *)&p[i], sizeof *p + 1), 0);
	rt_print("     %s: %u places, %u orders of slots\n", name, others(p, true), others(p, false));
	CHECK(others(p, true) > CHILDREN - 4 && others(p, false) > CHILDREN - 4);
}

static void all_differ(void)
{
	children_differ("large first", by_itself, large_first);
	children_differ("small first", by_itself, small_first);
	children_differ("a thread, large first", by_a_thread, large_first);
	children_differ("a thread, small first", by_a_thread, small_first);
	children_differ("after a thread", first_a_thread, small_first);
	children_differ("children of children", in_its_child, small_first);
}

/* Many slots of one slab are free, so that a child needs no other. */
static void leave_slots(void)
{
	static void *p[400];

	for (unsigned i = 0; i < 400; i++)
		p[i] = NOT_NULL(malloc(40));
	for (unsigned i = 0; i < 400; i++)
		free(p[i]);
}

TEST(hardened_children_differ, 60)
{
	leave_slots();
	all_differ();
}

static void idle(UNUSED void *argument)
{
	free(NOT_NULL(malloc(40)));
}

TEST(hardened_children_of_threads_differ, 60)
{
	leave_slots();
	rt_thread_join(NOT_NULL(rt_thread_start(idle, NULL)));
	all_differ();
	IN_CHILD all_differ(); /* whose mark was set again */
}

/* Where the kernel gives no numbers, too. */
TEST(hardened_children_differ_unaided, 60)
{
	enum { GETRANDOM = 318 }; /* of x86_64 */

	if (!filter_calls(GETRANDOM, FILTER_REFUSE, FILTER_ALLOW))
		rt_skip("no filter of system calls here");
	leave_slots();
	all_differ();
}

/* Its numbers are not drawn anew, nor are they its parent's next. */
TEST(hardened_child_of_vfork_goes_on, 20)
{
	struct places child = {0, 0}, parent = {0, 0};

	natively_only();
	leave_slots();
	CHECK_EQ(in_vfork_child(0, small_first, &child), 0);
	small_first(&parent);
	CHECK(child.large != 0 && child.large != parent.large && child.small != parent.small);
	CHECK_EQ(ash_check(), 0);
}
