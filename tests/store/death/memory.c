/* SPDX-License-Identifier: MIT */
/*
 * All memory is there after a death, not only all blocks: the survivor can get
 * the whole capacity, in the largest blocks and in the smallest.
 *
 * That is looked at whenever what rules chunks, units and slabs has changed
 * since the last look: between two such changes a death leaves the same.
 */
#include "store/death/harness.h"
#include "slab/look.h"
#include "store/recover/builders.h"
#include "store/recover/census.h"
#include "heaps/seats.h"
#include "support/blocks.h"

static size_t fills;

static uint64_t mix(uint64_t sum, const void *from, size_t bytes)
{
	const uint64_t *word = from;

	for (; bytes > 0; bytes -= sizeof *word)
		sum = (sum ^ *word++) * UINT64_C(0x9e3779b97f4a7c15) >> 1 ^ sum << 31;
	return sum;
}

static uint64_t mix_slab(uint64_t sum, const struct slab *s)
{
	uint64_t empty = true, full = true;
	unsigned g;

	for (g = 0; g < s->groups; g++) {
		empty &= (s->free[g] | s->remote[g]) == slab_group_mask(s, g);
		full &= (s->free[g] | s->remote[g]) == 0;
	}
	sum = mix(sum, &s->owner, sizeof s->owner);
	sum = mix(sum, &empty, sizeof empty);
	return mix(sum, &full, sizeof full);
}

/* Of the file, with the victim as it stands. */
bool look_is_new(void)
{
	static uint64_t last;
	struct region *r = heap()->regions;
	size_t words = bits_words(r->chunks) * sizeof(uint64_t), i;
	struct owner *o;
	uint64_t sum = store_of(heap())->deaths;
	unsigned u;

	sum = mix(sum, r->free, words);
	sum = mix(sum, r->room, ROOM_WORDS(r->chunks) * sizeof(uint64_t));
	for (i = 0; i < r->chunks; i++) {
		struct chunk *c = region_chunk(r, i);

		if (c->kind == CHUNK_FREE && c->units == 0)
			continue;
		sum = mix(sum, c, sizeof *c);
		for (u = 0; c->kind == CHUNK_SLABS && u < CHUNK_UNITS; u++)
			if (slab_beginning(c, u) != NULL)
				sum = mix_slab(sum, record_at(c, c->head[u]));
	}
	for (o = store_owner_after(heap(), NULL); o != NULL; o = store_owner_after(heap(), o)) {
		sum = mix(sum, &o->state, sizeof o->state);
		sum = mix(sum, &o->building, sizeof o->building);
		sum = mix(sum, o->inbox, sizeof o->inbox);
	}
	if (sum == last)
		return false;
	last = sum;
	fills++;
	return true;
}

uint64_t look_sum(void)
{
	struct region *r = heap()->regions;
	uint64_t sum = 0, free;
	const struct slab *s;
	size_t i;
	unsigned u;

	for (i = 0; i < r->chunks; i++) {
		struct chunk *c = region_chunk(r, i);
		bool slabs = bits_all(r->known, i, 1) && chunk_is(c, CHUNK_SLABS);

		/* A chunk whose units are all free may be returned by anybody. */
		free = bits_all(r->free, i, 1) ? ~(uint64_t)0 : slabs ? c->units : 0;
		sum = mix(sum, &free, sizeof free);
		if (free == 0 && bits_all(r->known, i, 1) && chunk_is(c, CHUNK_SPAN)) {
			sum = mix(sum, &c->clean, sizeof c->clean);
			sum = mix(sum, &c->span_bytes, sizeof c->span_bytes);
		}
		for (u = 0; slabs && u < CHUNK_UNITS; u++) {
			s = record_at(c, record_offset_unowned(u));
			if (c->head[u] != record_offset_unowned(u))
				continue;
			sum = mix(sum, &s->owner, sizeof s->owner);
			sum = mix(sum, s->free, s->groups * sizeof s->free[0]);
		}
	}
	return mix(sum, store_of(heap())->made, sizeof store_of(heap())->made);
}

size_t look_fills(void)
{
	return fills;
}

static size_t fill(size_t size)
{
	size_t n = 0;

	while (ash_heap_alloc(death_heap, size) != NULL)
		n++;
	return n;
}

