/* SPDX-License-Identifier: MIT */
/*
 * What the hardened products ask of the system: numbers that an attacker does not know, random places for
 * mappings, and fences (pages without access).
 *
 * The generator is SplitMix64 (Steele, Lea, Flood): fast, but no cipher.  An observer of whole numbers can
 * compute the next ones; an address shows some bits of one.
 */
#ifndef SYS_CHANCE_H
#define SYS_CHANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "generation.h"
#include "internal.h"

/* The number that a state stands for, which no state near it has. */
static inline uint64_t chance_mix(uint64_t z)
{
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

#define CHANCE_STEP UINT64_C(0x9e3779b97f4a7c15) /* odd: a state comes again after 2^64 steps */

/* The next number of a generator that one thread uses. */
static inline uint64_t chance_next(uint64_t *state)
{
	return chance_mix(*state += CHANCE_STEP);
}

/* What one thread draws from. */
#define CHANCES_NONE (~(uint64_t)0) /* no word of a fork mark is this */
struct chances {
	uint64_t state, left; /* left: what was not used of a number, and above it a 1 */
	uint64_t drawn;	      /* the fork mark when the state was drawn, or CHANCES_NONE at first */
};

HARDENED __attribute__((noinline)) void chances_renew(struct chances *c);

/* Before something is drawn: after a fork the child's numbers are not its parent's, nor those of another child. */
static inline void chances_settle(struct chances *c)
{
	if (__builtin_expect(!generation_is(c->drawn), 0))
		chances_renew(c);
}

/* Six bits, of which a number has ten. */
static inline unsigned chance_some(struct chances *c)
{
	uint64_t left = c->left;

	if (__builtin_expect(left < 64, 0))
		left = chance_next(&c->state) | (uint64_t)1 << 63;
	c->left = left >> 6;
	return (unsigned)left & 63;
}

/* A number of the process's generator, for any thread at any time; another one in each child of a fork. */
HARDENED uint64_t chance(void);
/* A number that is the same as long as the process lives, and in its children of fork; not 0. */
HARDENED uint64_t chance_secret(void);
/* The number of chance_secret.  fence_place draws it before the first mapping, so it is not 0 where there is a block. */
BUILD_IF(ASHLAR_HARDENED, INTERNAL_EXTERN, extern) uint64_t chance_key;

/*
 * Where a mapping of so many bytes may be, a multiple of PAGE_HUGE, without another one that was made so on a page beside
 * it: a wish, as something else may be there.  It is taken until it is left.  0: nothing was found.
 */
HARDENED uint64_t fence_place(size_t bytes);
/* Takes what follows a mapping.  False: it has neighbours. */
HARDENED bool fence_extend(const char *end, size_t more);
/* Leaves the range, which is all of a mapping or its end. */
HARDENED void fence_leave(const char *p, size_t bytes, bool all);
/* True: a page beside the range may be mapped. */
HARDENED bool fence_has_neighbours(const char *p, size_t bytes);
/*
 * Takes access to the range away, or gives it back.  What is fenced beyond the first MiB loses its memory, too.  False:
 * refused, or no whole pages; access has not changed.
 */
HARDENED bool fence_set(void *p, size_t bytes, bool fenced);
/* Bytes whose access was to be taken away, and that do not have it again. */
HARDENED uint64_t fence_bytes(void);

#endif
