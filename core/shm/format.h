/* SPDX-License-Identifier: MIT */
/*
 * Format 1 of heaps in files: where the words lie that must outlive the processes.  FORMAT.md
 * says it byte by byte; caches.c compares it with the structures.
 *
 * These words are the truth.  All else in the file is of use only among processes that have the
 * same structures: their number, store_caches (caches.h), is in the file beside the format.  Who attaches
 * with another number, while no living process is attached, rebuilds all else (renew.h).
 */
#ifndef CORE_FORMAT_H
#define CORE_FORMAT_H

#include "thread/owner.h"

#define STORE_FORMAT 1

/* Offsets of the parts.  The same on each CPU: multiples of the largest page, but for records. */
#define FORMAT_PAGE    ((size_t)65536)
#define CENSUS_AT      FORMAT_PAGE
#define CENSUS_ENTRIES 16384 /* processes whose blocks can be distinguished */
#define RECORDS_AT     (CENSUS_AT + CENSUS_ENTRIES * sizeof(uint64_t))
#define STORE_RECORDS  4096 /* owner records; further threads use the unowned slabs */
#define RECORD_BYTES   ((size_t)8192)
#define REGION_AT      (RECORDS_AT + STORE_RECORDS * RECORD_BYTES)

/* Remote words, then a tag of 16 bits for each slot, see census.h. */
#define STORE_REMOTE_STRIDE (REMOTE_STRIDE + SLAB_SLOTS * sizeof(uint16_t))

/* Between remote words and tags: the slot for the program's tags, see block_tags.h. */
#define KINDS_SLOT SLAB_GROUPS
_Static_assert((KINDS_SLOT + 1) * sizeof(uint64_t) <= REMOTE_STRIDE, "there is room behind the words");

/* What a thread is publishing, see intent.h. */
struct intent {
	uint64_t state; /* count of uses, flag, kind                                    */
	uint64_t slot;	/* address of the word that is to change                        */
	uint64_t fresh; /* the block that comes into it, or the draft; 0: none          */
	uint64_t old;	/* the block that is released when the word has changed; 0: none */
	uint64_t tag;	/* the census tag of a draft once it is published               */
};
#define INTENTS 4

/* The truth of an owner record, at its end, so that caches before it may grow; see recover.h. */
struct owner_truth {
	uint64_t flight; /* address of the slot being taken or released */
	uint64_t census; /* entry of the process in the census          */
	struct intent intents[INTENTS];
};
#define TRUTH_AT (RECORD_BYTES - 256)
_Static_assert(sizeof(struct owner) <= TRUTH_AT && sizeof(struct owner_truth) <= 256, "both fit");

/* Of a record in a heap that processes share; no other record has one. */
static inline struct owner_truth *truth_of(const struct owner *o)
{
	return (struct owner_truth *)(void *)((char *)(uintptr_t)o + TRUTH_AT);
}

#endif
