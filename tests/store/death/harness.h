/* SPDX-License-Identifier: MIT */
/*
 * The harness of deaths.  A victim performs one call on a heap in a memfd and
 * is stopped after every instruction.  There the heap is mapped again, private
 * this time, over the same addresses: a copy of this instant, which the
 * harness changes without the victim's ever knowing.
 *
 *   victim     call: i i i i i i i ... i          on the file
 *                    |   |   |
 *   survivor         L   L   L                    on a copy of it
 *
 * In the copy the victim is dead: its life is replaced by that of a process
 * that has ended.  A survivor with fresh thread-local words (of a process that
 * was just forked, so to say) recovers the heap, compares it with the book of
 * the blocks that exist, works in it, and releases what the dead one held.
 *
 * In another copy the victim stands stopped and lives: a search for lost memory finds none.
 */
#ifndef TESTS_STORE_DEATH_HARNESS_H
#define TESTS_STORE_DEATH_HARNESS_H

#include "ashlar_heap.h"
#include "rt.h"

#include "backend/heap.h"
#include "heaps/instance.h"
#include "store/file/store.h"
#include "thread/owner.h"

struct death_path {
	const char *name;
	void (*prepare)(void); /* not stepped; may be NULL */
	void (*call)(void);    /* stepped: one call of the library */
	void (*passes)(void);  /* a function whose first instruction is met, or NULL */
	size_t size;	       /* for those three */
	unsigned apart;	       /* looked at after so many instructions; 0: after each */
};
extern const struct death_path death_paths[];
extern const size_t death_path_count;

extern ash_heap *death_heap;
static inline struct heap *heap(void)
{
	return heap_of(death_heap);
}
extern size_t death_size;
enum { DEATH_CHUNKS = 28 };
extern void *death_block; /* what the call works on: it may be gone afterwards */
extern int death_fd;
extern uint64_t death_victim, death_ended; /* lives */

enum { BOOK = 3000 };
struct entry {
	unsigned char *p;
	size_t size;
	unsigned key;
	bool loose; /* the call works on it: there or not, and moved or not */
};
/* Every block that exists, shared with the children that prepare the heap. */
struct book {
	_Atomic size_t count;
	struct entry entry[BOOK];
	_Atomic unsigned live; /* processes that hold records and wait */
};
extern struct book *book;

/* A block enters the book, with its pattern; or the last one leaves it. */
void *book_take(size_t size);
struct entry *book_enter(void *p, size_t size);
void book_release(struct entry *e);

/* Work by another process: that ends without a word, or detaches first, or lives on. */
void death_by_ended(void (*work)(void));
void death_by_detached(void (*work)(void));
void death_by_live(void (*work)(void));

/* ---- slots (store/death/publish.c) ---- */

/* On paths of slots: the slot that the call changes.  NULL: the path has none. */
extern void **death_slot;
/* found: blocks that a walk visited; extra: the one that is not in the book, or NULL. */
void publish_is_right(size_t found, const struct entry *extra, bool (*is_there)(const struct entry *));
/* Releases the blocks of the heap's own. */
void publish_release_own(void);

/* One look at the copy (store/death/survivor_looks.c). */
void look_prepare(void);
void look(void);

/* ---- what recovery has settled (store/death/memory.c) ---- */

/* Each chunk and each unit is free, or a slab's or span's. */
void settled_units(void);
/* No record is of the dead, or in the middle of anything. */
void settled_records(void);
/* No block is left that names the record of a thread that was releasing it. */
void settled_tags(void);

/* ---- all memory is there (store/death/memory.c) ---- */

/* True: what rules chunks, units and slabs is not as it was at the last look. */
bool look_is_new(void);
/* The survivor fills the heap: then no unit and no slot is left. */
void look_fill(void);
/* All is released: the heap is one block of all its capacity again. */
void look_empty(void);
/* How often that was. */
size_t look_fills(void);
/* Of all that is free or has a span or an unowned slab: what a search changes that takes a living thread's memory. */
uint64_t look_sum(void);

#endif
