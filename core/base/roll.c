/* SPDX-License-Identifier: MIT */
#include "base/roll.h"

#include "atomic.h"
#include "base/bits.h"
#include "pages.h"
#include "process.h"

/* Level k has 1 << LEVEL_BITS(k) entries; place = that + index.  A thread looks at PROBES entries of a level. */
enum { LEVELS = 6, PROBES = 8 };
#define LEVEL_BITS(k) (2 + 3 * (k))
#define SEAT_SHIFT  4 /* less than the size of a seat */
#define PLACE_MASK  (((uint64_t)1 << ROLL_PLACE_BITS) - 1)
#define SERIAL_MASK (((uint64_t)1 << ROLL_SERIAL_BITS) - 1)
_Static_assert(LEVEL_BITS(LEVELS - 1) < ROLL_PLACE_BITS, "places of the last level");

/* The seat of this name, of which only the address is of use. */
static const void *seat_named(uint64_t name)
{
	return (const void *)(uintptr_t)(name << SEAT_SHIFT); /* NOLINT: an address */
}

static uint64_t first_level[1 << LEVEL_BITS(0)];
static uint64_t *further[LEVELS - 1]; /* NULL: not yet needed */

static uint64_t *level(unsigned k)
{
	/* Pairs with level_add: the memory is there. */
	return k == 0 ? first_level : load_acquire(&further[k - 1]);
}

static size_t level_bytes(unsigned k)
{
	size_t bytes = sizeof(uint64_t) << LEVEL_BITS(k);

	return (bytes + PAGE_MOST - 1) & ~(PAGE_MOST - 1);
}

static unsigned levels(void)
{
	unsigned k = 1;

	while (k < LEVELS && level(k) != NULL)
		k++;
	return k;
}

/* Adds level k, unless another thread has. */
static bool level_add(unsigned k)
{
	uint64_t none = 0;
	void *memory;

	if (k == LEVELS)
		return false;
	memory = pages_reserve(level_bytes(k), PAGE_LEAST, PAGES_PRIVATE);
	if (memory == NULL)
		return false;
	/* Pairs with level. */
	if (!cas_acq_rel((uint64_t *)(void *)&further[k - 1], &none, (uint64_t)(uintptr_t)memory))
		(void)pages_release(memory, level_bytes(k));
	return true;
}

/* Which entry a thread may have: that of its seat, a vacant one, or that of a seat which is not mapped any more. */
enum choice { ITS_OWN, VACANT, LEFT };

static bool may_enter(uint64_t name, uint64_t word, enum choice choice)
{
	uint64_t there = word >> ROLL_SERIAL_BITS;

	if (choice == LEFT)
		return process_thread_has_left(seat_named(there), 0);
	return there == (choice == ITS_OWN ? name : 0);
}

/* Counts up such an entry, and makes it that of the seat with this name. */
static uint64_t enter(uint64_t name, enum choice choice)
{
	uint64_t *entries, *entry, word, next, mask, at;
	unsigned k, i;

	/* A call of madvise for each: only in the last level. */
	for (k = choice == LEFT ? levels() - 1 : 0; k < LEVELS && (entries = level(k)) != NULL; k++) {
		mask = ((uint64_t)1 << LEVEL_BITS(k)) - 1;
		at = name * UINT64_C(0x9e3779b97f4a7c15) >> (64 - LEVEL_BITS(k));
		for (i = 0; i < PROBES; i++) {
			entry = &entries[(at + i) & mask];
			word = load_relaxed(entry);
			next = name << ROLL_SERIAL_BITS | ((word + 1) & SERIAL_MASK);
			/*
			 * Pairs with roll_has_left: a thread that sees the new serial sees all that the
			 * ended one did, as the code that reused its seat for this thread did, or as the kernel
			 * told that it is unmapped.  The entry may have gone to another thread.
			 */
			if (may_enter(name, word, choice) && cas_acq_rel(entry, &word, next))
				return (next & SERIAL_MASK) << ROLL_PLACE_BITS | (mask + 1) |
				       (uint64_t)(entry - entries);
		}
	}
	return 0;
}

uint64_t roll_enter(const void *local)
{
	uint64_t name = (uintptr_t)local >> SEAT_SHIFT, number;
	unsigned k;

	if (name >> (64 - ROLL_SERIAL_BITS) != 0)
		return 0;
	number = enter(name, ITS_OWN);
	/* Counted before they are looked at: threads that find the same levels full add one, not one each. */
	for (k = levels(); number == 0 && (number = enter(name, VACANT)) == 0; k = levels())
		if (!level_add(k))
			return enter(name, LEFT);
	return number;
}

/* The entry at the number's place; NULL: there is none, as in a word from a damaged file. */
static uint64_t *entry_of(uint64_t number)
{
	uint64_t place = number & PLACE_MASK, *entries;
	unsigned k;

	for (k = 0; k < LEVELS && (entries = level(k)) != NULL; k++)
		if (place >> LEVEL_BITS(k) == 1)
			return &entries[place - ((uint64_t)1 << LEVEL_BITS(k))];
	return NULL;
}

bool roll_has_left(uint64_t number)
{
	uint64_t *entry = entry_of(number);

	/* Pairs with enter. */
	return entry != NULL && (load_acquire(entry) & SERIAL_MASK) != (number >> ROLL_PLACE_BITS & SERIAL_MASK);
}

const void *roll_seat(uint64_t number)
{
	uint64_t *entry = entry_of(number);

	return entry == NULL ? NULL : seat_named(load_relaxed(entry) >> ROLL_SERIAL_BITS);
}
