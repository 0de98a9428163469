/* SPDX-License-Identifier: MIT */
#include "shm/seal_close.h"

#include "share.h"
#include "shm/building.h"

/* True: no thread has a record, or is building without one. */
static bool is_idle(struct store *s)
{
	const struct owner *o;
	uint64_t sum;

	/* In this order: a stranger may be taking a record, and has it before it stops building. */
	if (!building_quiet(s, &sum))
		return false;
	for (o = load_acquire(&s->heap.owners); o != NULL; o = o->next)
		if (load_acquire(&o->state) != OWNER_VACANT)
			return false;
	return true;
}

/* No thread changes the heap, so exactly what was stored before this call is durable after it. */
static enum ash_sync sync_whole(struct store *s, uint64_t word)
{
	if (!share_sync(s, s->bytes))
		return ASH_SYNC_FAILED;
	return load_acquire(&s->seal) == word ? ASH_SYNC_SEALED : ASH_SYNC_DURABLE;
}

enum ash_sync seal_close(struct store *s)
{
	uint64_t word = load_acquire(&s->seal), closing;
	bool mine;

	if (seal_state(word) == SEAL_WHOLE)
		return sync_whole(s, word);
	(void)seal_break(s); /* it may have been left half closed, by a thread that died */
	word = load_relaxed(&s->seal);
	closing = seal_with(word, SEAL_CLOSING);
	/* Pairs with seal_break. */
	mine = seal_state(word) == SEAL_OPEN && cas_acq_rel(&s->seal, &word, closing);
	if (mine && !is_idle(s)) {
		mine = false;
		(void)cas_acq_rel(&s->seal, &closing, word);
	}
	if (!share_sync(s, s->bytes)) {
		if (mine)
			(void)cas_acq_rel(&s->seal, &closing, word);
		return ASH_SYNC_FAILED;
	}
	/* Fails if a thread has come meanwhile: it found CLOSING, and broke that. */
	if (!mine || !cas_acq_rel(&s->seal, &closing, seal_with(word, SEAL_WHOLE)))
		return ASH_SYNC_DURABLE;
	return share_sync(s, PAGE_MOST) ? ASH_SYNC_SEALED : ASH_SYNC_FAILED;
}
