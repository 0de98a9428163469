/* SPDX-License-Identifier: MIT */
/* power.c: the blocks that are there, and those of the last seal; whether a heap has exactly these. */
#ifndef TESTS_STORE_PROGRAM_POWER_BLOCKS_H
#define TESTS_STORE_PROGRAM_POWER_BLOCKS_H

#include "ashlar_heap.h"
#include "store/program/power_pages.h"

enum { BLOCKS = 400 };

struct block {
	unsigned char *p;
	size_t size;
	unsigned key;
};
struct books {
	unsigned count, sealed_count;
	bool checked; /* by the last attacher */
	struct block block[BLOCKS], sealed[BLOCKS];
};

static struct books *book;

static void fill(const struct block *b)
{
	size_t i;

	for (i = 0; i < b->size; i += i < 64 ? 1 : 977)
		b->p[i] = (unsigned char)(b->key + i);
}

static bool holds(const struct block *b)
{
	size_t i;

	for (i = 0; i < b->size; i += i < 64 ? 1 : 977)
		if (b->p[i] != (unsigned char)(b->key + i))
			return false;
	return true;
}

struct check {
	const struct block *block;
	unsigned count, found;
	bool wrong;
};

static int visit(void *context, void *p, size_t size, UNUSED const struct ash_heap_owner *owner)
{
	struct check *c = context;
	unsigned i;

	for (i = 0; i < c->count && c->block[i].p != p; i++)
		;
	c->found += i < c->count;
	c->wrong |= i == c->count || size < c->block[i].size;
	return 0;
}

/* True: exactly these blocks are there, and what is handed out overlaps none of them. */
static bool is_right(ash_heap *h, const struct block *block, unsigned n, bool contents)
{
	struct check c = {block, n, 0, false};
	unsigned i, k;

	(void)ash_heap_walk(h, visit, &c);
	c.wrong |= contents && (c.found != n || ash_heap_check(h) != 0);
	for (i = 0; contents && i < n; i++)
		c.wrong |= !holds(&block[i]);
	for (i = 0; i < 150; i++) {
		size_t size = i % 30 == 29 ? 70000 : 1 + i * 37 % 3000;
		unsigned char *p = ash_heap_alloc(h, size);

		for (k = 0; p != NULL && k < n; k++)
			c.wrong |= p < block[k].p + block[k].size && block[k].p < p + size;
		c.wrong |= p != NULL && (p < (unsigned char *)base ||
					 p + size > (unsigned char *)base + bytes);
	}
	return !c.wrong;
}

#endif
