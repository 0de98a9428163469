/* SPDX-License-Identifier: MIT */
#include "thread/settle.h"

#include "slab/look.h"
#include "thread/bin.h"

/* Enters the slab, after the caller has set the pending bit. */
static void inbox_enter(struct owner *o, struct slab *s)
{
	unsigned at = (unsigned)((uintptr_t)s / CPU_LINE), end = at + 4 * 7;

	do {
		uint64_t *slot = &o->inbox[at % INBOX_SLABS];
		uint64_t there = load_seq_cst(slot);

		/*
		 * Pairs with the exchanges in collect_inbox and in owner_vacate.  An entry of this slab that is still
		 * there will be collected after this load, so that entry also covers this thread's remote bit.
		 */
		if (there == (uint64_t)(uintptr_t)s ||
		    (there == 0 && cas_seq_cst(slot, &there, (uint64_t)(uintptr_t)s)))
			goto entered;
	} while ((at += 7) != end);
	/* Pairs with the exchange in collect_inbox. */
	fetch_or_seq_cst(&o->notified, INBOX_LOST);
entered:
	/*
	 * Pairs with the exchange in collect_inbox, which then finds the entry.  Also pairs with visit_slab, which
	 * vacates the record and then reads `notified`: this thread reads the state afterwards, so one of the two
	 * sees the other.  Mostly the flag is already set: then the cache line stays with the threads that read it.
	 */
	if ((load_seq_cst(&o->notified) & INBOX_ENTRY) == 0)
		fetch_or_seq_cst(&o->notified, INBOX_ENTRY);
}

void inbox_notify(struct slab *s)
{
	uint64_t owner;

	if (set_bit_seq_cst(&s->owner, OWNER_PENDING_BIT))
		return; /* the thread that set it enters the slab */
	/*
	 * If the slab changes owners before this load, the new owner collects all earlier releases, because the
	 * exchange of the word takes this thread's bit away (refill.c), and gets an unnecessary entry.
	 */
	owner = load_seq_cst(&s->owner) & ~OWNER_PENDING;
	if (owner > OWNER_FLAGS) /* else it has no owner by now */
		inbox_enter((struct owner *)(uintptr_t)owner, s);
}

void collect_slab(struct owner *o, struct slab *s)
{
	bool full;

	/* This test is first because the entry may be stale: another holder may be changing the plain members. */
	if (!owner_has(o, s))
		return;
	full = !slab_is_ready(s);
	if (!slab_collect(s, false))
		return;
	/*
	 * A purged slab becomes no spare: the slab goes back clean, and so the memory is counted when it is taken
	 * again (heap_cleaned).
	 */
	if (unlikely(load_relaxed(&s->purged) != 0)) {
		bool no_spares = o->no_spares;

		o->no_spares = true;
		settle_slab(o, s, full);
		o->no_spares = no_spares;
		return;
	}
	settle_slab(o, s, full);
}

void collect_inbox(struct owner *o)
{
	unsigned i;

	/* Relaxed, because an entry that is missed now is found the next time. */
	if (likely(load_relaxed(&o->notified) == 0))
		return;
	/* Clear the flags before the entries are read: a later entry sets them again. */
	if ((exchange_seq_cst(&o->notified, 0) & INBOX_LOST) != 0)
		o->lost = 2;
	for (i = 0; i < INBOX_SLABS; i++) {
		/*
		 * seq_cst pairs with inbox_enter, which makes an entry, then reads `notified` and does not write
		 * `notified` if the flag is set.
		 */
		uint64_t word = load_seq_cst(&o->inbox[i]);

		if (word == 0)
			continue;
		/* seq_cst pairs with inbox_notify, which makes no entry if the slab still has an entry. */
		word = exchange_seq_cst(&o->inbox[i], 0);
		collect_slab(o, (struct slab *)(uintptr_t)word);
	}
}

void collect_lost(struct owner *o, unsigned class)
{
	uint64_t used = load_relaxed(&o->heap->used);
	bool no_spares = o->no_spares;
	struct chunk *c;
	struct slab *s;
	unsigned n, unit;

	o->no_spares = true; /* many slabs may have become empty */
	for (n = 0; n < LOST_TURN && o->lost != 0; n++) {
		c = walk_chunk(o->heap, &o->turn);
		if (c == NULL && o->turn == 0)
			o->lost--; /* the walk has ended */
		for (unit = 0; c != NULL && (s = walk_slab(c, &unit)) != NULL;)
			if ((load_relaxed(&s->owner) & OWNER_PENDING) != 0)
				collect_slab(o, s);
		/* The class now has a slab, or there are units for a new slab. */
		if (o->bins[class].partial.head != NULL || load_relaxed(&o->heap->used) < used)
			break;
	}
	o->no_spares = no_spares;
}

