/* SPDX-License-Identifier: MIT */
/*
 * The holder of an owner record: the thread that may change it, named by the word in
 * owner.state (base/holder_word.h).
 *
 *   vacant --owner_hold_as--> held by its thread, or by a guest --owner_vacate--> vacant
 */
#ifndef CORE_HOLDER_H
#define CORE_HOLDER_H

#include "base/holder_word.h"
#include "internal.h"
#include "thread/owner.h"

/* The calling thread's holder word for what this process alone uses; 0: it has no number (roll.h). */
INTERNAL uint64_t holder_here(void);

/* The state of a record that the calling thread holds, as its own or as a guest; 0: as above. */
INTERNAL uint64_t holder_seated(const struct heap *h);
INTERNAL uint64_t holder_guest(const struct heap *h);

/* Vacant record -> held, with this state, or by the caller as a guest.  False: not vacant, or 0. */
INTERNAL bool owner_hold_as(struct owner *o, uint64_t state);
INTERNAL bool owner_hold(struct owner *o);
/* Held record -> vacant.  For its holder, which must look at owner.notified next (takeover.h). */
INTERNAL void owner_vacate(struct owner *o);

/* True: the calling thread, which had a number before, forked this process or one of its ancestors. */
INTERNAL bool holder_has_forked(void);

/*
 * True: the thread with this word, of this process and not the caller, has certainly ended.
 * note: what its record has of process_note.  Makes one call of madvise at most.
 */
INTERNAL bool holder_has_ended(uint64_t word, uint64_t note);

/* Enters the ids of the calling thread in its record, for ash_find and ashlar-look. */
INTERNAL void holder_note(struct owner *o);

#endif
