/* SPDX-License-Identifier: MIT */
/*
 * A hash table of words in a heap that processes share, any of which may be killed at any
 * instruction.
 *
 *   name "words" --> table   [places | slot of bucket 0 | slot of bucket 1 | ...]
 *                                        |
 *                                        v
 *                                      bucket   [version, check | counts of words | text]
 *
 * A bucket never changes once others can see it: who changes a word makes a new one, as a draft,
 * and ash_heap_replace puts it in the old one's place and releases that, in one step.  So a
 * process that is killed leaves the old bucket or the new one, and no block that nothing names.
 *
 * Each place, which one worker at a time has, changes its own buckets.  All read all: a reader
 * copies a bucket and then looks whether it is still in its slot.
 */
#ifndef TABLE_H
#define TABLE_H

#include <ashlar_heap.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WORKERS = 4, BUCKETS = 4096, WORDS = 64, EXCERPT = 2000 };
enum { TAG_TABLE = 1, TAG_BUCKET };

struct word {
	uint32_t place, length, hash; /* in the text */
};

struct entry {
	struct word word;
	uint32_t count;
};

struct bucket {
	uint64_t version; /* how often this bucket was changed                         */
	uint64_t check;	  /* of what follows                                           */
	uint64_t sum;	  /* of all that was ever counted here, also of deleted words  */
	uint32_t entries, place, length; /* length: bytes of text from this place, behind the entries */
	struct entry entry[];
};

/*
 * What a place has done.  `changing`, `to`, `next`: the bucket and its version after the change at
 * hand, and `changes` after it.
 */
struct place {
	_Alignas(128) uint64_t operations;
	uint64_t changes; /* that are known to have happened */
	uint64_t changing, to, next;
};

struct table {
	uint64_t stop; /* not 0: workers end */
	struct place place[WORKERS];
	struct bucket *bucket[BUCKETS]; /* slots */
};

/* The text, and where its words are: the same in all processes, by fork. */
struct text {
	const char *bytes;
	size_t length;
	struct word *words;
	size_t count;
};
/* False: no such file, or no word in it. */
bool text_read(struct text *t, const char *path);

struct session {
	ash_heap *heap;
	struct table *table;
	const struct text *text;
};

/* Makes the table and binds it to its name; NULL: no memory. */
struct table *table_make(ash_heap *heap);

enum act { COUNT, REPLACE, DELETE };
/* Changes the word in a bucket of this place.  False: no memory. */
bool table_change(const struct session *s, struct place *at, const struct word *w, enum act act, uint32_t random);

/* False: the bucket is not as a worker wrote it. */
bool bucket_is_good(const struct bucket *b, const struct text *text);
/* Copies the word's bucket, which others may change meanwhile, and looks at it. */
bool table_verify(const struct session *s, const struct word *w);

/* The place's worker is dead: whether its last change happened is seen in the bucket. */
void place_settle(const struct session *s, struct place *at);

#endif
