/* SPDX-License-Identifier: MIT */
#include "release.h"

#include "ashlar.h"

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
		release_rest(p, NULL);
		return;
	}
	/* A closed seat is one more reciprocal of 0, which rejects every pointer. */
	if (unlikely(load_relaxed(&s->owner) != (uint64_t)(uintptr_t)seat.self) ||
	    unlikely(!slab_index_by(s, p, s->reciprocal & seat.open, &index))) {
		release_rest(p, s);
		return;
	}
	seat.open = 0;
	signal_fence(); /* see seat_take */
	group = index / GROUP_SLOTS;
	word = load_relaxed(&s->free[group]);
	if (unlikely(cpu_set_bit(&word, index))) {
		seat_give();
		release_rest(p, s); /* finds it free, too */
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
