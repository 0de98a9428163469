/* SPDX-License-Identifier: MIT */
/*
 * Single functions of the slow paths: the state that each leaves, also where a later step would correct it.
 */
#include "backend/map.h"
#include "front/block.h"
#include "front/remote.h"
#include "inner/slots.h"
#include "memory.h"
#include "thread/seating.h"

static void released_by_another(void *p)
{
	rt_in_thread(ash_release, p);
}

/* A block that another thread released counts as released before its owner collects it. */
TEST(inner_parts_taken, 10)
{
	char *p = ash_alloc(100), *q = ash_alloc(100);
	struct slot_ref at = place_of(p), other = place_of(q);
	struct owner *o;

	CHECK(slot_is_taken(&at) && slot_is_taken(&other));
	CHECK_EQ(chunk_block(map_find(p), p), 112);
	released_by_another(p);
	CHECK_EQ(at.slab->free[at.group] & at.bit, 0);
	CHECK(!slot_is_taken(&at) && slot_is_taken(&other));
	CHECK_EQ(chunk_block(map_find(p), p), 0);
	/* An unowned slab does not use remote words. */
	o = seat_take();
	p = ash_alloc(100);
	at = place_of(p);
	CHECK((at.slab->owner & OWNER_UNOWNED) != 0);
	CHECK(slot_is_taken(&at));
	ash_release(p);
	CHECK(!slot_is_taken(&at));
	CHECK(o != NULL);
	seat_open();
}

/*
 * A release into a slab that is pending already notifies no record, so there is none to collect
 * for.
 */
TEST(inner_parts_remote_free, 10)
{
	char *p = ash_alloc(100), *q = ash_alloc(100);
	struct slot_ref at = place_of(p), other = place_of(q);
	struct owner *vacant = owner_none;

	CHECK(remote_free(&at, &vacant));
	CHECK(vacant == NULL);
	CHECK((at.slab->owner & OWNER_PENDING) != 0);
	vacant = owner_none;
	CHECK(remote_free(&other, &vacant));
	CHECK(vacant == NULL);
	vacant = owner_none;
	CHECK(!remote_free(&other, &vacant));
	CHECK(vacant == NULL);
}

/* A late release finds no owner, whatever else the word says by then: there is no record to notify. */
TEST(inner_parts_notify_without_owner, 10)
{
	static uint64_t words[SLAB_GROUPS];
	static struct slab s;

	s.remote = words;
	s.slots = 1;
	for (uint64_t flags = 0; flags <= OWNER_FLAGS; flags++) {
		s.free[0] = 1;
		s.owner = flags;
		inbox_notify(&s);
		CHECK_EQ(s.owner, flags | OWNER_PENDING);
	}
}

/* A stale hint (map.h) may lead to a record that is being initialised: the chunk's head decides. */
TEST(inner_parts_hint_is_no_proof, 10)
{
	static uint64_t words[SLAB_GROUPS];
	static struct slab false_one;
	char *p = ash_alloc(100), *q = ash_alloc(100);
	struct slot_ref at = place_of(p);

	memcpy(&false_one, at.slab, sizeof false_one);
	false_one.remote = words;
	*map_unit(p) = &false_one;
	released_by_another(p);
	CHECK_EQ(words[at.group], 0);
	CHECK_EQ(load_relaxed(&at.slab->remote[at.group]), at.bit);
	CHECK_EQ(ash_usable_size(q), 112);
	*map_unit(p) = at.slab;
	CHECK_EQ(ash_check(), 0);
}

TEST(inner_parts_slab_take, 10)
{
	static struct slab s;

	s.hold = SLAB_IDLE;
	CHECK(slab_take(&s) && s.hold == SLAB_IN_USE);
	/* It was in use by an owner that vanished. */
	CHECK(slab_take(&s) && s.hold == SLAB_IN_USE);
	s.hold = holder_guest(&heap_default);
	CHECK(!slab_take(&s) && s.hold == holder_guest(&heap_default));
	slab_let_go(&s);
	CHECK(s.hold == SLAB_IDLE);
}

