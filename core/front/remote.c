/* SPDX-License-Identifier: MIT */
/* Releases that are not simply into a slab of one's own: built for size, see Makefile. */
#include "front/diagnose.h"
#include "base/misuse.h"
#include "front/quick.h"
#include "front/release.h"
#include "slab/unowned.h"
#include "front/span.h"
#include "thread/collect.h"
#include "thread/inbox.h"
#include "thread/large.h"
#include "thread/settle.h"
#include "thread/watch.h"

/* True: no slot of the group is taken. */
static bool group_is_free(const struct slab *s, uint64_t group)
{
	/* In this order: the owner sets the free bits before it clears the others. */
	uint64_t taken = ~load_seq_cst(&load_relaxed(&s->remote)[group]);

	taken &= ~load_acquire(&s->free[group]);
	return taken == 0 || (unsigned)group * GROUP_SLOTS + bits_lowest(taken) >=
				     (unsigned)load_relaxed(&s->slots);
}

struct owner *remote_notify(struct slab *s, uint64_t group)
{
	uint64_t owner = load_seq_cst(&s->owner);
	struct owner *o;

	if ((owner & OWNER_PENDING) == 0)
		owner = fetch_or_seq_cst(&s->owner, OWNER_PENDING);
	if (owner <= OWNER_MARKS)
		return NULL; /* it is nobody's by now */
	o = (struct owner *)(uintptr_t)(owner & ~OWNER_PENDING);
	if ((owner & OWNER_PENDING) == 0)
		owner_notify(o, s);
	/*
	 * A vacant record is visited by who frees the last slot of a group, and so
	 * of a slab.  It looks after its letter: who frees the last slot before
	 * the letter is there finds no inbox.
	 */
	return group_is_free(s, group) && load_seq_cst(&o->state) == OWNER_VACANT ? o : NULL;
}

SLOW void remote_notify_slow(struct slab *s, uint64_t group)
{
	struct owner *vacant = remote_notify(s, group);

	if (vacant != NULL)
		owner_visit(vacant);
}

/* To collect costs as much as some ten of the looks that it saves. */
#define COLLECT_AFTER 64u

/* A slot of one's own slab that has the mark; or it is free. */
static SLOW void release_marked(void *p, struct slab *s, uint64_t index)
{
	struct owner *o = seat.self;
	uint64_t group, word;
	bool taken;

	seat_close();
	/* Or each release into this slab would have to look until the next refill. */
	if (o->pending_releases++ % COLLECT_AFTER == 0)
		owner_collect_slab(o, s);
	group = index / GROUP_SLOTS;
	word = load_relaxed(&s->free[group]);
	taken = ((load_relaxed(&s->remote[group]) >> (index % GROUP_SLOTS)) & 1) == 0 &&
		!cpu_set_bit(&word, index);
	if (taken)
		owner_freed(o, s, group, word);
	seat_give();
	if (!taken)
		diagnose(CALL_RELEASE, p);
}

/* A slot of unowned slab. */
static SLOW void release_shared(void *p, struct slab *s, uint64_t index)
{
	if (!unowned_free(s, index))
		diagnose(CALL_RELEASE, p);
}

/*
 * A slot, but it is not known to be in a slab of one's own without the mark.
 * The calls are in the last place: so the usual case, a slab of another owner
 * with the mark, saves no register.
 */
static SLOW void release_slot(void *p, struct slab *s, uint64_t index)
{
	uint64_t owner = load_relaxed(&s->owner);

	if (seat.open != 0 && (owner & ~OWNER_PENDING) == (uint64_t)(uintptr_t)seat.self)
		release_marked(p, s, index);
	else if (unlikely((owner & OWNER_UNOWNED) != 0))
		release_shared(p, s, index);
	else if (unlikely(!remote_set(s, index)))
		diagnose(CALL_RELEASE, p);
	else if (unlikely(!remote_is_notified(s, owner)))
		remote_notify_slow(s, index / GROUP_SLOTS);
}

/* What map_guess_slab was wrong about, or did not know. */
static SLOW void release_other(void *p)
{
	struct chunk *c = map_find(p);
	struct slot_ref at;

	if (p == NULL || (unlikely(heap_hooks != NULL) && heap_hooks->release(c, p)))
		return;
	if (c != NULL && slot_find(c, p, &at)) {
		release_slot(p, at.slab, at.index);
		return;
	}
	if (c == NULL || !span_release(c, p))
		diagnose(CALL_RELEASE, p);
	owner_ticks();
}

void release_rest(void *p, struct slab *s)
{
	uint64_t index;

	if (QUICK && p == NULL) /* some programs do that often */
		quick_null();
	else if (unlikely(heap_hooks != NULL) || !slab_is_of(s, p) ||
		 unlikely(!slab_index(s, p, &index)))
		release_other(p);
	else
		release_slot(p, s, index);
}

void release_event(struct owner *o, struct slab *s, uint64_t group, uint64_t word)
{
	/* From there on a slab is one slot, and always watched where a heap is in it. */
	if (unlikely(heap_hooks != NULL) && s->slot_size > SLOT_LARGE)
		heap_hooks->gone(s->base, s->slot_size);
	if (QUICK && s->slot_size > SLOT_LARGE && !slab_is_ready(s))
		large_freed(o, s);
	else
		owner_freed(o, s, group, word);
	seat_give();
}
