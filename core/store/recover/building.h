/* SPDX-License-Identifier: MIT */
/*
 * Building: a thread is changing more than slots in a heap shared by processes, that is,
 * units, chunks or slabs.  The heap records which threads build, since memory that a
 * builder holds when it dies is in no bitmap (recover.h).
 *
 *   owner      `building` of its record is odd
 *   stranger   a thread without a record (beyond STORE_RECORDS threads, or about to
 *              make one): its life is in one of STRANGERS entries
 *   private    in a heap of one process: see owner_begin
 *   crowd      strangers beyond that number: only counted.  If one of them dies while
 *              it builds, memory that is lost from then on is not recovered.
 */
#ifndef CORE_BUILDING_H
#define CORE_BUILDING_H

#include "store/file/seal.h"
#include "store/file/store.h"
#include "thread/owner.h"

/*
 * Between building_begin and building_end the caller may change units, chunks and slabs.
 * o: its record, or NULL.
 */
struct building {
	uint64_t *word; /* NULL: building_end has nothing to do */
	enum { BUILDER_OWNER, BUILDER_STRANGER, BUILDER_CROWD, BUILDER_PRIVATE } as;
};
INTERNAL struct building building_begin(struct heap *h, struct owner *o);
INTERNAL void building_end(struct building b);

/*
 * True: no live thread is building.  *sum grows with each building_begin, so if it is the
 * same later, no thread has begun meanwhile.
 */
INTERNAL bool building_quiet(struct store *s, uint64_t *sum);

/* Counts the strangers that died while building in store.lost, and frees their entries. */
INTERNAL void strangers_bury(struct store *s);

/* Makes a heap in a file durable, and seals it (seal.h).  The caller has no record. */
INTERNAL enum ash_sync seal_close(struct store *s);

#endif
