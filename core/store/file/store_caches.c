/* SPDX-License-Identifier: MIT */
#include "store/allocator.h"
#include "store/file/store.h"

/* Raise this when a word that is not the truth changes in meaning without a change of size. */
#define CACHES_MEANING 4 /* 2: span_chunks of chunks without a span, see chunk_use_is_right; 3: a slab's ready bits; 4: holds */

uint64_t store_caches(void)
{
	static const uint64_t sizes[] = {
		CACHES_MEANING, sizeof(struct store), offsetof(struct store, refused), offsetof(struct store, suspect),
		offsetof(struct store, descriptor), STRANGERS, STRANGERS_AT, HOLD_PLACES, HOLDS_AT, offsetof(struct store, made),
		sizeof(struct owner), offsetof(struct owner, spare_units), offsetof(struct owner, bins), offsetof(struct owner, building),
		offsetof(struct owner, spares), offsetof(struct owner, large), SPARES, INBOX_SLABS, CLASSES,
		sizeof(struct bin), sizeof(struct heap), offsetof(struct heap, both), offsetof(struct heap, slab_chunks),
		offsetof(struct heap, takeovers), offsetof(struct heap, unowned), offsetof(struct heap, idle),
		offsetof(struct slab, ready), offsetof(struct slab, hold), ROOM_CHUNKS, ROOM_PARTS,
		offsetof(struct region, advice), OWNER_THREAD,
	};
	static uint64_t known;
	uint64_t number = load_relaxed(&known); /* relaxed, because there is a single value beside 0 */
	size_t i;

	if (number != 0)
		return number;
	number = STORE_FORMAT;
	for (i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
		number = number * UINT64_C(0xd1342543de82ef95) + sizes[i];
	for (i = 0; i < ASH_FIELDS; i++)
		number = number * UINT64_C(0xd1342543de82ef95) + ash_descriptor.field[i];
	number |= 1; /* never CACHES_NONE */
	store_relaxed(&known, number);
	return number;
}
