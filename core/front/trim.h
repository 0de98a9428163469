/* SPDX-License-Identifier: MIT */
/* Giving memory back on request. */
#ifndef CORE_TRIM_H
#define CORE_TRIM_H

#include "thread/owner.h"

/* heap_trim (retain.h) after what an owner, if not NULL, keeps for itself. */
size_t heap_give_back(struct heap *h, struct owner *o, size_t keep);
/* Slabs that are empty back to their chunks: the owner's, if not NULL, ended threads', nobody's. */
void heap_gather(struct heap *h, struct owner *o);

#endif
