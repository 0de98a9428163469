/* SPDX-License-Identifier: MIT */
/*
 * Building: a thread is changing more than slots in a heap shared by processes, that is, units, chunks or slabs.  The
 * memory that a dying builder holds is in no bitmap (recover.h).  Therefore the heap records which threads build, and
 * which memory each of them holds (holds.h).
 *
 *   owner      `building` of its record is odd
 *   stranger   a thread without a record (beyond STORE_RECORDS threads, or about to
 *              make one): its life is in one of STRANGERS entries
 *   crowd      strangers beyond that number: only counted.  Nothing is recovered while a member
 *              builds, nor after a member has died in it.
 */
#ifndef CORE_BUILDERS_H
#define CORE_BUILDERS_H

#include "ashlar_heap.h"
#include "store/allocator.h"
#include "store/file/store.h"

/* ---- the seal ---- */

/*
 * The seal of a heap in a file: whether all pages of the file are of one moment.
 *
 * While the system runs, all processes see the same pages.  When the system stops without warning (power), the file
 * has the pages that the kernel happened to write, of different moments.  Bits that say taken or free may be wrong in
 * them, and no check of the file can find that.  So the first page says whether that is possible:
 *
 *   OPEN      threads may be changing the heap
 *   CLOSING   like OPEN; a thread makes all pages durable, while no record has a holder
 *   WHOLE     no thread has changed the heap since that was done: the file is sealed
 *   BREAKING  like WHOLE, but the next change may follow: becomes OPEN when that is durable
 *
 *   OPEN ---> CLOSING --(all pages durable)--> WHOLE --(durable: sealed)
 *    ^                                           |
 *    +------ (this page durable) -- BREAKING <---+
 *
 * Two orders hold on the disk, whichever pages are lost and in whatever order the others are written: WHOLE comes
 * after all earlier changes, and before all later changes.  So a file that says WHOLE is of the moment of the seal.
 * A file in any other state is of one moment only during the run of the system that is named there.
 *
 *   63 ............. 32 | 31 ......................... 2 | 1 ... 0
 *   start of the system | number, raised by each breaking | state
 *
 * No thread waits: each thread that finds the breaking half done repeats the breaking, and a seal that is being
 * closed is broken like a whole seal.
 */

enum seal { SEAL_OPEN, SEAL_BREAKING, SEAL_CLOSING, SEAL_WHOLE };

#define SEAL_STATE  ((uint64_t)3)
#define SEAL_BOOT   32 /* shift of the start of the system, which is 0 if unknown */
#define SEAL_NUMBER 2  /* shift of the number, which is never 0 */

static inline enum seal seal_state(uint64_t word)
{
	return (enum seal)(word & SEAL_STATE);
}

static inline uint64_t seal_with(uint64_t word, enum seal state)
{
	return (word & ~SEAL_STATE) | (uint64_t)state;
}

/* Returns the word of a heap that is being made. */
INTERNAL uint64_t seal_new(void);

/* Returns whether the file may be a mixture of pages of different moments. */
INTERNAL bool seal_is_torn(uint64_t word);

/*
 * Makes the seal OPEN, and that state durable.  For a thread that is about to change the heap and that threads which
 * close the seal can see (a stranger that builds).  Returns false if the kernel reports an error of the disk.
 */
INTERNAL bool seal_break(struct store *s);

/* seal_break for a thread that other threads cannot see: this thread must not run while the seal is closed. */
INTERNAL void seal_touch(struct store *s);

/* ---- building ---- */

/* building.as; building.holds and .before are holds_mine (holds.h), now and before. */
enum { BUILDER_OWNER = BUILDING_PRIVATE + 1, BUILDER_STRANGER, BUILDER_CROWD };

/* For shared_hooks: the begin and end of a section (heaps/building.h). */
INTERNAL void builders_begin(struct heap *h, struct owner *o, struct building *b);
INTERNAL void builders_end(const struct building *b);

/* Returns whether no live thread is building. */
INTERNAL bool building_quiet(struct store *s);

/* Counts the strangers that died while building in store.deaths, and frees their entries. */
INTERNAL void strangers_bury(struct store *s);

/* Makes a heap in a file durable and sealed.  The caller has no record. */
INTERNAL enum ash_sync seal_close(struct store *s);

#endif
