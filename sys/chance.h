/* SPDX-License-Identifier: MIT */
/*
 * What the hardened product needs of the system: numbers that an attacker does not know, random places for mappings, and
 * fences (pages without access).  No other product includes this file.
 *
 * The generator is SplitMix64 (Steele, Lea, Flood): fast, but no cipher.  An observer of whole numbers can compute
 * the next numbers; an address shows some bits of a number.
 */
#ifndef SYS_CHANCE_H
#define SYS_CHANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "generation.h"
#include "internal.h"

/* Returns the number of a state, which no state near it has. */
static inline uint64_t chance_mix(uint64_t z)
{
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

#define CHANCE_STEP UINT64_C(0x9e3779b97f4a7c15) /* odd, so that a state comes again only after 2^64 steps */

/* Returns the next number of a generator that a single thread uses. */
static inline uint64_t chance_next(uint64_t *state)
{
	return chance_mix(*state += CHANCE_STEP);
}

/* A single thread's generator. */
#define CHANCES_NONE (~(uint64_t)0) /* no word of a fork mark has this value */
struct chances {
	uint64_t state, left; /* left: the unused part of a number, and above it a 1 */
	uint64_t drawn;	      /* the fork mark when the state was drawn; CHANCES_NONE at first */
};

INTERNAL __attribute__((noinline)) void chances_renew(struct chances *c);

/*
 * Called before a number is drawn: after a fork the child's numbers differ from its parent's and from those of
 * another child.
 */
static inline void chances_settle(struct chances *c)
{
	if (__builtin_expect(!generation_is(c->drawn), 0))
		chances_renew(c);
}

/* Returns six bits; a number serves ten calls. */
static inline unsigned chance_some(struct chances *c)
{
	uint64_t left = c->left;

	if (__builtin_expect(left < 64, 0))
		left = chance_next(&c->state) | (uint64_t)1 << 63;
	c->left = left >> 6;
	return (unsigned)left & 63;
}

/* Returns a number of the process's generator, for any thread at any time.  Each child of a fork gets other numbers. */
INTERNAL uint64_t chance(void);
/* Returns a number, not 0, that stays constant during the life of the process, also in its children of fork. */
INTERNAL uint64_t chance_secret(void);
/*
 * The number of chance_secret.  fence_place draws the number before the first mapping, so it is not 0 if there is a
 * block.
 */
INTERNAL_EXTERN uint64_t chance_key;

/*
 * Returns a place for a mapping of so many bytes, a multiple of PAGE_HUGE, so that no page beside it belongs to
 * another mapping with such a place.  The place is only a wish, because something else may be mapped there.  It stays
 * taken until fence_leave.  Returns 0 if no place was found.
 */
INTERNAL uint64_t fence_place(size_t bytes);
/* Takes the place behind a mapping.  Returns false if that place has neighbours. */
INTERNAL bool fence_extend(const char *end, size_t more);
/* Leaves the range, which is a whole mapping or the end of a mapping. */
INTERNAL void fence_leave(const char *p, size_t bytes, bool all);
/* Returns whether a page beside the range may be mapped. */
INTERNAL bool fence_has_neighbours(const char *p, size_t bytes);
/*
 * Removes access to the range, or restores it.  Fences beyond the first MiB also lose their memory.  Returns false if
 * the kernel refused or the range is not whole pages; then access has not changed.
 */
INTERNAL bool fence_set(void *p, size_t bytes, bool fenced);
/* Returns the bytes whose access was to be removed and was not restored. */
INTERNAL uint64_t fence_bytes(void);

#endif
