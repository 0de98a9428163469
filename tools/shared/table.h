/* SPDX-License-Identifier: MIT */
/*
 * A hash table of words in a heap that processes share, any of which may be
 * killed at any instruction.
 *
 *   table   [epoch | slot of each process | bucket | bucket | ... ]
 *   bucket   --> entry --> entry --> NULL
 *
 * An entry never changes once others can see it.  Whoever changes a word
 * copies the entries in front of it, and one swap of the bucket puts the new
 * chain in the old one's place: killed before it, nothing happened; after it,
 * all did.  What both chains share stays where it is.
 *
 * WHO RELEASES WHAT WAS UNLINKED
 *
 *   The process that unlinked it, when nobody can be reading it any more.  A
 *   process that reads has the epoch in its slot.  What was unlinked in epoch
 *   e is released when every slot has none or a later one.
 *
 *   slot.limbo names what its process is about to unlink, or has unlinked and
 *   not yet released.  So the parent, which looks for what the dead have left
 *   (sweep.h), leaves it alone.
 *
 * Nobody waits: a process whose limbo is full, because another one stopped
 * while it was reading, goes on reading.  The parent empties the slots of the
 * dead.
 */
#ifndef TABLE_H
#define TABLE_H

#include <ashlar_heap.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WORKERS = 4, PARENT = WORKERS, SLOTS, LIMBO = 128, BUCKETS = 4096 };

struct entry {
	struct entry *next;
	uint64_t count; /* how often the word was counted                       */
	uint64_t check; /* of all but next                                      */
	uint32_t hash;  /* of the word                                          */
	uint32_t word;  /* its bytes, the first ones of the excerpt             */
	uint32_t place; /* of the excerpt in the text                           */
	uint32_t length;
	char excerpt[];
};

struct slot {
	_Alignas(128) uint64_t epoch; /* 0: not reading                         */
	struct entry *limbo[LIMBO];
	uint64_t operations;
	/* What the process has added to the counts in the table ...             */
	int64_t sum;
	/* ... and is adding right now: who is killed then may or may not have. */
	int64_t adding;
};

struct table {
	uint64_t epoch;
	uint64_t stop; /* not 0: workers end                                    */
	struct slot slot[SLOTS];
	uint64_t bucket[BUCKETS]; /* struct entry *                             */
};

/* The text, and where its words are: the same in all processes, by fork. */
struct word {
	uint32_t place, length, hash;
};
struct text {
	const char *bytes;
	size_t length;
	struct word *words;
	size_t count;
};
/* False: no such file, or no word in it. */
bool text_read(struct text *t, const char *path);

/* A process at work on the table. */
struct session {
	ash_heap *heap;
	struct table *table;
	struct slot *slot;
	const struct text *text;
	uint64_t stamp[LIMBO]; /* the epoch in which it was unlinked            */
	unsigned oldest, used; /* of the limbo, a ring                          */
};

struct table *table_make(ash_heap *heap);
struct session session_of(ash_heap *heap, const struct text *text, unsigned slot);

/* While reading, no entry that can be seen is released. */
void session_read(struct session *s);
void session_rest(struct session *s);

/* True: somebody may still be reading what was unlinked in this epoch. */
bool table_has_readers(const struct table *t, uint64_t epoch);

/* What the process unlinked is released as far as nobody reads it. */
void session_tidy(struct session *s);

/* The slot's process has died. */
void slot_clear(struct slot *slot, uint64_t *unsure);

enum act { COUNT, REPLACE, DELETE };

enum outcome {
	DONE,
	LOST_SWAP, /* another process was faster: once more                     */
	NOT_NOW,   /* the limbo is full                                         */
	NO_MEMORY
};
/* excerpt: bytes of text that a replaced entry holds beyond its word. */
enum outcome table_change(struct session *s, const struct word *w, enum act act, uint32_t excerpt);

/* Looks the word up.  False: something in its bucket is not what was written. */
bool table_verify(struct session *s, const struct word *w);

/* A bucket's chain as it is now; for who reads. */
const struct entry *table_chain(const struct table *t, unsigned bucket);
bool entry_is_good(const struct entry *e, const struct text *text);

#endif
