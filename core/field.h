/* SPDX-License-Identifier: MIT */
/*
 * A field: a heap inside memory of the caller's.
 *
 *   memory                                                  memory + bytes
 *     |..| struct field | word | word | .... | granule | granule | .... |..|
 *                       one for 32 granules    of 16 bytes
 *
 * A word has two bits for each granule, so that one swap changes both:
 *
 *        63        32 31         0
 *       |   edge     |    body    |
 *
 *   body edge  the granule is
 *    0    0    free
 *    1    1    FIRST: a block begins
 *    1    0    FURTHER: belongs to what begins below
 *    0    1    HELD: begins a run in flight, taken or given back right now; or
 *              lies beyond the end
 *
 * A block is a FIRST and the FURTHERs behind it.  At every instant what
 * stands behind a block is no FURTHER of somebody else's, since
 *
 *   taking    goes upwards:  HELD with the FURTHERs of its word, the words above,
 *             and last HELD becomes FIRST
 *   giving    FIRST becomes HELD, then goes downwards, HELD last
 *   resizing  does the same behind a FIRST
 *
 * and what lies in one word is one swap.  So a FURTHER never follows a free
 * granule (I11), every length is exact, and FIRST to HELD has one winner: the
 * one who may release.  Whoever is stopped on the way keeps his run and
 * nothing else.
 */
#ifndef CORE_FIELD_H
#define CORE_FIELD_H

#include "ashlar_heap.h"
#include "heap.h"
#include "misuse.h"

#define GRANULE     ((size_t)16)
#define FIELD_WORD  32u /* granules of a word */
#define FIELD_BODY  (~(uint64_t)0 >> FIELD_WORD)
#define FIELD_MIN   ((size_t)64 << 10)
#define FIELD_KINDS 11 /* of lengths: by powers of two, the last for all longer ones */

struct field {
	char *base; /* granule 0                              */
	size_t granules;
	size_t word_count;
	uint64_t id;          /* 0, where struct heap has it: no heap that has seats */
	enum sharing sharing; /* PAGES_CALLERS, where struct heap has it          */
	uint64_t root;
	uintptr_t memory; /* as the caller gave it: the field's key           */

	/* Hints, which all threads write. */
	_Alignas(CPU_LINE) uint64_t released; /* blocks so far, about          */
	struct field_hint {
		uint64_t recent; /* 1 + word where one was released last; 0: none */
		uint64_t next;   /* word where to look on                     */
		uint64_t since;  /* released, when the search began from 0    */
	} hints[FIELD_KINDS];
	_Alignas(CPU_LINE) uint64_t words[];
};

_Static_assert(offsetof(struct field, sharing) == offsetof(struct heap, sharing) &&
		       offsetof(struct field, id) == offsetof(struct heap, id),
	       "one look tells fields from other heaps");

/* The heap as a field; NULL: it is another one. */
static inline struct field *field_of(ash_heap *heap)
{
	const char *at = (const char *)heap + offsetof(struct heap, sharing);
	/* Read as what it is in both structures. */
	enum sharing sharing = *(const enum sharing *)(const void *)at;

	if (likely(sharing < PAGES_CALLERS))
		return NULL;
	if (unlikely(sharing == PAGES_GONE))
		misuse_report(CALL_HEAP, heap, "heap already destroyed", 0);
	return (struct field *)(void *)heap;
}

/* The granules of a word that are free, in the lower half. */
static inline uint64_t field_free(uint64_t word)
{
	return ~(word | word >> FIELD_WORD) & FIELD_BODY;
}

static inline uint64_t field_first(uint64_t word)
{
	return word & word >> FIELD_WORD;
}

static inline uint64_t field_held(uint64_t word)
{
	return ~word & word >> FIELD_WORD;
}

static inline uint64_t field_further(uint64_t word)
{
	return word & ~(word >> FIELD_WORD) & FIELD_BODY;
}

static inline bool field_has(const struct field *f, const void *p)
{
	return (uintptr_t)p - (uintptr_t)f->base < f->granules * GRANULE;
}

static inline size_t field_index(const struct field *f, const void *p)
{
	return ((uintptr_t)p - (uintptr_t)f->base) / GRANULE;
}

/* The granule that begins what this one belongs to. */
size_t field_begin(const struct field *f, size_t at);
/* Granules from the one that begins something to its end. */
size_t field_length(const struct field *f, size_t first);

/* NULL: no run of free granules is long enough.  alignment: a power of two. */
void *field_alloc(struct field *f, size_t size, size_t alignment);
/* False: p is not a block. */
bool field_release(struct field *f, void *p);
/* Of a block; size at most PTRDIFF_MAX. */
void *field_resize(struct field *f, void *p, size_t size);
/* Bytes of the block at p; 0: there is none. */
size_t field_bytes(const struct field *f, const void *p);

/* What the public calls of the same names tell. */
int field_walk(struct field *f, int (*see)(void *, void *, size_t, const struct ash_heap_owner *),
	       void *context);
void field_stats(struct field *f, struct ash_stats *out);
int field_check(const struct field *f);

/* What is wrong with the pointer, which lies in the field's memory. */
_Noreturn void field_misuse(const struct field *f, enum call call, const void *p);

/* ---- all fields of this process (fields.c) ---- */

/* The one that has this granule, the innermost of several; NULL: none. */
struct field *fields_find(const void *p);
/* The same, where records of a field count, too. */
struct field *fields_around(const void *p);
/* Out of this process, with the fields in its memory.  False: it is none of its fields. */
bool fields_leave(const void *f);

/* The memory becomes somebody else's: fields in it are no more. */
void fields_gone(const void *from, size_t bytes);
/* The same of a live block's, which is about to be released or resized; no block: nothing. */
void fields_gone_with(const struct chunk *c, const void *p);

#endif
