/* SPDX-License-Identifier: MIT */
/* Slabs of vacant records for those who need some. */
#ifndef CORE_ADOPT_H
#define CORE_ADOPT_H

#include "thread/owner.h"

/* Takes slabs of the class with free slots from vacant records; `all`: looks into every slab. */
bool owner_adopt(struct owner *o, unsigned class, bool all);

#endif
