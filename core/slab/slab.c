/* SPDX-License-Identifier: MIT */
#include "slab/slab.h"

#include "backend/hold.h"
#include "backend/shared.h"
#include "base/roll.h"

_Noreturn void slab_report_double(const struct slab *s, unsigned group, unsigned bit)
{
	const char *p = s->base + (size_t)(group * GROUP_SLOTS + bit) * s->slot_size;

	misuse_report(CALL_RELEASE, p, "double free", p, s->slot_size);
}

/*
 * Publishes the first unit last (slab_close clears it first), because the first unit implies the others
 * (ash_check).  Releases need hints only of units in which slots begin.
 */
void slab_publish(const struct heap *h, struct slab *s)
{
	uint32_t offset = (uint32_t)((const char *)s - (const char *)s->chunk);
	struct slab **hint = map_unit(s->base); /* the units of a chunk have adjacent hints */
	uint32_t *head = &s->chunk->head[s->unit];
	size_t i;

	if (h == &heap_default)
		for (i = s->slots == 1 ? 1 : s->units; i > 0; i--)
			store_release(&hint[i - 1], s); /* pairs with map_guess_slab: the record is there */
	for (i = s->units; i > 0; i--)
		store_release(&head[i - 1], offset); /* pairs with slab_record and slab_beginning */
}

struct slab *slab_shape(struct units u, unsigned class, uint32_t record)
{
	struct slab *s = record_at(u.chunk, record);
	size_t size = class_size(class);
	uint64_t reciprocal = class_reciprocal(size);
	unsigned slots = class_slots_by(u.count, reciprocal);
	uint64_t *remote = (uint64_t *)(void *)(u.chunk->region->remote +
						(u.chunk->index * CHUNK_UNITS + u.first) *
							u.chunk->region->remote_stride);

	/*
	 * Relaxed stores: a thread with a walk or a stale hint may still read the record as that of the
	 * earlier slab, and then detects the change by `made`.  The fence pairs with that of look_at_group: a
	 * thread that reads one of the new members, or of the bits that follow, then reads the new count.
	 * The fence also pairs with those of check_unit and check_slab_chunk: the thread then reads no older
	 * head[].
	 */
	store_relaxed(&s->made, load_relaxed(&s->made) + 1);
	fence_release();
	store_relaxed(&s->base, units_base(u));
	store_relaxed(&s->slot_size, (uint32_t)size);
	store_relaxed(&s->reciprocal, reciprocal);
	store_relaxed(&s->remote, remote);
	store_relaxed(&s->chunk, u.chunk);
	store_relaxed(&s->slots, slots);
	store_relaxed(&s->groups, (slots + GROUP_SLOTS - 1) / GROUP_SLOTS);
	store_relaxed(&s->class, (uint8_t)class);
	store_relaxed(&s->unit, (uint8_t)u.first);
	store_relaxed(&s->units, (uint8_t)u.count);
	if (unlikely(!heap_kind(u.chunk->region->heap)->own_records))
		shared_hooks_now()->slab_made(s);
	(void)slab_fence(s, true); /* otherwise accesses to blocks of size 0 are not noticed */
	return s;
}

/* Not inlined: libashlar_malloc is one source, and the code that runs at the start must lie on few pages. */
__attribute__((noinline)) struct slab *slab_open(struct heap *h, struct units u, unsigned class, uint64_t owner)
{
	struct slab *s = slab_shape(u, class, record_offset(u.first));
	unsigned g = s->groups;
	/* The word of the last group, equal to slab_group_mask; no thread uses the slab yet. */
	uint64_t word = ~(uint64_t)0 >> (-(unsigned)s->slots % GROUP_SLOTS);

	s->spare = 0;
	if (IS_MALLOC)
		s->least = (uint16_t)(class > CLASS_ONE ? 0 : class_least(class));
	store_relaxed(&s->purged, (uint8_t)0); /* threads that purge read this and `hollow` */
	store_relaxed(&s->hollow, (uint16_t)0);
	s->next = s->previous = NULL;
	s->ready = bits_below(g);
	s->dirty = !u.clean;
	s->all_free = slab_group_mask(s, 0); /* slots are taken from group 0 first */
	do {
		store_relaxed(&s->free[--g], word);
		word = ~(uint64_t)0;
	} while (g > 0);
	if (heap_kind(h)->gaps)
		store_relaxed(&s->base, s->base + slab_gap(s));
	/* Pairs with walks, which load the owner first. */
	store_release(&s->owner, owner);
	slab_publish(h, s);
	hold_some(u.chunk, u.first, u.count, false);
	return s;
}

