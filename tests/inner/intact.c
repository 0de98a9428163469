/* SPDX-License-Identifier: MIT */
/*
 * The look at a record that a vanished thread left (core/thread/intact.c): what is as its owner
 * leaves it between two calls is intact, and no single word may be otherwise.
 */
#include "thread/fork.h"
#include "thread/intact.h"
#include "memory.h"
#include "inner/slots.h"
#include "thread/settle.h"

enum { MANY = 12000 };
static char *many[MANY];
static struct slab *current, *partial, *partial_2, *full, *spare;
static unsigned class;
static struct owner *o;
static size_t slabs;

static size_t count_slabs(void)
{
	size_t n = 0;

	for (struct region *r = heap_default.regions; r != NULL; r = r->next)
		for (size_t i = 0; r->state == REGION_LIVE && i < r->chunks; i++)
			for (unsigned u = 0; u < CHUNK_UNITS; u++)
				n += chunk_is(region_chunk(r, i), CHUNK_SLABS) &&
				     slab_begins(region_chunk(r, i), u);
	return n;
}

/* Slabs of one class in each state, and a spare of another. */
static void set_up(void)
{
	char *p;

	for (size_t i = 0; i < MANY; i++)
		many[i] = ash_alloc(48);
	o = seat.self;
	class = place_of(many[0]).slab->class;
	current = o->bins[class].slab;
	CHECK(o->lists[class].partial.head == NULL);
	/* Some slots of the first and second slab, in two groups; another slab stays full. */
	ash_release(many[0]);
	ash_release(many[1]);
	ash_release(many[70]);
	partial = place_of(many[0]).slab;
	full = o->lists[class].full.tail;
	for (size_t i = 0; i < MANY && partial_2 == NULL; i++) {
		struct slab *s = place_of(many[i]).slab;

		if (s != partial && s != current && s != full) {
			ash_release(many[i]);
			partial_2 = s;
		}
	}
	CHECK(partial_2 != NULL && o->lists[class].full.head != full);
	p = ash_alloc(5000);
	ash_release(p);
	spare = o->bins[class_of(5000)].slab;
	CHECK(spare->spare && o->spare_count == 1);
	CHECK(o->lists[class].partial.head == partial && partial->next == partial_2);
	CHECK(current->opened < current->groups && current->opened > 1);
	slabs = count_slabs();
	CHECK(owner_is_intact(o, slabs));
}

TEST(inner_intact_as_calls_leave_it, 10)
{
	char *p[8];

	set_up();
	CHECK(!owner_is_intact(o, slabs - 1));
	CHECK(!owner_is_intact(o, slabs + 1));
	for (size_t i = 0; i < MANY; i++) {
		if (many[i] == (char *)partial->base || i == 0 || i == 1 || i == 70)
			continue;
		if (i % 997 == 0)
			CHECK(owner_is_intact(o, count_slabs()));
		if (place_of(many[i]).slab != partial_2)
			ash_release(many[i]);
	}
	for (size_t i = 0; i < 8; i++)
		p[i] = ash_alloc((size_t)1 << (i + 12));
	CHECK(owner_is_intact(o, count_slabs()));
	for (size_t i = 0; i < 8; i++)
		ash_release(p[i]);
	CHECK(owner_is_intact(o, count_slabs()));
	ash_thread_detach();
	CHECK(owner_is_intact(o, count_slabs()));
}

/* With this word replaced the record is not intact; afterwards it is again. */
#define NOT_INTACT(place, value)                                                                   \
	do {                                                                                       \
		__typeof__(place) kept = (place);                                                  \
		CHECK(kept != (__typeof__(place))(value));                                         \
		(place) = (__typeof__(place))(value);                                              \
		CHECK(!owner_is_intact(o, slabs));                                                 \
		(place) = kept;                                                                    \
		CHECK(owner_is_intact(o, slabs));                                                  \
	} while (0)

TEST(inner_intact_slabs, 10)
{
	struct slab *all[] = {NULL, NULL, NULL};

	set_up();
	all[0] = current;
	all[1] = partial;
	all[2] = full;
	for (size_t i = 0; i < 3; i++) {
		struct slab *s = all[i];

		NOT_INTACT(s->owner, 0);
		NOT_INTACT(s->owner, (uintptr_t)o + CPU_LINE);
		NOT_INTACT(s->class, class + 1);
		NOT_INTACT(s->hold, i == 0 ? SLAB_IDLE : SLAB_IN_USE);
		NOT_INTACT(s->chunk->head[s->unit], 0);
		NOT_INTACT(s->opened, s->groups + 1);
		NOT_INTACT(s->spare, !s->spare);
		/*
		 * A group that is ready but not dirty; a slot that is both free and released
		 * remotely.
		 */
		if (i == 1) {
			NOT_INTACT(s->dirty, s->dirty & ~1u);
			NOT_INTACT(s->ready, s->ready & ~1u);
			NOT_INTACT(s->ready, 0);
			s->owner |= OWNER_PENDING;
			NOT_INTACT(s->remote[0], s->free[0]);
			NOT_INTACT(s->remote[1], s->free[1]);
			s->owner &= ~OWNER_PENDING;
		}
		/* A remote release without the pending mark. */
		NOT_INTACT(s->remote[0], (uint64_t)1 << 40);
		s->owner |= OWNER_PENDING;
		CHECK(owner_is_intact(o, slabs));
		s->remote[0] = (uint64_t)1 << 40;
		CHECK(owner_is_intact(o, slabs));
		s->remote[0] = 0;
		s->owner &= ~OWNER_PENDING;
	}
	/* A slab that another thread holds for a purge is intact. */
	partial->hold = 4711;
	CHECK(owner_is_intact(o, slabs));
	partial->hold = SLAB_IDLE;
	/* Free slots in a group that is used up; taken slots in a group that was never opened. */
	NOT_INTACT(full->free[0], 1);
	NOT_INTACT(current->free[current->groups - 1], 1);
	NOT_INTACT(current->free[current->opened + 1], ~(uint64_t)1);
	NOT_INTACT(current->opened, current->opened - 2);
	/* As after a handler that interrupted the opening of a group. */
	if (current->opened + 1 < current->groups) {
		uint64_t *at = &current->free[current->opened], word = *at;

		*at = word & (word - 1);
		CHECK(owner_is_intact(o, slabs));
		*at = word;
	}
	/* The bin's own group need not be ready. */
	current->ready &= ~(1u << (bin_word(o, &o->bins[class]) - current->free));
	CHECK(owner_is_intact(o, slabs));
}

