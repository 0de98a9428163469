/* SPDX-License-Identifier: MIT */
/* Spares: empty slabs that an owner keeps for a while (owner.h). */
#ifndef CORE_SPARE_H
#define CORE_SPARE_H

#include "thread/owner.h"

/* Slab i of the spares is one no more. */
void spares_drop(struct owner *o, unsigned i);

/* The slab is in use again, or has another place: no spare any more. */
void spares_forget(struct owner *o, struct slab *s);

#endif
