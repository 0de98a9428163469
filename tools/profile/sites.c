/* SPDX-License-Identifier: MIT */
#include "profile.h"

/* Records one behind the other; a number is an offset in words, plus one. */
enum { WORDS = 2 << 20, PLACES = 1 << 17, NEAR = 64 };
static uint64_t records[WORDS], used;
static uint32_t places[PLACES];
uint64_t sites_lost;

struct site *site_at(uint32_t number)
{
	return (struct site *)(void *)&records[number - 1];
}

static uint64_t hash_of(const uintptr_t *stack, unsigned depth, size_t size)
{
	uint64_t hash = size + 1;

	for (unsigned i = 0; i < depth; i++)
		hash = (hash ^ stack[i] ^ hash >> 29) * 0x9E3779B97F4A7C15;
	return hash ^ hash >> 32;
}

static bool is_same(const struct site *s, uint64_t hash, const uintptr_t *stack, unsigned depth, size_t size)
{
	if (s->hash != hash || s->depth != depth || s->size != size)
		return false;
	for (unsigned i = 0; i < depth; i++)
		if (s->stack[i] != stack[i])
			return false;
	return true;
}

/* A new record; 0: no room. */
static uint32_t make(uint64_t hash, const uintptr_t *stack, unsigned depth, size_t size)
{
	uint64_t words = sizeof(struct site) / sizeof(uint64_t) + depth, at;
	struct site *s;

	if (__atomic_load_n(&used, __ATOMIC_RELAXED) > WORDS - words)
		return 0;
	at = __atomic_fetch_add(&used, words, __ATOMIC_RELAXED);
	if (at > WORDS - words)
		return 0;
	s = site_at((uint32_t)at + 1);
	s->hash = hash;
	s->size = size;
	s->depth = depth;
	for (unsigned i = 0; i < depth; i++)
		s->stack[i] = stack[i];
	return (uint32_t)at + 1;
}

uint32_t site_of(const uintptr_t *stack, unsigned depth, size_t size)
{
	uint64_t hash = hash_of(stack, depth, size);
	uint32_t mine = 0, there;

	for (uint64_t i = 0; i < NEAR; i++) {
		uint32_t *place = &places[(hash + i) % PLACES];

		/* Acquire pairs with the release below: the record is complete. */
		there = __atomic_load_n(place, __ATOMIC_ACQUIRE);
		if (there == 0) {
			if (mine == 0)
				mine = make(hash, stack, depth, size);
			if (mine == 0 || __atomic_compare_exchange_n(place, &there, mine, false, __ATOMIC_ACQ_REL,
								     __ATOMIC_ACQUIRE))
				return mine;
			/* Another thread was first.  If it entered the same, our record is never used. */
		}
		if (is_same(site_at(there), hash, stack, depth, size))
			return there;
	}
	return 0;
}

struct site *site_next(uint32_t *place)
{
	while (*place < PLACES) {
		uint32_t there = __atomic_load_n(&places[(*place)++], __ATOMIC_ACQUIRE); /* as above */

		if (there != 0)
			return site_at(there);
	}
	return NULL;
}
