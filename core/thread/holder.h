/* SPDX-License-Identifier: MIT */
/* Who holds a record: the words of base/holder_word.h in owner.state. */
#ifndef CORE_HOLDER_H
#define CORE_HOLDER_H

#include "base/holder_word.h"
#include "thread/owner.h"

/* The state of a record that the calling thread holds from now on, as its own or as a guest. */
uint64_t holder_seated(const struct heap *h);
uint64_t holder_guest(const struct heap *h);

/* Vacant record -> held by the holder of this state, or by the caller as a guest. */
bool owner_hold_as(struct owner *o, uint64_t state);
bool owner_hold(struct owner *o);
/* Held record -> vacant. */
void owner_vacate(struct owner *o);

/* True: the caller is the thread that forked this process, or one of its ancestors. */
bool holder_has_forked(void);

/* The record is the caller's: what the kernel calls the caller is entered in it, if it can be told. */
void holder_identify(struct owner *o);

#endif
