/* SPDX-License-Identifier: MIT */
/* What memory an address lies in, and diagnosis of a pointer that a call could not accept. */
#ifndef CORE_DIAGNOSE_H
#define CORE_DIAGNOSE_H

#include "ashlar.h"
#include "base/misuse.h"
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
 * Finds what memory an address lies in.  Changes nothing; no pointer is misuse.
 *
 * For any thread; arenas are not looked at.  If the slab or span is unmade meanwhile, the
 * members may be half of one and half of another.
 */
INTERNAL void find_address(const void *p, struct found *out);

/* Finds the fault, prints it (base/misuse.h) and ends the process. */
INTERNAL _Noreturn void diagnose(const char *call, const void *p);

/*
 * The live block of the default heap that is nearest to an address outside all blocks; none:
 * *out is unchanged.  In diagnostics/heap_walk.c; here is only a weak one that finds none, for
 * programs that do not link the walk for another reason.
 */
INTERNAL void ash_diagnose_nearest(const void *p, struct found *out);

/* misuse_called, except before relocation, when there are no thread-local words to write. */
INTERNAL void diagnose_called(const char *name, const void *p);

#endif
