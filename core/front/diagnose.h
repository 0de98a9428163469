/* SPDX-License-Identifier: MIT */
/* Finds the memory that an address lies in, and diagnoses pointers that a call could not accept. */
#ifndef CORE_DIAGNOSE_H
#define CORE_DIAGNOSE_H

#include "ashlar.h"
#include "base/misuse.h"
#include "internal.h"

struct chunk;
struct slab;

struct found {
	enum ash_place place; /* ASH_FREE means in a slot, free or taken */
	char *start;	      /* of the slot or span; for ASH_UNUSED of the last before the address, or NULL */
	size_t size;	      /* bytes of that slot or span */
	struct chunk *chunk;  /* chunk of the slab, or first chunk of the span; may be NULL */
	struct slab *slab;    /* may be NULL */
};

/*
 * Finds the memory that an address lies in.  Changes nothing; no pointer is misuse.
 *
 * For any thread.  Arenas are not searched.  If the slab or span is unmade during the call, the members may describe
 * partly one and partly another.
 */
INTERNAL void find_address(const void *p, struct found *out);

/* Finds and prints the fault (base/misuse.h) and ends the process. */
INTERNAL _Noreturn void diagnose(const char *call, const void *p);

/*
 * Finds the live block of the default heap that is nearest to an address outside all blocks.  If there is no live
 * block, *out is unchanged.  The function is in diagnostics/heap_walk.c; the weak definition here finds no block, for
 * programs that do not link the walk for another reason.
 */
INTERNAL void ash_diagnose_nearest(const void *p, struct found *out);

/* Calls misuse_called, except before relocation, when there are no thread-local words to write. */
INTERNAL void diagnose_called(const char *name, const void *p);

#endif
