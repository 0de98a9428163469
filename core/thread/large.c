/* SPDX-License-Identifier: MIT */
#include "thread/large.h"

#include "backend/retain.h"
#include "thread/collect.h"
#include "thread/fork.h"
#include "thread/inbox.h"
#include "thread/seat.h"
#include "thread/watch.h"

#define ANY (~(uint64_t)0)

/*
 * bits_runs, for up to 8 units without branches, which would be mispredicted: sizes of
 * consecutive blocks differ.
 */
static ALWAYS_INLINE uint64_t runs_of(uint64_t word, unsigned n)
{
	static const uint64_t starts[] = {ANY, ANY, ANY / 3, ANY,      ANY / 15,
					  ANY, ANY, ANY,     ANY / 255};

	if (unlikely(n > 8))
		return bits_runs(word, n);
	word &= word >> 1; /* a large slab has two units or more */
	word &= word >> (n < 4 ? n - 2 : 2);
	word &= word >> (n < 4 ? 0 : n - 4);
	return word & starts[n];
}

static __attribute__((noinline)) struct units large_claim_in(struct heap *h, struct chunk *c,
							     unsigned count)
{
	return units_claim_in(h, c, count, runs_of);
}

/*
 * Most chunks have no room, which is tested without a call.  A chunk without a free unit
 * goes to large_claim_in, which clears its hint.
 */
static ALWAYS_INLINE struct units claim_if_room(struct heap *h, struct chunk *c, unsigned count)
{
	uint64_t word = load_relaxed(&c->units);

	if (word != 0 && runs_of(word, count) == 0)
		return (struct units){NULL, 0, count, false};
	return large_claim_in(h, c, count);
}

static SLOW void collect_slow(struct owner *o)
{
	collect_inbox(o);
}

/* Takes the slab out of the cache. */
static ALWAYS_INLINE struct slab *uncache(struct owner *o, unsigned index)
{
	struct slab *s = o->cached[index];

	o->cached[index] = NULL;
	o->cached_units -= s->units;
	return s;
}

/* Takes the slab off its list and closes it; its units become the caller's. */
static ALWAYS_INLINE struct units unlist(struct owner *o, struct slab *s)
{
	slabs_remove(&o->lists[s->class].full, s);
	return slab_close(s);
}

static __attribute__((noinline)) void cache_evict(struct owner *o, unsigned index)
{
	struct slab *s = uncache(o, index);

	units_give(o->heap, unlist(o, s));
	watch_check(o);
}

void *large_take(struct owner *o, unsigned class, bool *clean)
{
	size_t size = class_size(class);
	unsigned count = (unsigned)((size + UNIT_SIZE - 1) >> UNIT_SHIFT);
	unsigned index = large_index(count);
	struct slab *s = o->cached[index];
	struct units u;

	watch_update(o, retain_tick(o->heap, 1));
	if (s != NULL && s->units == count) {
		(void)uncache(o, index);
		if (s->class == class) {
			store_relaxed(&s->free[0], 0);
			*clean = false;
			return s->base;
		}
		u = unlist(o, s);
	} else {
		fork_notice(o);
		if (unlikely(inbox_has(o)))
			collect_slow(o);
		if (unlikely(o->lists[class].partial.head != NULL))
			return NULL; /* a slab whose slot another thread released comes first */
		u = units_find(o->heap, count, claim_if_room);
		if (unlikely(u.chunk == NULL)) {
			large_flush(o); /* before refill_bin lets the heap grow */
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
	unsigned index = large_index(s->units), other;

	store_release(&s->free[0], 1);
	if (o->cached[index] != NULL)
		cache_evict(o, index);
	o->cached[index] = s;
	seat.latest = s->base; /* see quick_predicted */
	o->cached_units += s->units;
	/* As with spares, the latest slab is kept, however large.  Others are evicted in turn. */
	while (o->cached_units > SPARE_UNITS && o->cached_units > s->units) {
		other = o->cached_next++ % LARGE_CACHE;
		if (other != index && o->cached[other] != NULL)
			cache_evict(o, other);
	}
}

void large_flush(struct owner *o)
{
	unsigned index;

	for (index = 0; index < LARGE_CACHE; index++)
		if (o->cached[index] != NULL)
			cache_evict(o, index);
}
