/* SPDX-License-Identifier: MIT */
/* The fast path of a release, for the calls by all names (release.c, free.c). */
#ifndef CORE_RELEASE_H
#define CORE_RELEASE_H

#include "base/bits.h"
#include "front/remote.h"
#include "front/slot.h"
#include "internal.h"

/* Releases what the fast path cannot: see release_rest. */
typedef void rest_function(void *p, struct slab *s);

/* The second half of the fast path, from the slab to the bit. */
static ALWAYS_INLINE void release_bit(void *p, struct slab *s, uint64_t index, rest_function *rest)
{
	uint64_t word, group, opened = seat.open;

	seat_close();
	group = index / GROUP_SLOTS;
	word = load_relaxed(&s->free[group]);
	if (unlikely(cpu_set_bit(&word, index))) {
		seat_open();
		rest(p, s); /* finds that the slot is free already, and reports it */
		return;
	}
	/* The test only reads, because an unconditional store would add a store-to-load dependency. */
	if (unlikely(!slab_give(s, group, word))) {
		release_event(seat.self, s, group, word);
		return;
	}
	seat.latest = p; /* see slot_predicted */
	seat_open_again(opened);
}

/*
 * The fast path (see the head of alloc.c).  The path must stay free of calls and locked instructions; tests/golden
 * has the expected instructions.
 */
static ALWAYS_INLINE void release_fast(void *p, rest_function *rest)
{
	uint64_t index;
	struct slab *s;

	if (unlikely(!own_slot(p, &s, &index)))
		rest(p, s);
	else
		release_bit(p, s, index, rest);
}

/*
 * Releases a block with a told size and alignment, for any block but of the fast path.  Reports misuse if the block
 * cannot have them.  Hardened products do not have this function.
 */
INTERNAL SLOW void release_aligned_rest(void *p, size_t alignment, size_t size);

#endif
