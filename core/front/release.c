/* SPDX-License-Identifier: MIT */
#include "ashlar.h"
#include "front/remote.h"
#include "front/slot.h"

/*
 * The fast path: pointer to slab, slab to bit.  It must stay free of calls
 * and locked instructions; tests/golden has its expected instructions.
 */
FAST void ash_release(void *p)
{
	uint64_t word, index, group, opened;
	struct slab *s;

	if (unlikely(!own_slot(p, &s, &index))) {
		release_rest(p, s);
		return;
	}
	opened = seat.open;
	seat_close();
	group = index / GROUP_SLOTS;
	word = load_relaxed(&s->free[group]);
	if (unlikely(cpu_set_bit(&word, index))) {
		seat_open();
		release_rest(p, s); /* finds it free again, and reports it */
		return;
	}
	/* Read only: an unconditional store would add a store-to-load dependency. */
	if (unlikely(slab_has_event(s, group, word))) {
		release_event(seat.self, s, group, word);
		return;
	}
	store_release(&s->free[group], word);
	seat.latest = p; /* see slot_predicted */
	seat_open_again(opened);
}
