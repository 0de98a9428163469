/* SPDX-License-Identifier: MIT */
#include "release.h"

#include "ashlar.h"
#include "misuse.h"
#include "shared.h"
#include "span.h"

/* To collect costs as much as some ten of the looks that it saves. */
#define COLLECT_AFTER 64u

/* What is no slot of the slab that the map led to at first.  True: it is a slot all the same. */
static SLOW bool release_other(void *p, struct place *at)
{
	struct chunk *c = map_find(p);

	if (p == NULL)
		return false;
	if (unlikely(heap_hooks != NULL) && heap_hooks->release(c, p))
		return false;
	if (c != NULL && place_find(c, p, at))
		return true;
	if (c == NULL || !span_release(c, p))
		misuse(CALL_RELEASE, p);
	bins_hurry();
	return false;
}

/*
 * Everything but a block of one's own slab; s: what map_guess_slab gave.  A
 * guess without an owner is no slab any more, and its memory may be a span's.
 */
static SLOW void release_slow(void *p, struct slab *s)
{
	struct owner *o = seat.self;
	uint64_t index, group, bit, word;
	struct place at;
	bool done;

	if (s == NULL || load_relaxed(&s->owner) == 0 || unlikely(heap_hooks != NULL) ||
	    unlikely(!slab_index(s, p, &index))) {
		if (!release_other(p, &at))
			return;
		s = at.slab;
		index = at.index;
	}
	if (seat.open != 0 && owner_has(o, s)) {
		seat.open = 0;
		signal_fence(); /* see seat_take */
		/* Or each release into this slab would have to look until the next refill. */
		if (o->delayed++ % COLLECT_AFTER == 0)
			owner_collect_slab(o, s);
		group = index / GROUP_SLOTS;
		bit = (uint64_t)1 << (index % GROUP_SLOTS);
		word = load_relaxed(&s->free[group]);
		done = ((word | load_relaxed(&s->remote[group])) & bit) == 0;
		if (done)
			owner_freed(o, s, group, word | bit);
		seat_give();
	} else if ((load_relaxed(&s->owner) & OWNER_SHARED) != 0) {
		done = shared_free(s, index);
	} else {
		done = remote_set(s, index);
		if (done && unlikely(!remote_is_told(s)) && (o = remote_tell(s)) != NULL)
			owner_visit(o);
	}
	if (!done)
		misuse(CALL_RELEASE, p);
}

/* What seldom happens: the group was not ready, or got free throughout. */
static SLOW void release_event(struct owner *o, struct slab *s, uint64_t group,
				 uint64_t word)
{
	owner_freed(o, s, group, word);
	seat_give();
}

/*
 * The fast path: pointer to slab, slab to bit.  It must stay free of calls
 * and of locked instructions; tests/golden holds its instructions.
 *
 * The comparison of owners tells four things at once: the slab is ours, it is
 * not shared, no remote bits wait in it (they might be this slot's), and we
 * did not interrupt another call of this thread.
 */
FAST void ash_release(void *p)
{
	struct slab *s = map_guess_slab(p);
	uint64_t word, index, group;

	if (unlikely(s == NULL)) {
		release_slow(p, NULL);
		return;
	}
	/* A closed seat is one more reciprocal of 0, which rejects every pointer. */
	if (unlikely(load_relaxed(&s->owner) != (uint64_t)(uintptr_t)seat.self) ||
	    unlikely(!slab_index_by(s, p, s->reciprocal & seat.open, &index))) {
		release_slow(p, s);
		return;
	}
	seat.open = 0;
	signal_fence(); /* see seat_take */
	group = index / GROUP_SLOTS;
	word = load_relaxed(&s->free[group]);
	if (unlikely(cpu_set_bit(&word, index))) {
		seat_give();
		release_slow(p, s); /* finds it free, too */
		return;
	}
	/* Only looked at: a store here each time would be one more chain through memory. */
	if (unlikely(((s->ready >> group) & 1) == 0) || unlikely(word == s->full)) {
		release_event(seat.self, s, group, word);
		return;
	}
	store_relaxed(&s->free[group], word);
	seat_give();
}
