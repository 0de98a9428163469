/* SPDX-License-Identifier: MIT */
/*
 * What the programs of the power cuts have in common (tests/kernel/power): where things are on the disk, and the
 * marks by which the worker tells how far it is.
 *
 *   disk       0 ... POWER_BYTES: the file system | a mark
 *   cut disk   0: struct cuts | CUTS_BYTES: the file system after the first cut | after the second | ...
 *
 * A mark is a write of a page behind the file system, past every cache.  So the log of writes has it between the
 * writes that came before and those that come after, and says for each cut what the file may be.
 */
#ifndef TESTS_KERNEL_POWER_H
#define TESTS_KERNEL_POWER_H

#include "rt.h"

#define POWER_BYTES ((uint64_t)320 * MIB) /* the least that mkfs.xfs takes, and some */
#define POWER_MAGIC 0x72657765706d6173ull
#define CUTS_BYTES  MIB

enum phase {
	MARK_MAKING = 1, /* there may be a file, or not; if it is sealed, it has the state 0 */
	MARK_SEALING,	 /* refused as torn, or this state                                    */
	MARK_SEALED,	 /* this state, no other answer: ash_heap_sync has said so            */
	MARK_BREAKING,	 /* this state, or refused as torn                                    */
	MARK_BROKEN	 /* refused as torn                                                   */
};

struct mark {
	uint64_t magic, phase, state;
};

struct cut {
	uint64_t phase, state;		/* of the last mark before it                   */
	uint64_t entry, flushed;	/* of the log: where power fails; the last flush */
	uint64_t pieces, kept;		/* of what was written behind that               */
};

enum { MOST_CUTS = 1000 };
struct cuts {
	uint64_t magic, count;
	struct cut cut[MOST_CUTS];
};
_Static_assert(sizeof(struct cuts) <= CUTS_BYTES, "the first file system begins behind it");

#endif
