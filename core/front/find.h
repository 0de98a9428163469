/* SPDX-License-Identifier: MIT */
/* Finds what memory an address lies in, for diagnoses.  Changes nothing; no pointer is misuse. */
#ifndef CORE_FIND_H
#define CORE_FIND_H

#include "ashlar.h"
#include "internal.h"

struct chunk;
struct slab;

struct found {
	enum ash_place place; /* ASH_FREE: in a slot, free or taken                         */
	char *start;	      /* of the slot or span; ASH_UNUSED: of the last one before the
				 address in this slab or span; NULL: none                   */
	size_t size;	      /* its bytes                                                  */
	struct chunk *chunk;  /* of the slab, the first of the span; NULL: there is none    */
	struct slab *slab;    /* NULL: none                                                 */
};

/*
 * For any thread; arenas are not looked at.  If the slab or span is unmade meanwhile, the
 * members may be half of one and half of another.
 */
INTERNAL void find_address(const void *p, struct found *out);

#endif
