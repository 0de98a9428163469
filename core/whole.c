/* SPDX-License-Identifier: MIT */
/*
 * Blocks above CLASS_SINGLE.  Each has a slab of its own, which needs neither a
 * bin nor spares: only malloc is built with this (quick.h).
 *
 *   taken --> parked --> taken again by its class
 *                   \--> closed, its units opened for another class
 *                   \--> closed, its units given back: another is parked there,
 *                        or too many are, or the owner shrinks
 *
 * A parked slab is empty and stays among the exhausted ones, since only
 * owner.parked tells of it.  That is a hint: whoever takes the record over finds
 * the slab by its bitmap.
 */
#include "fork.h"
#include "keep.h"
#include "quick.h"
#include "watch.h"

/* One place for each number of units, the last for all larger ones. */
static unsigned room_of(unsigned units)
{
	return units < ROOMS ? units - 1 : ROOMS - 1;
}

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

/* By eights: a look at each in turn would be a third of all that is done here. */
static ALWAYS_INLINE bool has_mail(const struct owner *o)
{
	uint64_t any = load_relaxed(&o->marked[0]) | load_relaxed(&o->marked[1]);
	const uint64_t *m;

	_Static_assert(MAIL_MARKED == 2 && INBOX_SLOTS % 8 == 0, "all of it");
	for (m = o->inbox; m < o->inbox + INBOX_SLOTS; m += 8)
		any |= load_relaxed(m) | load_relaxed(m + 1) | load_relaxed(m + 2) |
		       load_relaxed(m + 3) | load_relaxed(m + 4) | load_relaxed(m + 5) |
		       load_relaxed(m + 6) | load_relaxed(m + 7);
	return any != 0;
}

static SLOW void collect(struct owner *o)
{
	owner_collect(o);
}

/* Out of its place. */
static ALWAYS_INLINE struct slab *unpark(struct owner *o, unsigned room)
{
	struct slab *s = o->parked[room];

	o->parked[room] = NULL;
	o->parked_units -= s->units;
	return s;
}

static ALWAYS_INLINE struct units unlist(struct owner *o, struct slab *s)
{
	slabs_remove(&o->shelves[s->class].exhausted, s);
	return slab_close(s);
}

static __attribute__((noinline)) void room_clear(struct owner *o, unsigned room)
{
	struct slab *s = unpark(o, room);

	units_give(o->heap, unlist(o, s));
	watch_look(o);
}

void *whole_take(struct owner *o, unsigned class, bool *clean)
{
	size_t size = class_size(class);
	unsigned count = (unsigned)((size + UNIT_SIZE - 1) >> UNIT_SHIFT), room = room_of(count);
	struct slab *s = o->parked[room];
	struct units u;

	watch_heed(o, keep_tick(o->heap, 1));
	if (s != NULL && s->units == count) {
		(void)unpark(o, room);
		if (s->class == class) {
			store_relaxed(&s->free[0], 0);
			*clean = false;
			return s->base;
		}
		u = unlist(o, s);
	} else {
		fork_notice(o);
		if (unlikely(has_mail(o)))
			collect(o);
		if (unlikely(o->shelves[class].partial.head != NULL))
			return NULL; /* that one comes first */
		u = units_find(o->heap, count, claim_if_room);
		if (unlikely(u.chunk == NULL)) {
			whole_leave(o); /* before the heap grows */
			return NULL;
		}
	}
	s = slab_open(o->heap, u, class, size, 1, (uint64_t)(uintptr_t)o);
	s->opened = 1;
	s->full = 1;
	slabs_append(&o->shelves[class].exhausted, s);
	store_relaxed(&s->free[0], 0);
	*clean = u.clean;
	return s->base;
}

void *whole_slot(size_t size, bool *clean)
{
	void *p;

	if (unlikely(seat.open == 0))
		return NULL;
	seat.open = 0;
	signal_fence(); /* see seat_take */
	p = whole_take(seat.self, class_larger(size), clean);
	if (likely(p != NULL))
		p = quick_predicted(p);
	seat_give();
	return p;
}

void whole_freed(struct owner *o, struct slab *s)
{
	unsigned room = room_of(s->units), other;

	store_release(&s->free[0], 1);
	if (o->parked[room] != NULL)
		room_clear(o, room);
	o->parked[room] = s;
	seat.latest = s->base; /* see quick_predicted */
	o->parked_units += s->units;
	/* As spares: the youngest stays, however large.  Others go in turn. */
	while (o->parked_units > SPARE_UNITS && o->parked_units > s->units) {
		other = o->parked_next++ % ROOMS;
		if (other != room && o->parked[other] != NULL)
			room_clear(o, other);
	}
}

bool whole_is_parked(const struct owner *o, const struct slab *s)
{
	return o->parked[room_of(s->units)] == s;
}

void whole_leave(struct owner *o)
{
	unsigned room;

	for (room = 0; room < ROOMS; room++)
		if (o->parked[room] != NULL)
			room_clear(o, room);
}
