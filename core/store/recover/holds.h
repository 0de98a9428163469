/* SPDX-License-Identifier: MIT */
/*
 * Holds of builders (backend/hold.h, building.h), and the proof by which a search finds lost memory.
 *
 * Memory in no bitmap and in no use is lost, unless a living builder holds it.  The search needs no moment in which
 * nobody builds: a builder notes each hold before it takes, and the search asks about one object at a time, X.
 *
 *   builder   hold = X ; is `suspect` X? then suspect = 0 ; take X ... give X ; hold = 0
 *   search    suspect = X ; does a living builder hold X? ; is X in no bitmap and no use? ; is `suspect` still X?
 *
 * If the answers are no, yes, yes, then X is lost.  Proof: let a builder A hold X at the third step.  A noted X
 * before, and then looked at `suspect`.  Both A and the search have a sequentially consistent fence between their two
 * accesses.  So one of two cases holds.  Either A saw X and spoilt `suspect` before taking X; a release fence lies
 * between, and a thread that sees that X is taken sees `suspect` spoilt.  Or A's hold was there when the second step
 * began.  The hold is still there, because A gives before it drops the hold.  And if A had dropped the hold (by
 * release), the third step would see the memory that A gave, and X would be held by a later builder, to which the
 * proof applies again.
 *
 * Lost memory is in no bitmap, so no thread takes it: each builder can spoil the suspicion once, with an attempt that
 * fails.  So a search ends whatever the living threads do, and a stopped builder keeps only the memory of the holds.
 * A search notes X as a hold before it asks, and asks once more before `suspect` is X: so if two searches ask about X
 * at one time, at least one sees the other and leaves X alone.
 *
 * A builder that dies while it notes has taken nothing yet; the hold does not count, because the life is over.  A
 * hold is in the builder's record or entry.  Another thread gets these only when the holder is dead or has left.  A
 * child of fork has no part in them, and gets a record or entry for itself.
 */
#ifndef CORE_HOLDS_H
#define CORE_HOLDS_H

#include "store/allocator.h"
#include "store/file/store.h"

/* The hold of everything: noted by a builder whose places are all in use, by handlers in handlers. */
#define HOLD_ALL (~(uint64_t)0)

/* Returns whether two threads cannot hold both. */
INTERNAL bool hold_overlaps(uint64_t a, uint64_t b);

/*
 * The holds of the section in which the calling thread builds.  NULL for a thread that does not build, or is in the
 * crowd.
 */
INTERNAL_EXTERN THREAD_LOCAL uint64_t *holds_mine;

/* For shared_hooks: notes the memory that the caller is about to take, or drops that note. */
INTERNAL void holds_note(struct heap *h, uint64_t what, bool notes);

/* Returns the places that are in use, as a bit for each. */
INTERNAL unsigned holds_used(const uint64_t *holds);
/* Drops all notes except those in these places. */
INTERNAL void holds_drop(uint64_t *holds, unsigned kept);

/* A question of a search. */
struct suspicion {
	struct store *store;
	uint64_t what;
	uint64_t *mine; /* the caller's hold of this memory */
};

/*
 * Holds `what` and suspects that `what` is lost.  Returns false if a living builder may hold this memory; then there
 * is nothing to end.  Afterwards the caller looks at the memory again, and asks whether the suspicion stands.
 */
INTERNAL bool suspicion_begin(struct suspicion *p, struct store *s, uint64_t what);
/* Returns true if memory that seemed lost since the suspicion began is lost. */
INTERNAL bool suspicion_stands(const struct suspicion *p);
INTERNAL void suspicion_end(struct suspicion *p);

#endif
