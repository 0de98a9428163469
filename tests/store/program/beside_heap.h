/* SPDX-License-Identifier: MIT */
/* A heap in a file for processes that attach while others change it, and what these do. */
#ifndef TESTS_STORE_PROGRAM_BESIDE_HEAP_H
#define TESTS_STORE_PROGRAM_BESIDE_HEAP_H

#include "heaps/instance.h"
#include "support/blocks.h"
#include "syscall.h"

enum { CHUNKS = 6, LIMIT = 40, BLOCKS = 60 };

static int file;

/* ---- the heap: a list of blocks from the root, of many sizes ---- */

struct node {
	struct node *next;
	size_t size;
};

static ash_heap *attach(void)
{
	enum ash_attach why;
	ash_heap *h = ash_heap_attach_file(file, &why);

	if (h == NULL)
		rt_print("     refused: %d\n", (int)why);
	CHECK(h != NULL && why == ASH_ATTACHED);
	return h;
}

static struct node *node_make(ash_heap *h, size_t size, struct node *next)
{
	struct node *n = NOT_NULL(ash_heap_alloc(h, size));

	n->next = next;
	n->size = size;
	return n;
}

static void make(void)
{
	struct ash_heap_options options = {.limit = (size_t)LIMIT << 21};
	ash_heap *h = ash_heap_create_file(file, (size_t)CHUNKS << 21, &options);
	struct node *n = NULL;
	unsigned i;

	CHECK(h != NULL);
	for (i = 0; i < BLOCKS; i++)
		n = node_make(h, (size_t)16 << (i % 13), n);
	n = node_make(h, (size_t)3 << 20, n);
	CHECK_EQ(ash_heap_bind(h, "list", n), ASH_SLOT_DONE);
	ash_heap_set_root(h, n);
	rt_exit(0); /* it dies with a record */
}

static void begin(void)
{
	file = (int)arch_memfd_create("beside", 0);
	CHECK(file >= 0);
	IN_CHILD
		make();
}

static inline void heap_is_good(ash_heap *h)
{
	const struct node *n = ash_heap_root(h);
	unsigned count = 0;

	CHECK(n != NULL && ash_heap_find(h, "list") == n);
	for (; n != NULL; n = n->next, count++)
		CHECK(ash_heap_usable_size(h, n) >= n->size);
	CHECK_EQ(count, BLOCKS + 1);
	CHECK_EQ(ash_heap_check(h), 0);
}

/* ---- what the others do ---- */

static ash_heap *theirs;
static volatile bool in_steps;
static unsigned turn; /* of the process that acts */

static void slabs(void)
{
	unsigned i, n = in_steps ? 3 : 40;
	void *p[40];

	for (i = 0; i < n; i++)
		p[i] = ash_heap_alloc(theirs, (size_t)600 << (i + turn) % 6);
	for (i = 0; i < n; i++)
		ash_heap_release(theirs, p[i]);
}

static void keeps(void)
{
	(void)ash_heap_alloc(theirs, (size_t)700 + turn * 512 % 30000);
	if (turn % 4 == 0)
		(void)ash_heap_alloc(theirs, (size_t)1500 << 10);
}

DOES(spans, ash_heap_release(theirs, ash_heap_alloc(theirs, (size_t)2 << 20 << turn % 2)));

static void extends(void)
{
	(void)ash_heap_extend(theirs, stats_of(theirs).reserved + 1);
	(void)ash_heap_alloc(theirs, (size_t)3 << 20);
}

static void trims(void)
{
	slabs();
	(void)ash_heap_trim(theirs, 0);
}

DOES(syncs, CHECK(ash_heap_sync(theirs) != ASH_SYNC_FAILED));

static void names(void)
{
	char name[8] = {'n', (char)('a' + turn % 26), 0};
	void *p = ash_heap_alloc(theirs, 100);

	(void)ash_heap_bind(theirs, name, p);
	ash_heap_release(theirs, ash_heap_unbind(theirs, name));
}

static void detaches(void)
{
	slabs();
	ash_heap_thread_detach(theirs);
}

static void destroys(void)
{
	slabs();
	ash_heap_destroy(theirs);
}

static void nothing(void)
{
}

static const struct act {
	const char *name;
	void (*act)(void);
} acts[] = {{"slabs", slabs},	 {"keeps", keeps}, {"spans", spans},	   {"extends", extends},
	    {"trims", trims},	 {"syncs", syncs}, {"names", names},	   {"detaches", detaches},
	    {"destroys", destroys}, {"attaches", nothing}};
enum { SLABS, KEEPS, SPANS, EXTENDS, TRIMS, SYNCS };
enum { ACTS = sizeof acts / sizeof acts[0] };

#endif