static bool is_of_live(const struct slab *s)
{
	const struct owner *o = (const struct owner *)(uintptr_t)(s->owner & ~OWNER_PENDING);

	return s->owner > (OWNER_PENDING | OWNER_UNOWNED) && o->state != OWNER_VACANT &&
	       o != seats_self(heap());
}

/* No slot of a slab that may be allocated from; what it is filled with keeps the class in units. */
static void no_slot_left(void)
{
	struct walk w = walk_from(heap());
	struct slab *s;
	unsigned g;

	while ((s = walk_next(&w)) != NULL) {
		if (is_of_live(s))
			continue;
		for (g = 0; g < s->groups; g++)
			if ((s->free[g] | s->remote[g]) != 0) {
				(void)fill(s->slot_size);
				break;
			}
		for (g = 0; g < s->groups; g++)
			CHECK_EQ(s->free[g] | s->remote[g], 0);
	}
}

void look_fill(void)
{
	struct region *r = heap()->regions;
	size_t i;

	/* The largest, then single units, then what slots are left. */
	(void)fill(CHUNK_SIZE);
	for (i = 0; i < r->chunks; i++)
		CHECK(!bits_all(r->free, i, 1));
	(void)fill(UNIT_SIZE);
	for (i = 0; i < r->chunks; i++)
		CHECK_EQ(region_chunk(r, i)->units, 0);
	no_slot_left();
	CHECK_EQ(ash_heap_check(death_heap), 0);
}

static int release_it(UNUSED void *context, void *p, UNUSED size_t size, UNUSED const struct ash_heap_owner *owner)
{
	ash_heap_release(death_heap, p);
	return 0;
}

void look_empty(void)
{
	(void)ash_heap_walk(death_heap, release_it, NULL);
	publish_release_own();
	CHECK_EQ(stats_of(death_heap).blocks, 0);
	CHECK(ash_heap_alloc(death_heap, heap()->regions->chunks << CHUNK_SHIFT) != NULL);
}

/* ---- what recovery has settled ---- */

void settled_units(void)
{
	struct region *r = heap_of(death_heap)->regions;
	size_t i, left = 0;
	unsigned u, n;

	for (i = 0; i < r->chunks; i++) {
		struct chunk *c = region_chunk(r, i);

		if (left > 0) {
			left--;
		} else if (bits_all(r->free, i, 1)) {
			continue;
		} else if (chunk_is(c, CHUNK_SPAN)) {
			left = c->span_chunks - 1;
			CHECK(c->span_bytes <= (size_t)c->span_chunks << CHUNK_SHIFT);
		} else {
			CHECK(chunk_is(c, CHUNK_SLABS));
			n = bits_count(c->units);
			for (u = 0; u < CHUNK_UNITS; u++)
				if (slab_beginning(c, u) != NULL)
					n += slab_beginning(c, u)->units;
			CHECK_EQ(n, CHUNK_UNITS);
		}
	}
	CHECK_EQ(heap_of(death_heap)->dirty << UNIT_SHIFT, stats_of(death_heap).dirty);
}

/* A block whose tag named the record of a dead thread, which was releasing it, is free, or has the dead process's tag. */
void settled_tags(void)
{
	struct walk w = walk_from(heap_of(death_heap));
	struct slab *s;

	while ((s = walk_next(&w)) != NULL)
		for (uint64_t i = 0; i < s->slots; i++) {
			uint64_t g = i / GROUP_SLOTS, free = s->free[g];

			if ((load_relaxed(&s->owner) & OWNER_UNOWNED) == 0)
				free |= s->remote[g];
			CHECK((free >> i % GROUP_SLOTS & 1) != 0 || (*census_tag(s, i) & TAG_LEAVING) == 0);
		}
}

void settled_records(void)
{
	struct store *s = store_of(heap_of(death_heap));
	struct owner *o;
	uint64_t n = 0;
	unsigned i;

	for (o = store_owner_after(&s->heap, NULL); o != NULL; o = store_owner_after(&s->heap, o), n++) {
		CHECK_EQ(o->building & 1, 0);
		CHECK_EQ(truth_of(o)->flight, 0);
		CHECK(o->state >> OWNER_THREAD != death_ended);
	}
	CHECK_EQ(n, s->records_used);
	for (i = 0; i < STRANGERS; i++)
		CHECK_EQ(store_stranger(s, i)->life, 0);
	CHECK_EQ(store_lost(s), 0);
}