/* A slab that is gone leaves nothing to the next one of its record. */
TEST(inner_parts_slab_retire, 10)
{
	char *p = ash_alloc(5000), *stays = ash_alloc(300);
	struct slot_ref at = place_of(p);
	unsigned unit = at.slab->unit;
	struct chunk *c = at.slab->chunk;

	CHECK_EQ(at.slab->hold, SLAB_IN_USE);
	ash_release(p);
	CHECK(at.slab->spare);
	ash_thread_detach();
	CHECK_EQ(at.slab->hold, SLAB_IDLE);
	CHECK_EQ(at.slab->owner, 0);
	CHECK_EQ(c->head[unit], 0);
	CHECK(!at.slab->spare);
	ash_release(stays);
}

/* A slab whose record a purging thread holds when it is made stays on its list: another one is used. */
TEST(inner_parts_slab_made_while_held, 10)
{
	char *stays = ash_alloc(300), *p = ash_alloc(5000);
	struct slab *s = place_of(p).slab;

	ash_release(p);
	ash_thread_detach();
	CHECK_EQ(s->owner, 0);
	s->hold = holder_guest(&heap_default);
	p = ash_alloc(5000);
	CHECK(place_of(p).slab != s && s->owner == (uint64_t)(uintptr_t)seat.self);
	CHECK(seat.self->bins[class_of(5000)].partial.head == s);
	s->hold = SLAB_IDLE;
	CHECK_EQ(ash_check(), 0);
	ash_release(p);
	ash_release(stays);
}

/* Blocks that others released are used before a slab is made. */
TEST(inner_parts_collect_before_a_slab_is_made, 10)
{
	char *first = ash_alloc(5000), *p = first;
	struct slab *s = place_of(first).slab;

	while (place_of(p).slab == s)
		CHECK((p = ash_alloc(5000)) != NULL);
	released_by_another(first);
	s = place_of(p).slab;
	while (place_of(p).slab == s)
		CHECK((p = ash_alloc(5000)) != NULL);
	CHECK(p == first);
}

/* A slab that is detached from its bin is watched again; current slabs of small classes are not. */
TEST(inner_parts_rest, 10)
{
	char *p = ash_alloc(64), *q = ash_alloc(64);
	struct slot_ref at = place_of(p);
	struct owner *o = seat_take();

	CHECK_EQ(at.slab->all_free, 0);
	bin_detach(o, at.slab->class);
	CHECK(o->bins[at.slab->class].slab == 0);
	CHECK_EQ(at.slab->hold, SLAB_IDLE);
	CHECK(at.slab->all_free != 0);
	seat_open();
	CHECK_EQ(ash_check(), 0);
	ash_release(p);
	CHECK(!at.slab->spare);
	ash_release(q);
	CHECK(at.slab->spare);
	CHECK_EQ(at.slab->all_free, 0);
	/* A spare is used before a new slab is made, and leaves the set when it is full. */
	CHECK(ash_alloc(64) == (void *)at.slab->base);
	CHECK_EQ(ash_check(), 0);
}

/* A thread that vanished left a hint unset, or did not return a chunk that is entirely free. */
TEST(inner_parts_mend, 10)
{
	struct units u = units_claim(&heap_default, 64, true, true), v;
	struct chunk *c = u.chunk;
	uint64_t half = bits_run(0, 32);
	uint8_t *hint;

	CHECK(c != NULL && u.count == 64);
	hint = (uint8_t *)c->region->room + c->index;
	chunk_hint(c, c->units, ROOM_LONGEST);
	chunk_mend(&heap_default, c); /* nothing is free */
	CHECK_EQ(*hint, 0);
	CHECK(chunk_is(c, CHUNK_SLABS));
	c->units = half;
	chunk_mend(&heap_default, c);
	CHECK_EQ(*hint, 32);
	v = units_claim(&heap_default, 32, false, false);
	CHECK(v.chunk == c && v.first == 0);
	CHECK_EQ(c->units, 0);
	*hint = 0;
	c->units = ~(uint64_t)0;
	chunk_mend(&heap_default, c);
	CHECK(chunk_is(c, CHUNK_FREE) && bits_all(c->region->free, c->index, 1));
	CHECK_EQ(c->units, 0);
	CHECK_EQ(*hint, 0);
	CHECK_EQ(ash_check(), 0);
}
