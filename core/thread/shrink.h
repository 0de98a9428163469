/* SPDX-License-Identifier: MIT */
/* Giving back what an owner keeps. */
#ifndef CORE_SHRINK_H
#define CORE_SHRINK_H

#include "thread/owner.h"

/* Gives back every slab that is empty; all bins rest. */
void owner_shrink(struct owner *o);

/* The same for all vacant records, as vanished threads may have left them, once all is collected. */
void owner_shrink_vacant(struct heap *h);

/* Both, for a record that is about to be left. */
void owner_rest(struct owner *o);

#endif
