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

/* The state of a record that the calling thread holds, as its own or as a guest. */
INTERNAL uint64_t holder_seated(const struct heap *h);
INTERNAL uint64_t holder_guest(const struct heap *h);

/* Vacant record -> held, with this state, or by the caller as a guest.  False: not vacant. */
INTERNAL bool owner_hold_as(struct owner *o, uint64_t state);
INTERNAL bool owner_hold(struct owner *o);
/* Held record -> vacant.  For its holder, which must look at owner.notified next (visit.h). */
INTERNAL void owner_vacate(struct owner *o);

/* True: the calling thread is the one that forked this process, or one of its ancestors. */
INTERNAL bool holder_has_forked(void);

/* Enters the ids of the calling thread in its record; 0 if they are unknown (identity.h). */
INTERNAL void holder_identify(struct owner *o);

#endif
