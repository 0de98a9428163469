/* SPDX-License-Identifier: MIT */
/* Each invariant of DESIGN.md is broken on purpose: ash_check returns its number. */
/* promises: ash_check */
#include "thread/owner.h"
#include "inner/slots.h"
#include "thread/seating.h"

static char *block[200], *other, *span, *of_another;

/* With this word replaced ash_check returns the number; afterwards 0. */
#define BROKEN(number, place, value)                                                               \
	do {                                                                                       \
		__typeof__(place) kept = (place);                                                  \
		CHECK(kept != (__typeof__(place))(value));                                         \
		(place) = (__typeof__(place))(value);                                              \
		CHECK_EQ(ash_check(), number);                                                     \
		CHECK(seat.open == SEAT_OPEN);                                                     \
		(place) = kept;                                                                    \
		CHECK_EQ(ash_check(), 0);                                                          \
	} while (0)

static void thread_body(UNUSED void *argument)
{
	of_another = ash_alloc(3000);
}

/* Slabs that are current, partial, full; of an ended thread; unowned; a span. */
static void set_up(void)
{
	alloc_each(block, 200, 500);
	span = ash_alloc(5 * MIB);
	ash_release(block[3]);
	ash_release(block[70]);
	rt_in_thread(thread_body, NULL);
	(void)seat_take();
	other = ash_alloc(500);
	seat_open();
	CHECK((place_of(other).slab->owner & OWNER_UNOWNED) != 0);
	CHECK_EQ(ash_check(), 0);
}

TEST(inner_check_slabs, 10)
{
	void *all[4];

	set_up();
	all[0] = block[0];
	all[1] = block[199];
	all[2] = of_another;
	all[3] = other;
	for (size_t i = 0; i < 4; i++) {
		struct slab *s = place_of(all[i]).slab;
		struct chunk *c = s->chunk;
		unsigned last = (unsigned)s->groups - 1;

		BROKEN(4, s->owner, 0);
		BROKEN(4, s->owner, s->owner ^ OWNER_UNOWNED);
		BROKEN(4, s->class, CLASSES);
		BROKEN(4, s->class, s->class + 1);
		BROKEN(4, s->chunk, NULL);
		BROKEN(4, s->unit, s->unit + 1);
		BROKEN(4, s->slot_size, s->slot_size + 16);
		BROKEN(4, s->units, s->units + 2);
		BROKEN(4, s->slots, s->slots - 1);
		BROKEN(4, s->groups, s->groups + 1);
		BROKEN(4, s->reciprocal, s->reciprocal + 1);
		BROKEN(4, s->base, s->base + UNIT_SIZE);
		BROKEN(3, c->units, c->units | (uint64_t)1 << s->unit);
		if (s->units > 1) {
			BROKEN(4, c->head[s->unit + s->units - 1], 0);
			BROKEN(3, c->units, c->units | (uint64_t)1 << (s->unit + s->units - 1));
		}
		if (s->slots % GROUP_SLOTS != 0) {
			BROKEN(5, s->free[last], s->free[last] | (uint64_t)1 << 63);
			BROKEN(5, s->remote[last], (uint64_t)1 << 63);
		}
	}
}

TEST(inner_check_hints, 10)
{
	struct slot_ref at;
	struct slab *s;
	struct bin *f;

	set_up();
	at = place_of(block[0]);
	s = at.slab;
	f = &seat.self->bins[s->class];
	CHECK(f->partial.head == s && s->ready != 0);
	BROKEN(6, s->remote[0], s->free[0]);
	/* A group with free slots that is not ready; and a slab that no list tells of. */
	CHECK(place_of(block[3]).slab == s);
	s->ready &= ~(uint64_t)1;
	CHECK_EQ(ash_check(), 7);
	s->ready |= 1;
	CHECK_EQ(ash_check(), 0);
	BROKEN(8, s->previous, NULL);
	slabs_remove(&f->partial, s);
	CHECK_EQ(ash_check(), 0); /* a slab on no list: only its memory is lost */
	slabs_append(&seat.self->bins[s->class + 1].partial, s); /* the list of another class */
	CHECK_EQ(ash_check(), 8);
	slabs_remove(&seat.self->bins[s->class + 1].partial, s);
	slabs_append(&f->partial, s);
	CHECK_EQ(ash_check(), 0);
	/* A current slab is on no list. */
	s = current_slab(seat.self, at.slab->class);
	slabs_append(&f->partial, s);
	CHECK_EQ(ash_check(), 8);
	slabs_remove(&f->partial, s);
	/* Of slabs of other owners only those words are checked that no running call can change. */
	s = place_of(of_another).slab;
	s->ready = 0;
	CHECK_EQ(ash_check(), 0);
}

TEST(inner_check_chunks, 10)
{
	struct chunk *c, *first;
	struct region *r;
	size_t i;

	set_up();
	c = map_find(span);
	r = c->region;
	i = c->index;
	BROKEN(2, c->units, 4);
	BROKEN(10, r->free[i / 64], r->free[i / 64] | (uint64_t)4 << i % 64);
	BROKEN(10, r->free[i / 64], r->free[i / 64] | (uint64_t)2 << i % 64);
	BROKEN(1, r->free[i / 64], r->free[i / 64] | (uint64_t)1 << i % 64);
	first = map_find(block[0]);
	BROKEN(1, first->region->free[first->index / 64],
	       first->region->free[first->index / 64] | (uint64_t)1 << first->index % 64);
	BROKEN(9, chunk_map.root[(uintptr_t)span >> (CHUNK_SHIFT + MAP_BITS)]->chunk[map_index(span)],
	       first);
	/* Free units without a hint; no other record is held. */
	CHECK(first->units != 0);
	BROKEN(13, first->region->room[first->index / 8],
	       first->region->room[first->index / 8] & ~((uint64_t)0xff << first->index % 8 * 8));
}
