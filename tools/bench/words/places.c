/* SPDX-License-Identifier: MIT */
#include "places.h"

#include <stdlib.h>

#include "turns.h"

#define PAGE_SHIFT 12

struct block {
	uint64_t address;
	struct block *next;
	uint32_t giver, node; /* the last releaser, plus one */
};

struct page {
	uint64_t address;
	struct page *next;
	unsigned node;
};

static struct block *blocks[BUCKETS];
static struct page *pages[BUCKETS];
static uint64_t taken, taken_again, taken_thread, taken_node, taken_away;

unsigned places_node(uint64_t address)
{
	uint64_t key = address >> PAGE_SHIFT;
	struct page **at = &pages[bucket(key)], *p;

	for (p = *at; p != NULL; p = p->next)
		if (p->address == key)
			return p->node;
	p = calloc(1, sizeof *p);
	if (p == NULL)
		abort();
	*p = (struct page){key, *at, me->core->node};
	*at = p;
	return p->node;
}

static struct block *block_of(uint64_t address)
{
	struct block **at = &blocks[bucket(address)], *b;

	for (b = *at; b != NULL; b = b->next)
		if (b->address == address)
			return b;
	b = calloc(1, sizeof *b);
	if (b == NULL)
		abort();
	b->address = address;
	b->next = *at;
	return *at = b;
}

void places_taken(uint64_t address)
{
	struct block *b = block_of(address);

	taken++;
	taken_again += b->giver != 0;
	taken_thread += b->giver != 0 && b->giver != me->number + 1;
	taken_node += b->giver != 0 && b->node != me->core->node + 1;
	taken_away += places_node(address) != me->core->node;
}

void places_given(uint64_t address)
{
	struct block *b = block_of(address);

	b->giver = me->number + 1;
	b->node = me->core->node + 1;
}

void places_reset(void)
{
	taken = taken_again = taken_thread = taken_node = taken_away = 0;
}

void places_write(FILE *out)
{
	fprintf(out, "B %lu %lu %lu %lu %lu\n", taken, taken_again, taken_thread, taken_node, taken_away);
}
