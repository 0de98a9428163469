/* SPDX-License-Identifier: MIT */
#include "release.h"

#include "ashlar.h"
#include "misuse.h"
#include "shared.h"
#include "span.h"

bool remote_free(struct place at, struct owner **vacant)
{
	struct slab *s = at.slab;
	uint64_t owner;

	*vacant = NULL;

	/*
	 * The block is ours until the next line, so the slab is what it seems.
	 * Ordered, as the load below: first the word, then the mark, as the owner
	 * clears first the mark and then reads the words (slab_collect).
	 */
	if ((load_acquire(&s->free[at.group]) & at.bit) != 0 ||
	    (fetch_or_ordered(&s->remote[at.group], at.bit) & at.bit) != 0)
		return false;
	/*
	 * From here on the slab may be collected, emptied, even made anew: what
	 * we do to it now are hints that hurt no other slab.
	 */
	owner = load_ordered(&s->owner);
	if ((owner & OWNER_PENDING) != 0)
		return true;
	owner = fetch_or_ordered(&s->owner, OWNER_PENDING);
	if (owner == 0 || (owner & (OWNER_PENDING | OWNER_SHARED)) != 0)
		return true;
	owner_notify(owner, s);
	if (unlikely(load_ordered(&((struct owner *)(uintptr_t)owner)->state) == OWNER_VACANT))
		*vacant = (struct owner *)(uintptr_t)owner;
	return true;
}

/* To collect costs as much as some ten of the looks that it saves. */
#define COLLECT_AFTER 64u

/* Everything but a block of one's own slab. */
static SLOW void release_slow(void *p)
{
	struct chunk *c = map_find(p);
	struct place at;
	struct owner *o;
	bool done;

	if (p == NULL)
		return;
	if (unlikely(heap_hooks != NULL) && heap_hooks->release(c, p))
		return;
	if (c == NULL || !place_find(c, p, &at)) {
		if (c == NULL || !span_release(c, p))
			misuse(CALL_RELEASE, p);
		bins_hurry();
		return;
	}
	o = seat.owner;
	if (o != NULL && owner_has(o, at.slab)) {
		seat.owner = NULL;
		signal_fence(); /* see seat_take */
		/* Or each release into this slab would have to look until the next refill. */
		if (o->delayed++ % COLLECT_AFTER == 0)
			owner_collect_slab(o, at.slab);
		done = place_is_taken(&at);
		if (done)
			owner_freed(o, at.slab, at.group,
				    load_relaxed(&at.slab->free[at.group]) | at.bit);
		seat_give(o);
	} else if ((load_relaxed(&at.slab->owner) & OWNER_SHARED) != 0) {
		done = shared_free(&at);
	} else {
		done = remote_free(at, &o);
		if (o != NULL)
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
	seat_give(o);
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
	struct chunk *c = map_guess(p);
	struct owner *o = seat.owner;
	struct slab *s;
	uint64_t word, index, group;

	if (unlikely(c == NULL)) {
		release_slow(p);
		return;
	}
	s = slab_record(c, p);
	if (unlikely(load_relaxed(&s->owner) != (uint64_t)(uintptr_t)o) ||
	    unlikely(!slab_index(s, p, &index))) {
		release_slow(p);
		return;
	}
	seat.owner = NULL;
	signal_fence(); /* see seat_take */
	group = index / GROUP_SLOTS;
	word = load_relaxed(&s->free[group]);
	if (unlikely(cpu_set_bit(&word, index))) {
		seat_give(o);
		release_slow(p); /* finds it free, too */
		return;
	}
	/* Only looked at: a store here each time would be one more chain through memory. */
	if (unlikely(((s->ready >> group) & 1) == 0) || unlikely(word == s->full)) {
		release_event(o, s, group, word);
		return;
	}
	store_relaxed(&s->free[group], word);
	seat_give(o);
}
