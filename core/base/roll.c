/* SPDX-License-Identifier: MIT */
#include "base/roll.h"

#include "atomic.h"
#include "base/bits.h"
#include "pages.h"
#include "process.h"

/*
 * Level k has 1 << LEVEL_BITS(k) entries; the place of an entry is that number + its index.  A thread looks
 * at PROBES entries of a level.
 */
enum { LEVELS = 6, PROBES = 8 };
#define LEVEL_BITS(k) (2 + 3 * (k))
#define SEAT_SHIFT  4 /* less than the size of a seat */
#define PLACE_MASK  (((uint64_t)1 << ROLL_PLACE_BITS) - 1)
#define SERIAL_MASK (((uint64_t)1 << ROLL_SERIAL_BITS) - 1)
_Static_assert(LEVEL_BITS(LEVELS - 1) < ROLL_PLACE_BITS, "places of the last level");

/* Returns the seat of this name.  Only the address may be used. */
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

/*
 * The entries that a thread may take: that of its seat, a vacant entry, or that of a seat that is not mapped
 * any more.
 */
enum choice { ITS_OWN, VACANT, LEFT };

static bool may_enter(uint64_t name, uint64_t word, enum choice choice)
{
	uint64_t there = word >> ROLL_SERIAL_BITS;

	if (choice == LEFT)
		return process_thread_has_left(seat_named(there), 0);
	return there == (choice == ITS_OWN ? name : 0);
}

/* Counts the serial of such an entry up, and makes it the entry of the seat with this name. */
static uint64_t enter(uint64_t name, enum choice choice)
{
	uint64_t *entries, *entry, word, next, mask, at;
	unsigned k, i;

	/* LEFT calls madvise for each entry, so it searches only the last level. */
	for (k = choice == LEFT ? levels() - 1 : 0; k < LEVELS && (entries = level(k)) != NULL; k++) {
		mask = ((uint64_t)1 << LEVEL_BITS(k)) - 1;
		at = name * UINT64_C(0x9e3779b97f4a7c15) >> (64 - LEVEL_BITS(k));
		for (i = 0; i < PROBES; i++) {
			entry = &entries[(at + i) & mask];
			word = load_relaxed(entry);
			next = name << ROLL_SERIAL_BITS | ((word + 1) & SERIAL_MASK);
			/*
			 * Pairs with roll_has_left: a thread that sees the new serial sees all writes of the
			 * ended thread, because the code that reused the seat for this thread saw them, or
			 * the kernel told that the seat is unmapped.  The entry may have gone to another
			 * thread.
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
	/*
	 * Levels are counted before they are searched, so that threads that find the levels full at one time
	 * add one level together, not one level each.
	 */
	for (k = levels(); number == 0 && (number = enter(name, VACANT)) == 0; k = levels())
		if (!level_add(k))
			return enter(name, LEFT);
	return number;
}

/*
 * Returns the entry at the number's place.  Returns NULL if there is no such entry, as for a word from a
 * damaged file.
 */
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
