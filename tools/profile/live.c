/* SPDX-License-Identifier: MIT */
/*
 * Hash tables of three sizes.  An address is in one of NEAR neighbouring places of one of them;
 * who looks for it looks at all of these, so that a place is simply empty again afterwards.
 *
 * Only the thread that allocates or releases a block enters or removes it, and the block's
 * way from one to the other orders the two.  Only empty places are contended for.
 */
#include "profile.h"

enum { TABLES = 3, NEAR = 32 };
#define PLACES(table) ((uint64_t)1 << (12 + 3 * (table)))
#define PLACES_ALL    ((1 << 12) + (1 << 15) + (1 << 18) + TABLES * NEAR)

static struct {
	size_t size;
	uint32_t site;
} values[PLACES_ALL];
static uint64_t addresses[PLACES_ALL]; /* 0: empty */
static uint64_t entered[TABLES];       /* so far: 0 saves looking */

/* The first place where an address may be. */
static uint64_t place_of(uint64_t address, unsigned table)
{
	uint64_t first = 0;

	for (unsigned i = 0; i < table; i++)
		first += PLACES(i) + NEAR;
	return first + (address * 0x9E3779B97F4A7C15 >> (64 - 12 - 3 * table));
}

bool live_add(const void *p, size_t size, uint32_t site)
{
	uint64_t address = (uint64_t)(uintptr_t)p;

	for (unsigned table = 0; table < TABLES; table++) {
		uint64_t place = place_of(address, table), last = place + NEAR;

		if (__atomic_load_n(&entered[table], __ATOMIC_RELAXED) == 0)
			__atomic_store_n(&entered[table], 1, __ATOMIC_RELAXED);
		for (; place < last; place++) {
			uint64_t none = 0;

			if (__atomic_load_n(&addresses[place], __ATOMIC_RELAXED) != 0)
				continue;
			/* Acquire pairs with the release in live_remove: its values were read. */
			if (!__atomic_compare_exchange_n(&addresses[place], &none, address, false, __ATOMIC_ACQUIRE,
							 __ATOMIC_RELAXED))
				continue;
			values[place].size = size;
			values[place].site = site;
			return true;
		}
	}
	return false;
}

uint32_t live_remove(const void *p, size_t *size)
{
	uint64_t address = (uint64_t)(uintptr_t)p;

	for (unsigned table = 0; table < TABLES; table++) {
		uint64_t place = place_of(address, table), last = place + NEAR;

		if (__atomic_load_n(&entered[table], __ATOMIC_RELAXED) == 0)
			break;
		for (; place < last; place++) {
			uint32_t site;

			if (__atomic_load_n(&addresses[place], __ATOMIC_RELAXED) != address)
				continue;
			site = values[place].site;
			*size = values[place].size;
			__atomic_store_n(&addresses[place], 0, __ATOMIC_RELEASE); /* pairs with live_add */
			return site;
		}
	}
	return 0;
}
