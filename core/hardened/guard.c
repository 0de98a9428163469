/* SPDX-License-Identifier: MIT */
#include "hardened/guard.h"

#include "atomic.h"
#include "backend/chunk.h"
#include "backend/map.h"
#include "base/misuse.h"
#include "chance.h"
#include "front/diagnose.h"
#include "hardened/zero.h"
#include "pages.h"
#include "thread/seat.h"

#define TOUCHED	   128 /* bytes; a page has enough smaller slots that a fault costs less than touching each slot */
#define SLACK_BITS 22 /* the slack is less than 2^22: a slot has 1 MiB, a span its last page */
typedef uint64_t __attribute__((may_alias, aligned(1))) any_word;
#define SLACK_MASK (((uint64_t)1 << SLACK_BITS) - 1)

static uint64_t *guard_word(const void *p, size_t have)
{
	return (uint64_t *)((uintptr_t)p + have - GUARD_BYTES); /* NOLINT: an address */
}

/* The hash combines both halves of a product of two secret numbers, because either half alone would show bits of them. */
static inline uint64_t guard_hash(const void *p, uint64_t slack)
{
	uint64_t key = load_relaxed(&chance_key), other = key << 32 | key >> 32;
	unsigned __int128 product = (unsigned __int128)((uintptr_t)p ^ key) * (slack << (64 - SLACK_BITS) ^ other);

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t word_of(uint64_t hash, uint64_t slack)
{
	return (hash & ~SLACK_MASK) | slack;
}

static unsigned char mark_of(uint64_t hash)
{
	return (unsigned char)(hash | 0x80); /* neither 0 nor a letter nor a small number */
}

/* Returns whether the word is right for the slack that it contains.  The slack of a block is from GUARD_BYTES to `have`. */
static ALWAYS_INLINE bool word_is_right(const void *p, size_t have, uint64_t word, uint64_t *hash)
{
	uint64_t slack = word & SLACK_MASK;

	*hash = guard_hash(p, slack);
	return word == word_of(*hash, slack) && slack - GUARD_BYTES <= have - GUARD_BYTES;
}

/*
 * Returns whether the mark is at the block's end, with zeroes behind it up to the word, or for 4 KiB, so that no more
 * pages are touched.
 */
static ALWAYS_INLINE bool end_is_whole(const char *end, uint64_t slack, uint64_t mark)
{
	uint64_t n = slack - GUARD_BYTES, wrong;
	const char *at;

	if (n == 0)
		return true;
	wrong = *(const any_word *)(const void *)end ^ mark; /* the word may contain a part of the check word */
	if (n < 8)
		return wrong << (64 - 8 * n) == 0;
	n = n < PAGE_LEAST ? n : PAGE_LEAST;
	/* Starts at the first multiple of 8 behind the mark: the bytes before are in the first word. */
	for (at = (const char *)(((uintptr_t)end + 8) & ~(uintptr_t)7); at < end + n; at += 8) /* NOLINT: an address */
		wrong |= *(const any_word *)(const void *)at;
	return wrong == 0;
}

SLOW _Noreturn void guard_report(const char *call, const char *name, const void *p, const char *fault, size_t have)
{
	if (name != NULL)
		diagnose_called(name, p);
	misuse_report(call, p, fault, p, have);
}

ALWAYS_INLINE void guard_set(void *p, size_t size, size_t have)
{
	uint64_t slack = have - size, hash = guard_hash(p, slack);

	if (slack > GUARD_BYTES)
		((unsigned char *)p)[size] = mark_of(hash);
	/* Last, and relaxed, because walks of other threads may read the word at any time. */
	store_relaxed(guard_word(p, have), word_of(hash, slack));
}

/* Makes the page of this word resident by a write that changes nothing.  Reading first would cost another fault. */
static void touch(uint64_t *at)
{
	uint64_t is = exchange_seq_cst(at, 0); /* publishes nothing, so the order is not needed */

	store_relaxed(at, is);
}

/* The first and the last page of a slot are written soon; guard_set writes the last page. */
static SLOW void guard_touch(void *p, size_t have)
{
	touch(guard_word(p, have));
	if (((uintptr_t)p ^ (uintptr_t)guard_word(p, have)) >= PAGE_LEAST)
		touch(p);
}

/*
 * Returns whether the block is a span in a mapping that was made for this span, so that nothing was released there
 * before.
 */
static bool stands_alone(const void *p, size_t have)
{
	return have > SLOT_APART && region_alone(map_find(p)->region) != 0;
}

ALWAYS_INLINE void guard_new(void *p, size_t size, size_t have, bool clean)
{
	if (clean && have >= TOUCHED && have <= SLOT_LARGE)
		guard_touch(p, have);
	/* Clean memory is compared, too: a block there may have been released, then purged, then written. */
	if (!(clean && stands_alone(p, have)) && unlikely(!zero_is(p, have)))
		guard_report(CALL_ALLOC, NULL, p, MISUSE_AFTER, have);
	guard_set(p, size, have);
}

ALWAYS_INLINE size_t guard_size(const char *call, const char *name, const void *p, size_t have)
{
	uint64_t word, slack, hash;

	if (have == SLOT_MIN)
		return 0;
	word = load_relaxed(guard_word(p, have));
	slack = word & SLACK_MASK;
	if (unlikely(!word_is_right(p, have, word, &hash)) ||
	    unlikely(!end_is_whole((const char *)p + have - slack, slack, mark_of(hash))))
		guard_report(call, name, p, word == 0 ? call_again(call) : "written behind its end", have);
	return have - slack;
}

ALWAYS_INLINE void guard_take(const char *call, const char *name, void *p, size_t have)
{
	/*
	 * If several threads release the block at once, only one gets the word.  The order is not needed, because the
	 * word orders no other read.
	 */
	if (unlikely(exchange_seq_cst(guard_word(p, have), 0) == 0))
		guard_report(call, name, p, call_again(call), have);
}

ALWAYS_INLINE void guard_lift(const char *call, const char *name, void *p, size_t size, size_t have)
{
	guard_take(call, name, p, have);
	if (have - size > GUARD_BYTES)
		((char *)p)[size] = 0;
}

size_t guard_peek(const struct slab *s, const void *p, size_t have, bool sure, bool *damaged)
{
	uint64_t word, hash;

	if (have == SLOT_MIN || (!sure && (s == NULL || !owner_has(seat.self, s))))
		return have - GUARD_BYTES;
	word = load_relaxed(guard_word(p, have));
	if (word_is_right(p, have, word, &hash))
		return have - (word & SLACK_MASK);
	*damaged = word != 0;
	return SIZE_MAX;
}
