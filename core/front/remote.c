/* SPDX-License-Identifier: MIT */
/* The slow paths of release: slabs of other owners, unowned slabs, spans, and events. */
#include "front/remote.h"

#include "base/misuse.h"
#include "front/diagnose.h"
#include "front/slot.h"
#include "front/span.h"
#include "front/variant.h"
#include "slab/unowned.h"
#include "thread/bin.h"
#include "thread/refill.h"
#include "thread/seating.h"
#include "thread/settle.h"

/* Returns whether no slot of the group is taken. */
static bool group_is_free(const struct slab *s, uint64_t group)
{
	/* The remote word is read first, because the owner sets the free bits before it clears the remote bits. */
	uint64_t taken = ~load_seq_cst(&load_relaxed(&s->remote)[group]);

	taken &= ~load_acquire(&s->free[group]);
	return taken == 0 || (unsigned)group * GROUP_SLOTS + bits_lowest(taken) >=
				     (unsigned)load_relaxed(&s->slots);
}

SLOW struct owner *remote_notify(struct slab *s, uint64_t group)
{
	uint64_t owner;
	struct owner *o;

	if ((load_seq_cst(&s->owner) & OWNER_PENDING) == 0) {
		inbox_notify(s);
		hand_told(s);
	}
	/*
	 * The thread that frees the last slot of a group, and therefore of a slab, visits a vacant record.  The test
	 * is after the inbox entry: a thread that finds the group free and the record held by a guest leaves the slab
	 * to that guest, by the entry.
	 */
	if (!group_is_free(s, group))
		return NULL;
	owner = load_seq_cst(&s->owner) & ~OWNER_PENDING;
	o = (struct owner *)(uintptr_t)owner;
	return owner > OWNER_FLAGS && (load_seq_cst(&o->state) & OWNER_HELD) == 0 ? o : NULL;
}

SLOW void remote_notify_slow(struct slab *s, uint64_t group)
{
	struct owner *vacant = remote_notify(s, group);

	if (vacant != NULL)
		visit_slab(vacant, s);
}

/* Completes a release of the caller's own slot that was an event, or may be an event.  Checks the record in. */
static SLOW void release_settle(struct owner *o, struct slab *s, uint64_t group, uint64_t word)
{
	owner_begin(o);
	/* A slab of one slot is empty now.  A slab that contains a heap is armed, so its releases come here, too. */
	if (unlikely(s->slot_size > SLOT_LARGE) && s->slots == 1) {
		if (heap_hooks_now() != NULL)
			heap_hooks_now()->gone(s->base, s->slot_size);
		if (!slab_is_ready(s)) {
			large_freed(o, s);
			goto done;
		}
	}
	settle_freed(o, s, group, word);
done:
	seat_give(o);
}

/* Collecting costs about as much as ten of the slow releases that it avoids. */
#define COLLECT_AFTER 64

/* Releases a slot of the caller's own slab with the pending bit set.  The slot may be free already. */
static SLOW void release_pending(void *p, struct slab *s, uint64_t index)
{
	struct owner *o = seat.self;
	uint64_t group = index / GROUP_SLOTS, word;

	(void)p; /* unused: the caller has p in the register of a first argument */
	seat_close();
	owner_begin(o);
	/* Without collecting, every release into this slab would be slow until the next refill. */
	if (++o->pending_releases % COLLECT_AFTER == 0)
		collect_slab(o, s);
	word = load_relaxed(&s->free[group]);
	if (unlikely(((load_relaxed(&s->remote[group]) >> (index % GROUP_SLOTS)) & 1) != 0 ||
		     cpu_set_bit(&word, index)))
		slab_report_double(s, (unsigned)group, (unsigned)index % GROUP_SLOTS);
	if (!slab_give(s, group, word))
		release_settle(o, s, group, word);
	else
		seat_give(o);
}

/* Releases a slot of an unowned slab. */
static SLOW void release_unowned(void *p, struct slab *s, uint64_t index)
{
	if (!unowned_free(s, index))
		diagnose(CALL_RELEASE, p);
}

/*
 * Releases a slot of any slab.  All calls are tail calls, so that the usual case, a slab of another owner with the
 * pending bit set, saves no register.
 */
static SLOW void release_slot(void *p, struct slab *s, uint64_t index)
{
	uint64_t owner = load_relaxed(&s->owner);

	sample_slot_gone(p, s, owner);
	if (seat.open != 0 && (owner & ~OWNER_PENDING) == (uint64_t)(uintptr_t)seat.self)
		release_pending(p, s, index);
	else if (unlikely((owner & OWNER_UNOWNED) != 0))
		release_unowned(p, s, index);
	else if (unlikely(!remote_set(s, index)))
		diagnose(CALL_RELEASE, p);
	else if (unlikely(!remote_is_notified(s, owner)))
		remote_notify_slow(s, index / GROUP_SLOTS);
}

/* Releases a block with a stale or missing slab hint, by the full map. */
static SLOW void release_other(void *p)
{
	struct chunk *c = map_find(p);
	struct slot_ref at;

	if (p == NULL || (unlikely(heap_hooks_now() != NULL) && heap_hooks_now()->release(c, p)))
		return;
	if (c != NULL && slot_find(c, p, &at)) {
		release_slot(p, at.slab, at.index);
		return;
	}
	sample_span_gone(c, p);
	if (c == NULL || !span_release(c, p))
		diagnose(CALL_RELEASE, p);
	heap_count();
}

void release_rest(void *p, struct slab *s)
{
	uint64_t index;

	if (p == NULL) {
		release_null(); /* some programs often call free(NULL) */
	} else if (unlikely(heap_hooks_now() != NULL) || !slab_is_of(s, p) ||
		 unlikely(!slab_index(s, p, &index)))
		release_other(p);
	else
		release_slot(p, s, index);
}

/* Counts a release on the clock, and checks the record in. */
static SLOW void release_counted(struct owner *o)
{
	owner_count(o);
	seat_give(o);
}

void release_event(struct owner *o, struct slab *s, uint64_t group, uint64_t word)
{
	sample_slot_gone(s->base, s, (uint64_t)(uintptr_t)o);
	/* The short way of settle_freed if the slab and the current slab of its class are full, so that no list changes. */
	if (s->ready == 0 && s->class <= CLASS_ONE && word != s->all_free) {
		owner_begin(o);
		if (likely(bin_swap(o, s))) {
			slab_free(s, 0, group, word);
			if (unlikely(owner_is_counted(o)))
				release_counted(o);
			else
				seat_give(o);
			return;
		}
	}
	release_settle(o, s, group, word);
}
