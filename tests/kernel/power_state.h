/* SPDX-License-Identifier: MIT */
/*
 * The states of the heap that power fails for.  State n follows from the seed and n alone, so the one who looks at
 * a cut knows to the byte what must be there.  Slots name blocks of 8 bytes to 1.2 MiB, or none; a few have names,
 * the others are in the root's block.
 */
#ifndef TESTS_KERNEL_POWER_STATE_H
#define TESTS_KERNEL_POWER_STATE_H

#include "ashlar_heap.h"
#include "rt.h"

enum { SLOTS = 48, NAMED = 8, CHANGES = 7, HALVES = 2 };
enum { POWER_CAPACITY = 16 << 20 };

/* size 0: the slot names nothing. */
struct item {
	size_t size;
	uint64_t key;
};

struct state {
	uint64_t number;
	struct item item[SLOTS];
};

struct change {
	unsigned slot;
	bool in_place; /* stores into the block that is there */
	struct item item;
};

/* How the seal of a state is broken: by ash_heap_break_seal, by attaching, else by the first change, of a span. */
static inline bool state_is_broken_first(const struct state *s)
{
	return s->number % 4 == 0;
}

static inline bool state_is_attached(const struct state *s)
{
	return s->number % 4 == 3;
}

static inline bool state_is_broken_late(const struct state *s)
{
	return !state_is_broken_first(s) && !state_is_attached(s);
}

/*
 * Makes change i of a half on the way to the next state.  The first half changes even slots, and some blocks in
 * place; the second, odd ones: so two processes may make them at the same time.
 */
static inline struct change state_change(struct state *s, unsigned half, unsigned i)
{
	struct rt_random r;
	struct change c;
	uint64_t kind;

	rt_seed(&r, rt_test_seed() * 1000003 + s->number * (HALVES * CHANGES) + half * CHANGES + i);
	c.slot = (unsigned)rt_below(&r, SLOTS / HALVES) * HALVES + half;
	if (i == 0 && state_is_broken_late(s))
		c.slot = half;
	c.item.key = rt_next(&r) | 1;
	kind = rt_below(&r, 10);
	c.in_place = half == 0 && i < 2 && state_is_broken_first(s) && s->item[c.slot].size != 0;
	if (c.in_place)
		c.item.size = s->item[c.slot].size;
	else if (c.slot < HALVES)
		c.item.size = 500000 + rt_below(&r, 700000) / 8 * 8; /* only these two are spans, or may be */
	else
		c.item.size = kind < 2 ? 0 : kind < 8 ? 8 + rt_below(&r, 250) * 8 : 8 + rt_below(&r, 8000) * 8;
	s->item[c.slot] = c.item;
	return c;
}

static inline void state_next(struct state *s)
{
	for (unsigned half = 0; half < HALVES; half++)
		for (unsigned i = 0; i < CHANGES; i++)
			(void)state_change(s, half, i);
	s->number++;
}

/* ---- in the heap ---- */

static inline size_t item_step(size_t i)
{
	return i < 16 ? 1 : 61;
}

static inline void item_fill(uint64_t *p, struct item item)
{
	for (size_t i = 0; i < item.size / 8; i += item_step(i))
		p[i] = item.key * 0x9e3779b97f4a7c15u + i;
}

static inline bool item_holds(const uint64_t *p, struct item item)
{
	for (size_t i = 0; i < item.size / 8; i += item_step(i))
		if (p[i] != item.key * 0x9e3779b97f4a7c15u + i)
			return false;
	return true;
}

static inline void *slot_of(ash_heap *h, unsigned i)
{
	char name[8];

	if (i >= NAMED)
		return (uint64_t *)NOT_NULL(ash_heap_root(h)) + i;
	rt_format(name, sizeof(name), "s%u", i);
	return NOT_NULL(ash_heap_slot(h, name, NULL));
}

/* A heap of state 0. */
static inline ash_heap *heap_make(int fd)
{
	ash_heap *h = NOT_NULL(ash_heap_create_file(fd, POWER_CAPACITY, NULL));

	ash_heap_set_root(h, NOT_NULL(ash_heap_zalloc(h, SLOTS, 8)));
	for (unsigned i = 0; i < NAMED; i++)
		(void)slot_of(h, i);
	return h;
}

static inline void heap_change(ash_heap *h, struct change c)
{
	void *slot = slot_of(h, c.slot), *old = ash_heap_load(h, slot), *fresh;

	if (c.in_place) {
		item_fill(NOT_NULL(old), c.item);
	} else if (c.item.size == 0) {
		CHECK_EQ(ash_heap_release_from(h, slot), old == NULL ? ASH_SLOT_CHANGED : ASH_SLOT_DONE);
	} else {
		fresh = NOT_NULL(ash_heap_draft(h, c.item.size));
		item_fill(fresh, c.item);
		CHECK_EQ(ash_heap_replace(h, slot, old, fresh), ASH_SLOT_DONE);
	}
}

static inline int heap_count_one(void *count, UNUSED void *p, UNUSED size_t size,
				 UNUSED const struct ash_heap_owner *owner)
{
	++*(unsigned *)count;
	return 0;
}

/* All blocks, with those of names. */
static inline unsigned heap_count(ash_heap *h)
{
	unsigned n = 0;

	(void)ash_heap_walk(h, heap_count_one, &n);
	return n;
}

/* The heap has exactly the blocks of this state, and `own` others. */
static inline void heap_is(ash_heap *h, const struct state *s, unsigned own)
{
	unsigned n = own;

	CHECK_EQ(ash_heap_check(h), 0);
	for (unsigned i = 0; i < SLOTS; i++) {
		const uint64_t *p = ash_heap_load(h, slot_of(h, i));

		CHECK_EQ(p != NULL, s->item[i].size != 0);
		if (p == NULL)
			continue;
		CHECK(ash_heap_usable_size(h, p) >= s->item[i].size);
		CHECK(item_holds(p, s->item[i]));
		n++;
	}
	CHECK_EQ(heap_count(h), n);
}

#endif
