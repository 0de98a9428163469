/* SPDX-License-Identifier: MIT */
/*
 * Holds of builders (backend/hold.h, building.h), and how a search proves that memory is lost.
 *
 * Memory in no bitmap and in no use is lost, unless a living builder holds it.  No moment is needed in which
 * nobody builds: a builder notes each hold before it takes, and the search asks about one thing at a time, X.
 *
 *   builder   hold = X ; is `suspect` X? then suspect = 0 ; take X ... give X ; hold = 0
 *   search    suspect = X ; does a living builder hold X? ; is X in no bitmap and no use? ; is `suspect` still X?
 *
 * If the answers are no, yes, yes, then X is lost.  Proof: let a builder A hold X at the third step.  A noted X before, then
 * looked at `suspect`, with a sequentially consistent fence in between, as the search has between its first two: either A saw X
 * and spoilt `suspect` before it took X (a release fence lies between), and who sees that X is taken sees
 * it spoilt; or A's hold was there when the second step began.  It still is, as A gives before it drops it.  And if A
 * had dropped it (by release), the third step would see what A gave, and X would be held by a later builder, of whom the
 * same is true.
 *
 * What is lost is in no bitmap, so nobody takes it: each builder can spoil the suspicion once, with
 * a try that fails.  So a search ends whatever the living do, and a stopped builder keeps what it holds and no more.  A
 * search notes X as its own hold before it asks, and asks once more before `suspect` is X: so of two
 * searches that ask about X at the same time at least one sees the other and leaves X alone.
 *
 * A builder that dies while it notes has taken nothing yet; its hold is not counted, since its life is over.  A hold is in
 * its builder's record or entry, which another thread gets only when the holder is dead or has left, and in
 * which a child of fork has no part: it gets its own.
 */
#ifndef CORE_HOLDS_H
#define CORE_HOLDS_H

#include "backend/hold.h"
#include "store/file/store.h"

/* Everything: a builder whose places are all in use, by handlers in handlers, notes this. */
#define HOLD_ALL (~(uint64_t)0)

/* True: two threads cannot hold both. */
INTERNAL bool hold_overlaps(uint64_t a, uint64_t b);

/* The holds of the section in which the calling thread builds; NULL: it does not, or is in the crowd. */
INTERNAL_EXTERN THREAD_LOCAL uint64_t *holds_mine;

/* For heap_hooks: notes what the caller is about to take, or drops that note. */
INTERNAL void holds_note(struct heap *h, uint64_t what, bool notes);

/* The places that are in use, a bit each. */
INTERNAL unsigned holds_used(const uint64_t *holds);
/* Drops all notes but those in these places. */
INTERNAL void holds_drop(uint64_t *holds, unsigned kept);

/* One question of a search. */
struct suspicion {
	struct store *store;
	uint64_t what;
	uint64_t *mine; /* the caller's hold of it */
};

/*
 * Holds `what` and suspects that it is lost.  False: a living builder may hold it; nothing is to be ended.
 * Afterwards the caller looks at the memory, once more, and asks whether the suspicion stands.
 */
INTERNAL bool suspicion_begin(struct suspicion *p, struct store *s, uint64_t what);
/* True: if the memory seemed lost since the suspicion began, it is. */
INTERNAL bool suspicion_stands(const struct suspicion *p);
INTERNAL void suspicion_end(struct suspicion *p);

#endif
