/* SPDX-License-Identifier: MIT */
/*
 * Taking over records whose holders are gone: what they owned is found anew
 * from the bitmaps, and the records are left vacant.
 *
 *   lost records   --swap of the state-->   held by the caller, as a guest
 *   one walk over all slabs: each slab of one of them goes on its list
 *   each record is vacated
 *
 * A batch has a number of its own, which is in `batch` of its records, so that
 * the walk knows them from records that outer frames of the thread hold.
 */
#ifndef CORE_TAKEOVER_H
#define CORE_TAKEOVER_H

#include "thread/owner.h"

struct takeover {
	struct heap *heap;
	uint64_t number;  /* of the batch */
	size_t records;
};

struct takeover takeover_begin(struct heap *h);
/* The record joins the batch; false: its state is another by now. */
bool takeover_add(struct takeover *t, struct owner *v, uint64_t state);
/* Returns the number of records. */
size_t takeover_end(struct takeover *t);

#endif
