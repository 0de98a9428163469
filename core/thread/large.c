/* SPDX-License-Identifier: MIT */
#include "thread/large.h"

#include "backend/retain.h"
#include "thread/collect.h"
#include "thread/fork.h"
#include "thread/inbox.h"
#include "thread/seat.h"
#include "thread/watch.h"

#define ANY (~(uint64_t)0)

/* bits_runs, for the usual sizes without branches that the next block takes the other way. */
static ALWAYS_INLINE uint64_t runs_of(uint64_t word, unsigned n)
{
	static const uint64_t starts[] = {ANY, ANY, ANY / 3, ANY,      ANY / 15,
					  ANY, ANY, ANY,     ANY / 255};

	if (unlikely(n > 8))
		return bits_runs(word, n);
	word &= word >> 1; /* a whole block has two units or more */
	word &= word >> (n < 4 ? n - 2 : 2);
	word &= word >> (n < 4 ? 0 : n - 4);
	return word & starts[n];
}

static __attribute__((noinline)) struct units claim_in(struct heap *h, struct chunk *c,
						       unsigned count)
{
	return units_claim_in(h, c, count, runs_of);
}

/* Most chunks have no room; one that has no unit at all loses its hint in there. */
static ALWAYS_INLINE struct units claim_if_room(struct heap *h, struct chunk *c, unsigned count)
{
	uint64_t word = load_relaxed(&c->units);

	if (word != 0 && runs_of(word, count) == 0)
		return (struct units){NULL, 0, count, false};
	return claim_in(h, c, count);
}

static SLOW void collect(struct owner *o)
{
	owner_collect(o);
}

/* Out of its place. */
static ALWAYS_INLINE struct slab *uncache(struct owner *o, unsigned room)
{
	struct slab *s = o->cached[room];

	o->cached[room] = NULL;
	o->cached_units -= s->units;
	return s;
}

static ALWAYS_INLINE struct units unlist(struct owner *o, struct slab *s)
{
	slabs_remove(&o->lists[s->class].full, s);
	return slab_close(s);
}

static __attribute__((noinline)) void room_clear(struct owner *o, unsigned room)
{
	struct slab *s = uncache(o, room);

	units_give(o->heap, unlist(o, s));
	watch_look(o);
}

void *large_take(struct owner *o, unsigned class, bool *clean)
{
	size_t size = class_size(class);
	unsigned count = (unsigned)((size + UNIT_SIZE - 1) >> UNIT_SHIFT), room = large_place(count);
	struct slab *s = o->cached[room];
	struct units u;

	watch_heed(o, retain_tick(o->heap, 1));
	if (s != NULL && s->units == count) {
		(void)uncache(o, room);
		if (s->class == class) {
			store_relaxed(&s->free[0], 0);
			*clean = false;
			return s->base;
		}
		u = unlist(o, s);
	} else {
		fork_notice(o);
		if (unlikely(inbox_has(o)))
			collect(o);
		if (unlikely(o->lists[class].partial.head != NULL))
			return NULL; /* that one comes first */
		u = units_find(o->heap, count, claim_if_room);
		if (unlikely(u.chunk == NULL)) {
			large_leave(o); /* before the heap grows */
			return NULL;
		}
	}
	s = slab_open(o->heap, u, class, size, 1, (uint64_t)(uintptr_t)o);
	s->opened = 1;
	s->all_free = 1;
	slabs_append(&o->lists[class].full, s);
	store_relaxed(&s->free[0], 0);
	*clean = u.clean;
	return s->base;
}

void large_freed(struct owner *o, struct slab *s)
{
	unsigned room = large_place(s->units), other;

	store_release(&s->free[0], 1);
	if (o->cached[room] != NULL)
		room_clear(o, room);
	o->cached[room] = s;
	seat.latest = s->base; /* see quick_predicted */
	o->cached_units += s->units;
	/* As spares: the youngest stays, however large.  Others go in turn. */
	while (o->cached_units > SPARE_UNITS && o->cached_units > s->units) {
		other = o->cached_next++ % LARGE_CACHE;
		if (other != room && o->cached[other] != NULL)
			room_clear(o, other);
	}
}

void large_leave(struct owner *o)
{
	unsigned room;

	for (room = 0; room < LARGE_CACHE; room++)
		if (o->cached[room] != NULL)
			room_clear(o, room);
}
