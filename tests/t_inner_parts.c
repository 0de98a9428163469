/* SPDX-License-Identifier: MIT */
/* Parts of the slow paths by themselves: what each leaves, also where the whole would forgive it. */
#include "fork.h"
#include "holder.h"
#include "map.h"
#include "memory.h"
#include "owner.h"
#include "reap.h"
#include "t_inner_place.h"
#include "takeover.h"

static void release_it(void *p)
{
	ash_release(p);
}

static void released_by_another(void *p)
{
	rt_thread_join(rt_thread_start(release_it, p));
}

/* A block that another thread released is gone before its owner collects it. */
TEST(inner_parts_taken, 10)
{
	char *p = ash_alloc(100), *q = ash_alloc(100);
	struct place at = place_of(p), other = place_of(q);
	struct owner *o;

	CHECK(place_is_taken(&at) && place_is_taken(&other));
	CHECK_EQ(chunk_block(map_find(p), p), 112);
	released_by_another(p);
	CHECK_EQ(at.slab->free[at.group] & at.bit, 0);
	CHECK(!place_is_taken(&at) && place_is_taken(&other));
	CHECK_EQ(chunk_block(map_find(p), p), 0);
	/* Nobody's slab has no remote words of its own to go by. */
	o = seat_take();
	p = ash_alloc(100);
	at = place_of(p);
	CHECK((at.slab->owner & OWNER_SHARED) != 0);
	CHECK(place_is_taken(&at));
	ash_release(p);
	CHECK(!place_is_taken(&at));
	CHECK(o != NULL);
	seat_give();
}