struct units slab_close(struct slab *s)
{
	struct units u = {s->chunk, s->unit, s->units, false};
	uint32_t *head = &u.chunk->head[u.first];
	unsigned i;

	/*
	 * All slots are free, so a remote bit is a second release that raced with the first.  This is the
	 * last moment to detect that release; if the bit stayed set, it would free a slot of the next slab.
	 */
	for (i = 0; i < s->groups; i++) {
		uint64_t remote = load_relaxed(&s->remote[i]);

		if (unlikely(remote != 0))
			slab_report_double(s, i, bits_lowest(remote));
	}
	hold_some(u.chunk, u.first, u.count, true);
	for (i = 0; i < u.count; i++)
		store_release(&head[i], (uint32_t)0); /* pairs with slab_record */
	/* Release pairs with check_slab: a thread that sees no owner sees that head[] is cleared. */
	store_release(&s->owner, 0);
	return u;
}

struct slab *slab_make(struct heap *h, unsigned class, bool few, uint64_t owner, bool grow)
{
	unsigned count = !few && region_short() && slab_fills(h, class)
				 ? class_filled(class)
				 : class_units(class, few || (class > CLASS_ONE && !slab_packs(h, class)));
	/*
	 * A thread that already has several slabs of a class is likely to need more, and small slabs fit into
	 * any chunk that is not full, so a chunk made for them fills up.  Of a large block perhaps only a
	 * part is ever written, such as of a buffer for the longest message.
	 */
	bool dense = !few && class <= CLASS_ONE;
	struct units u = units_claim(h, units_for(class, count), grow, dense);

	if (u.chunk == NULL)
		return NULL;
	return slab_open(h, u, class, owner);
}

/* Returns whether the thread with this holder word has certainly left the slab. */
static bool holder_has_left(const struct slab *s, uint64_t hold)
{
	uint64_t generation = generation_now();

	if (holder_generation(hold) == generation)
		return roll_has_left(holder_number(hold));
	/* Pairs with fork_settle, which the thread that forked calls when no frame of it holds a slab. */
	return load_acquire(&slab_heap(s)->settled) == generation;
}

bool slab_take(struct slab *s)
{
	uint64_t hold = load_relaxed(&s->hold);

	do {
		/* SLAB_IN_USE was left by an earlier holder of the record that died or vanished. */
		if (unlikely(hold > SLAB_IN_USE) && !holder_has_left(s, hold))
			return false;
	} while (!cas_acquire(&s->hold, &hold, SLAB_IN_USE));
	return true;
}

bool slab_arm(struct slab *s)
{
	unsigned g;

	for (g = 0; g < s->groups; g++) {
		s->all_free = slab_group_mask(s, g);
		if (load_relaxed(&s->free[g]) != s->all_free)
			return false;
	}
	return true;
}

bool slab_collect(struct slab *s, bool taken_over)
{
	bool any = false;
	unsigned g;

	/*
	 * Clear the pending bit first, then read the words.  A releasing thread sets its word first, then the
	 * pending bit, so one of the two threads sees the other (remote_set).  If the bit is not set it need
	 * not be cleared: a releasing thread that finds it clear notifies the owner anyway.
	 */
	if ((load_seq_cst(&s->owner) & OWNER_PENDING) != 0)
		fetch_and_seq_cst(&s->owner, ~OWNER_PENDING);
	for (g = 0; g < s->groups; g++) {
		uint64_t remote = load_seq_cst(&s->remote[g]), word;

		if (remote == 0)
			continue;
		word = load_relaxed(&s->free[g]);
		if (unlikely((word & remote) != 0) && !taken_over)
			slab_report_double(s, g, bits_lowest(word & remote));
		slab_free(s, s->ready, g, word | remote);
		/*
		 * Release: a thread that sees the remote bit clear sees the free bit set.  Acquire (with the
		 * load above): the releasing threads are done with the slots before the slots are handed out.
		 */
		fetch_and_acq_rel(&s->remote[g], ~remote);
		any = true;
	}
	return any;
}
