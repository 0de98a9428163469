/* SPDX-License-Identifier: MIT */
/*
 * The census of a heap shared by processes: the table of the processes that allocate there, and the tag of each
 * block, which names the process that allocated it.
 *
 *   census   [life of a process | 0 | ...]     entry i has tag i + 1; the topmost bit
 *            is set once the life is known to be over
 *   tags     16 bits for each slot, behind the remote words of its slab; the tag of
 *            a span is in its chunk record, in `clean`
 *
 * A tag is written before the slot is taken.  The tag of a free slot has no meaning, except in unowned slabs: there a
 * taken slot without a tag is in flight, that is, being handed out or taken back (recover.h).
 */
#ifndef CORE_CENSUS_H
#define CORE_CENSUS_H

#include "store/allocator.h"
#include "store/process/life.h"
#include "store/file/store.h"

/*
 * Lives in a heap shared by processes.  A life is a word that identifies a thread or a process, also when the id is
 * in use again (life.h).  A life is valid only in the namespaces of the processes that made the heap (world.h).
 */

/*
 * Return the lives of the calling thread and of its process, for words of this heap.  Return 0 if no process that
 * uses the heap could judge the life, because the caller is in other namespaces.  lives_process also returns 0 in a
 * child of vfork, which has no memory of its own.
 */
INTERNAL uint64_t lives_thread(struct heap *h);
INTERNAL uint64_t lives_process(struct heap *h);

/*
 * Return whether the life is certainly over.  Never true for a caller in namespaces other than the heap's, where
 * other lives may have these ids.
 */
INTERNAL bool lives_thread_is_over(const struct store *s, uint64_t life);
INTERNAL bool lives_process_is_over(const struct store *s, uint64_t life);

#define TAG_NONE    ((uint16_t)0)
#define TAG_UNKNOWN ((uint16_t)(CENSUS_ENTRIES - 1)) /* the census was full */
#define TAG_PROCESS ((uint16_t)0x3fff) /* mask */
#define TAG_LEAVING ((uint16_t)0x8000) /* flag; the rest: see census_leaving */
#define TAG_KIND    ((uint16_t)0x4000) /* flag: the block has a tag of the program, see block_tags.h */
#define TAG_OWN	    TAG_KIND /* without a process: a block of the heap itself, such as a name */
#define TAG_INTENT  ((uint16_t)0xc000) /* both; the rest: the intent of the block, see intent.h */
_Static_assert(CENSUS_ENTRIES <= 0x4000, "the flags of a tag are above its process");

/* The last tag with an entry: TAG_NONE and TAG_UNKNOWN have no entry. */
#define CENSUS_LAST (CENSUS_ENTRIES - 2)

/* In an entry: the process was found to be over.  The kernel is asked about this only once. */
#define CENSUS_OVER ((uint64_t)1 << 63)
_Static_assert(LIFE_BITS < 63, "a bit is left");
_Static_assert(LIFE_ID(~(uint64_t)0) == OWNER_SHARED_ID, "ashlar-look finds the thread in a holder word");

/* Returns the place of a slot's tag. */
static inline uint16_t *census_tag(const struct slab *s, uint64_t index)
{
	return (uint16_t *)(void *)((char *)load_relaxed(&s->remote) + REMOTE_STRIDE) + index;
}

/*
 * Returns the tag of a slot that this record's thread is releasing.  The tag names the record, not the process: if
 * the thread dies after its release, the slot may have another block, which another thread of the process is just
 * releasing (land, in recover.c).  intent_owner finds the process.
 */
static inline uint16_t census_leaving(const struct owner *o)
{
	size_t at = (size_t)((const char *)o - store_of(o->heap)->records);

	return (uint16_t)(TAG_LEAVING | at / RECORD_BYTES * INTENTS);
}

/* Returns whether the process of the i-th entry is over.  `word` is the entry. */
INTERNAL bool census_is_over(struct store *s, unsigned i, uint64_t word);
/* Returns whether a record with a holder, live or dead, refers to this tag. */
INTERNAL bool census_is_held(struct store *s, uint64_t tag);

#endif
