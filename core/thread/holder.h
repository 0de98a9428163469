/* SPDX-License-Identifier: MIT */
/* Who holds a record: the words of base/holder_word.h in owner.state. */
#ifndef CORE_HOLDER_H
#define CORE_HOLDER_H

#include "internal.h"
#include "base/holder_word.h"
#include "thread/owner.h"

/* The state of a record that the calling thread holds from now on, as its own or as a guest. */
INTERNAL uint64_t holder_seated(const struct heap *h);
INTERNAL uint64_t holder_guest(const struct heap *h);

/* Vacant record -> held by the holder of this state, or by the caller as a guest. */
INTERNAL bool owner_hold_as(struct owner *o, uint64_t state);
INTERNAL bool owner_hold(struct owner *o);
/* Held record -> vacant. */
INTERNAL void owner_vacate(struct owner *o);

/* True: the caller is the thread that forked this process, or one of its ancestors. */
INTERNAL bool holder_has_forked(void);

/* The record is the caller's: what the kernel calls the caller is entered in it, if it can be told. */
INTERNAL void holder_identify(struct owner *o);

#endif