void slab_retire(struct owner *o, struct slab *s)
{
	struct bin *b = &o->bins[s->class];
	bool listed = slab_is_ready(s); /* otherwise it is a large spare, and not held: see is_purgeable */
	struct units u;

	if (bin_has(o, s))
		bin_detach(o, s->class); /* to the partial list */
	if (listed) {
		if (!slab_take(s))
			return; /* another thread purges it: it stays on the list */
		if (!slab_fence(s, false)) {
			slab_let_go(s);
			return;
		}
		slabs_remove(&b->partial, s);
	}
	b->slabs--;
	u = slab_close(s);
	/* The slab is held and no slot was taken since the purge, so the purged memory still reads zero. */
	u.clean = load_relaxed(&s->purged) == SLAB_CLEAN && listed;
	if (listed)
		slab_let_go(s);
	units_give(o->heap, u);
}

__attribute__((noinline)) void spares_reduce(struct owner *o, unsigned units)
{
	unsigned place = o->spare_next;

	do {
		struct slab *s = o->spares[place];

		if (++place == SPARES)
			place = 0;
		if (s == NULL)
			continue;
		spares_remove(o, s);
		/* A current slab may have been allocated from since it became a spare. */
		if (slab_arm(s))
			slab_retire(o, s);
	} while (o->spare_units > units && place != o->spare_next);
}

/* Returns the weight that all spares of a record together may have. */
static unsigned spares_limit(const struct heap *h)
{
	uint64_t used;

	if (is_crowd(h))
		return SPARE_UNITS / 2;
	used = load_relaxed(&h->used);
	/* While heap.due_at is set, due memory is being purged, a part by each slab that is evicted (retain.h). */
	if ((used / SPARE_FROM | load_relaxed(&h->due_at)) == 0)
		return SPARE_UNITS;
	used = used / SPARE_SHARE >> bits_highest((unsigned long)load_relaxed(&h->owner_count));
	return used > SPARE_MOST ? (unsigned)used : SPARE_MOST;
}

void spares_add(struct owner *o, struct slab *s)
{
	unsigned place, limit = spares_limit(o->heap);

	/* The new spare is kept, however large, because it is not in its place yet. */
	o->spare_units = (uint16_t)(o->spare_units + SPARE_WEIGHT(s->units));
	if (o->spare_units > limit || o->spares[o->spare_next] != NULL) /* mostly not: saves the call's registers */
		spares_reduce(o, limit);
	place = o->spare_next;
	o->spares[place++] = s;
	s->spare = (uint8_t)place;
	if (s->class > CLASS_ONE && s->ready == 0)
		o->large[s->class] |= (uint32_t)1 << place;
	o->spare_next = place == SPARES ? 0 : (uint8_t)place;
	s->all_free = 0; /* disarms slab_arm, because a spare may be used and become empty again */
}

void settle_freed(struct owner *o, struct slab *s, uint64_t group, uint64_t word)
{
	bool full = !slab_is_ready(s) && !bin_has(o, s), empty = word == s->all_free;

	slab_free(s, s->ready, group, word);
	/*
	 * If the current slab is full, s becomes the current slab, so that the next allocation is on the fast path
	 * and no list changes if all slabs are just full.
	 */
	if (full && s->class <= CLASS_ONE && bin_swap(o, s)) {
		store_relaxed(&s->hollow, (uint16_t)0); /* a purge may have counted the slot that is free now */
		full = false;
	}
	/* The current slab is on no list.  If it is armed, bin_arm has armed it. */
	if (full || empty)
		settle_slab(o, s, full);
	/* A slab that goes back to the chunk counts on its own. */
	if (!empty && unlikely(owner_is_counted(o)))
		owner_count(o);
}

void settle_slab(struct owner *o, struct slab *s, bool was_full)
{
	bool moves = was_full && !bin_has(o, s);

	if (moves) {
		slabs_append(&o->bins[s->class].partial, s);
		if (s->class <= CLASS_ONE)
			hand_opened(o, s->units);
	}
	if ((moves || s->all_free != 0) && slab_arm(s)) {
		if (o->no_spares)
			slab_retire(o, s);
		else
			spares_add(o, s);
	}
}