/* Who need not be told, as the mark is there, is no record to visit. */
TEST(inner_parts_remote_free, 10)
{
	char *p = ash_alloc(100), *q = ash_alloc(100);
	struct place at = place_of(p), other = place_of(q);
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

/* The hint of map.h names a record that is being made anew, and fits: the chunk's head tells. */
TEST(inner_parts_hint_is_no_proof, 10)
{
	static uint64_t words[SLAB_GROUPS];
	static struct slab false_one;
	char *p = ash_alloc(100), *q = ash_alloc(100);
	struct place at = place_of(p);

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
	/* One of the owner's that died or vanished had it in use. */
	CHECK(slab_take(&s) && s.hold == SLAB_IN_USE);
	s.hold = holder_guest(&heap_default);
	CHECK(!slab_take(&s) && s.hold == holder_guest(&heap_default));
	slab_let_go(&s);
	CHECK(s.hold == SLAB_IDLE);
}

/* A slab that is gone leaves nothing to the next one of its record. */
TEST(inner_parts_slab_unmake, 10)
{
	char *p = ash_alloc(5000), *stays = ash_alloc(300);
	struct place at = place_of(p);
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

/* All that a record has of slabs, spares and mail; the rest is kept. */
TEST(inner_parts_owner_reset, 10)
{
	static struct owner o;
	const char *bytes = (const char *)o.bins;

	memset(&o, 0xff, sizeof o);
	owner_reset(&o);
	for (size_t i = 0; i < offsetof(struct owner, building) - offsetof(struct owner, bins); i++)
		CHECK_EQ(bytes[i], 0);
	for (size_t i = 0; i < MAIL; i++)
		CHECK_EQ(o.mail[i], 0);
	CHECK_EQ(o.spare_count, 0);
	CHECK(o.state == ~(uint64_t)0 && o.building == ~(uint64_t)0 && o.census == ~(uint64_t)0);
}

static char *left[200];

static void leave_body(__attribute__((unused)) void *argument)
{
	for (size_t i = 0; i < 200; i++)
		left[i] = ash_alloc(1000);
}

/* Released without a word, as by threads that vanished: who looks at all finds it. */
TEST(inner_parts_shrink_vacant, 10)
{
	struct ash_stats st;

	rt_thread_join(rt_thread_start(leave_body, NULL));
	for (size_t i = 0; i < 200; i++) {
		struct place at = place_of(left[i]);

		fetch_or_ordered(&at.slab->remote[at.group], at.bit);
	}
	owner_shrink_vacant(&heap_default);
	ash_stats(&st);
	CHECK_EQ(st.pending, 0);
	CHECK_EQ(st.slabs, 0);
	CHECK_EQ(ash_check(), 0);
}

/* A bin that rests has its slab watched again, which small ones in use are not. */
TEST(inner_parts_rest, 10)
{
	char *p = ash_alloc(64), *q = ash_alloc(64);
	struct place at = place_of(p);
	struct owner *o = seat_take();

	CHECK_EQ(at.slab->full, 0);
	bin_rest(o, at.slab->class);
	CHECK(o->bins[at.slab->class].slab == NULL);
	CHECK_EQ(at.slab->hold, SLAB_IDLE);
	CHECK(at.slab->full != 0);
	seat_give();
	CHECK_EQ(ash_check(), 0);
	ash_release(p);
	CHECK(!at.slab->spare);
	ash_release(q);
	CHECK(at.slab->spare);
	CHECK_EQ(at.slab->full, 0);
	/* The spare is used before a new one, and is one no more when it has no room. */
	CHECK(ash_alloc(64) == (void *)at.slab->base);
	CHECK_EQ(ash_check(), 0);
}

/* What somebody who vanished has left: the hint, or a chunk that is free throughout. */
TEST(inner_parts_mend, 10)
{
	struct units u = units_claim(&heap_default, 64, true, true), v;
	struct chunk *c = u.chunk;
	uint64_t *hint, bit, half = bits_run(0, 32);

	CHECK(c != NULL && u.count == 64);
	hint = &c->region->partial[c->index / 64];
	bit = (uint64_t)1 << (c->index % 64);
	chunk_hint(c, false);
	chunk_mend(&heap_default, c); /* nothing is free */
	CHECK_EQ(*hint & bit, 0);
	CHECK(chunk_is(c, CHUNK_SLABS));
	c->units = half;
	chunk_mend(&heap_default, c);
	CHECK_EQ(*hint & bit, bit);
	v = units_claim(&heap_default, 32, false, false);
	CHECK(v.chunk == c && v.first == 0);
	CHECK_EQ(c->units, 0);
	chunk_hint(c, false);
	c->units = ~(uint64_t)0;
	chunk_mend(&heap_default, c);
	CHECK(chunk_is(c, CHUNK_FREE));
	CHECK_EQ(c->units, 0);
	CHECK_EQ(*hint & bit, 0);
	CHECK_EQ(ash_check(), 0);
}

/* Who holds a record as a guest holds it alone. */
TEST(inner_parts_hold, 10)
{
	struct owner *v;

	ash_release(ash_alloc(10));
	v = seat.self;
	CHECK_EQ(v->state, holder_seated(&heap_default));
	CHECK_EQ(holder_guest(&heap_default), v->state | OWNER_GUEST);
	CHECK(holder_guest(&heap_default) != v->state);
	CHECK(!owner_hold(v));
	ash_thread_detach();
	CHECK_EQ(v->state, OWNER_VACANT);
	CHECK(owner_hold(v));
	CHECK_EQ(v->state, holder_guest(&heap_default));
	CHECK(!owner_hold(v));
	owner_vacate(v);
	CHECK_EQ(v->state, OWNER_VACANT);
}

static char *small, *medium, *large;

static void leave_three(__attribute__((unused)) void *argument)
{
	small = ash_alloc(100);
	medium = ash_alloc(3000);
	large = ash_alloc(SLOT_MAX);
}

static struct owner *release_without_letter(void *p)
{
	struct place at = place_of(p);

	fetch_or_ordered(&at.slab->remote[at.group], at.bit);
	fetch_or_ordered(&at.slab->owner, OWNER_PENDING);
	return (struct owner *)(uintptr_t)(at.slab->owner & ~OWNER_PENDING);
}

/* A record that is taken over as it is: letters that were never sent are made up for. */
TEST(inner_parts_takeover_reminds, 10)
{
	struct takeover t = takeover_begin(&heap_default);
	struct ash_stats st;
	struct owner *v;

	rt_thread_join(rt_thread_start(leave_three, NULL));
	CHECK(place_of(small).slab->class < 64 && place_of(large).slab->class == CLASSES - 1);
	v = release_without_letter(small);
	CHECK(release_without_letter(medium) == v && release_without_letter(large) == v);
	CHECK_EQ(takeover_end(&t), 0);
	CHECK(takeover_add(&t, v, OWNER_VACANT));
	CHECK(!takeover_add(&t, v, OWNER_VACANT));
	CHECK(v->state != OWNER_VACANT);
	CHECK_EQ(takeover_end(&t), 1);
	CHECK_EQ(v->state, OWNER_VACANT);
	ash_stats(&st);
	CHECK_EQ(st.pending, 0);
	CHECK_EQ(st.blocks, 0);
	CHECK_EQ(ash_check(), 0);
}

/* The records are asked about in turn, one a growth, and then from the first one on. */
TEST(inner_parts_reap_in_turn, 10)
{
	struct heap *h = &heap_default;

	rt_thread_join(rt_thread_start(leave_three, NULL));
	ash_release(small);
	small = ash_alloc(10);
	CHECK(h->owners != NULL && h->owners->next == NULL);
	h->turn = 0;
	h->asked = 1000;
	for (unsigned i = 0; i < 4; i++) {
		owner_reap_some(h, seat.self);
		CHECK_EQ(h->turn, (i + 1) % 2);
	}
	/* All of them, once the heap doubled. */
	h->asked = 1;
	h->slab_chunks = 2;
	owner_reap_some(h, seat.self);
	CHECK(h->asked == 2 && h->turn == 0);
	h->slab_chunks = 3;
	owner_reap_some(h, seat.self);
	CHECK(h->asked == 2 && h->turn == 1);
}

/* Spares: the youngest ones, so many and so many units; the youngest stays, however large. */
TEST(inner_parts_spares_are_few, 10)
{
	unsigned units, i, k;

	for (k = 0; k < 80; k++) {
		ash_release(ash_alloc(k < 40 ? 1100 + 300 * k : (k * 5 % 27 + 2) * UNIT_SIZE));
		CHECK(seat.self->spare_count <= SPARES && seat.self->spare_count > 0);
		for (units = i = 0; i < seat.self->spare_count; i++) {
			CHECK(seat.self->spares[i]->spare);
			units += seat.self->spares[i]->units;
		}
		CHECK(units <= SPARE_UNITS || seat.self->spare_count == 1);
		CHECK_EQ(ash_check(), 0);
	}
}

enum { SLABS_LEFT = 40 };
static char *left_of_class[SLABS_LEFT];

/* The record is left as a thread that vanishes leaves it: each bin has a slab. */
static void vanish(__attribute__((unused)) void *argument)
{
	struct owner *o;

	for (unsigned i = 0; i < SLABS_LEFT; i++)
		left_of_class[i] = ash_alloc(class_size(i + 1));
	o = seat_take();
	seat.self = owner_none;
	seat.record = NULL;
	owner_vacate(o);
}

/* Before the answer is NULL: what is empty in bins of records that nobody has. */
TEST(inner_parts_end_of_memory, 10)
{
	static struct ash_defaults options;

	options = ash_defaults;
	options.cap = CHUNK_SIZE;
	heap_default.options = &options;
	CHECK(ash_alloc(10) != NULL); /* a record of our own: we do not get the one that is left */
	rt_thread_join(rt_thread_start(vanish, NULL));
	while (ash_alloc(8 * UNIT_SIZE) != NULL)
		;
	for (unsigned i = 0; i < SLABS_LEFT; i++) {
		struct place at = place_of(left_of_class[i]);

		fetch_or_ordered(&at.slab->remote[at.group], at.bit);
	}
	CHECK(ash_alloc(8 * UNIT_SIZE) != NULL);
	CHECK_EQ(ash_check(), 0);
}