TEST(inner_intact_lists, 10)
{
	struct slab_lists *f;

	set_up();
	f = &o->lists[class];
	NOT_INTACT(f->partial.head, NULL);
	NOT_INTACT(f->partial.tail, NULL);
	NOT_INTACT(f->partial.tail, partial);
	NOT_INTACT(f->partial.head, partial_2);
	NOT_INTACT(f->full.head, NULL);
	NOT_INTACT(f->full.tail, f->full.head);
	NOT_INTACT(partial->next, NULL);
	NOT_INTACT(partial->next, partial); /* a circle */
	NOT_INTACT(partial_2->next, partial);
	NOT_INTACT(partial_2->previous, NULL);
	NOT_INTACT(partial->previous, partial_2);
	NOT_INTACT(full->next, partial);
	/* The slab is on the wrong list. */
	slabs_remove(&f->partial, partial_2);
	CHECK(!owner_is_intact(o, slabs));
	slabs_append(&f->full, partial_2);
	CHECK(!owner_is_intact(o, slabs));
	slabs_remove(&f->full, partial_2);
	slabs_append(&f->partial, partial_2);
	CHECK(owner_is_intact(o, slabs));
	slabs_remove(&f->full, full);
	slabs_append(&f->partial, full);
	CHECK(!owner_is_intact(o, slabs));
}

TEST(inner_intact_bins, 10)
{
	struct bin *b;

	set_up();
	b = &o->bins[class];
	NOT_INTACT(b->slab, NULL);
	NOT_INTACT(b->slab, partial);
	NOT_INTACT(b->word, 0);
	NOT_INTACT(b->word, b->word + sizeof(uint64_t));
	NOT_INTACT(b->word, b->word + 1);
	NOT_INTACT(b->word, b->word - 4096);
	NOT_INTACT(b->size, b->size + 8);
	NOT_INTACT(b->base, b->base + 8);
	NOT_INTACT(current->next, partial);
	NOT_INTACT(current->previous, partial);
	NOT_INTACT(o->bins[class_of(20000)].word, 8);
	b->word += (current->opened + 1) * sizeof(uint64_t) -
		   ((uintptr_t)bin_word(o, b) - (uintptr_t)current->free);
	b->base = current->base + (size_t)(current->opened + 1) * GROUP_SLOTS * current->slot_size;
	CHECK(!owner_is_intact(o, slabs)); /* beyond what was opened */
}

TEST(inner_intact_spares_and_parked, 10)
{
	set_up();
	CHECK(ash_alloc(9000) != NULL); /* the youngest spare has no place for another */
	ash_release(ash_alloc(7000));
	slabs = count_slabs();
	CHECK(owner_is_intact(o, slabs) && o->spare_count == 2);
	NOT_INTACT(o->spares[1], o->spares[0]);
	NOT_INTACT(o->spares[0], o->spares[1]);
	NOT_INTACT(o->spares[1], partial);
	NOT_INTACT(o->spares[1], (struct slab *)(uintptr_t)o);
	NOT_INTACT(o->spare_count, 1);
	spares_reduce(o, 0);
	slabs = count_slabs();
	ash_release(ash_alloc(5000));
	spare = o->spares[0];
	slabs = count_slabs();
	CHECK(o->spare_count == 1);
	NOT_INTACT(o->spare_count, 0);
	NOT_INTACT(o->spare_count, 2);
	NOT_INTACT(o->spares[0], partial);
	NOT_INTACT(o->spares[0], (struct slab *)(uintptr_t)o);
	NOT_INTACT(spare->spare, false);
	NOT_INTACT(spare->all_free, 1);
	/* A slab that is marked as a spare and is none, and a spare that is not marked. */
	partial->spare = true;
	spare->spare = false;
	CHECK(!owner_is_intact(o, slabs));
	partial->spare = false;
	spare->spare = true;
	NOT_INTACT(o->cached_units, 2);
	NOT_INTACT(o->cached[0], partial);
}
