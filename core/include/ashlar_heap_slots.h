/* SPDX-License-Identifier: MIT */
/*
 * A part of ashlar_heap.h, which programs include: slots, words that change in one step,
 * whenever a process is killed; names of blocks; tags.
 *
 * A slot is a word in a block of the heap (or of ash_heap_slot), aligned to 8, that names a
 * block of this heap, or none (NULL).  It is not in a draft (which a kill would release, but not
 * what its slots name): what has slots is published first, with NULL in them.  These calls change a slot so that SIGKILL at any
 * instruction leaks no block: once ash_heap_recover has run, each block that the slot was to
 * name, or had named, either is named by a slot or is released, also while other processes work, or stand stopped.
 *
 *	struct node *n = ash_heap_draft(heap, sizeof *n);	no slot names it; a kill releases it
 *	n->value = 1;
 *	ash_heap_replace(heap, slot, old, n);			one step: n is in, old is released
 *
 * While a slot changes it may hold a mark for a moment, so it is read by ash_heap_load, and
 * written by these calls only; in a block that is not yet published it may be set to NULL.  No
 * thread waits for another: one that meets a mark completes the change.  As with any release, the
 * program makes sure that no thread uses a block that leaves its slot, nor a slot in a block
 * that was released.  Threads compete for a slot as by compare-and-swap: `old` is compared by address.
 *
 * From signal handlers too, within any of these calls, at most 4 deep (drafts count as well).  A
 * draft belongs to its thread, not to a child that was forked meanwhile.
 *
 * In heaps that are not shared by processes the same calls work, within one process.
 */
#ifndef ASHLAR_HEAP_SLOTS_H
#define ASHLAR_HEAP_SLOTS_H

#ifndef ASHLAR_HEAP_H
#error Include ashlar_heap.h: this is a part of it.
#endif

enum ash_slot {
	ASH_SLOT_DONE,
	ASH_SLOT_CHANGED,   /* it does not name `old`; or, to be released from, it names nothing */
	ASH_SLOT_NO_MEMORY,
	ASH_SLOT_OUTSIDE,   /* no aligned word of the heap's blocks, or one in a draft, or no block of the heap;
			       or `old` and `fresh` are the one block that the slot names        */
	ASH_SLOT_NO_RECORD, /* too deep; or the thread has no record: more than 4096 threads, or
			       another namespace (see ash_heap_create_shared)                    */
	ASH_SLOT_BAD_NAME   /* more than ASH_NAME_MAX bytes                                       */
};

/*
 * A block that only the calling thread has: it is released if the thread detaches, or ends in
 * any way.  ash_heap_replace and ash_heap_bind publish it, ash_heap_release discards it; it
 * cannot be resized.  At most 4 a thread.  Contents (undefined) and alignment as by
 * ash_heap_alloc.  NULL: as ash_heap_alloc, or no record.
 */
void *ash_heap_draft(ash_heap *heap, size_t size) __attribute__((malloc, warn_unused_result));

/*
 * In one step the slot names `fresh` instead of `old`, and `old` is released; each may be NULL.
 * fresh: a draft of this thread, or a block that the caller has, which it keeps if the answer is
 * not ASH_SLOT_DONE.
 */
enum ash_slot ash_heap_replace(ash_heap *heap, void *slot, void *old, void *fresh)
	__attribute__((warn_unused_result));

/*
 * Allocates a zeroed block (size and alignment as by ash_heap_zalloc) and stores its address in
 * the slot, which must be NULL, in one step; others see it at once.  Returns the block; NULL:
 * nothing has changed, and *why has the reason, if why is not NULL.
 */
void *ash_heap_alloc_into(ash_heap *heap, size_t size, void *slot, enum ash_slot *why);

/*
 * Takes the block that the slot names out of it and releases it, in one step.  ASH_SLOT_CHANGED:
 * it names none.  If it names no block of the heap, that is misuse, and the slot is left as it was.
 */
enum ash_slot ash_heap_release_from(ash_heap *heap, void *slot);

/* Returns the block that the slot names, complete as its maker left it; NULL: none. */
void *ash_heap_load(ash_heap *heap, const void *slot);

/*
 * ---- names ----
 *
 * A name, of 1 to ASH_NAME_MAX bytes, has a slot of its own from when it is first used; the name
 * "" is the root's.  Name and slot stay as long as the heap, also while it names nothing.  Some
 * thousands of names are found about as fast as one.  Only in heaps shared by processes.
 */
#define ASH_NAME_MAX 255

/*
 * Returns the slot of the name, which is new if need be.  NULL: *why has the reason, if why is
 * not NULL.
 */
void *ash_heap_slot(ash_heap *heap, const char *name, enum ash_slot *why);

/* As ash_heap_replace of NULL by p in the slot of the name; CHANGED: it is bound already. */
enum ash_slot ash_heap_bind(ash_heap *heap, const char *name, void *p)
	__attribute__((warn_unused_result));

/* The block that is bound to the name; NULL: none. */
void *ash_heap_find(ash_heap *heap, const char *name);

/*
 * Unbinds the name and returns its block, which no slot names any more: it is the caller's.
 * NULL: nothing was bound, or the thread has no record (as ASH_SLOT_NO_RECORD).
 */
void *ash_heap_unbind(ash_heap *heap, const char *name);

/* Calls visit for each bound name until it returns another value than 0; returns the last one. */
int ash_heap_names(ash_heap *heap, int (*visit)(void *context, const char *name, void *p),
		   void *context);

/* ---- tags ---- */

/*
 * As ash_heap_alloc and ash_heap_draft; ash_heap_walk shows the tag with the block (0: none).
 * A block that is resized keeps it, wherever it moves: NULL also if there is no memory for the tag.
 * Heaps that are not shared by processes forget it.  Costs 2 KiB for each slab with such blocks,
 * which later slabs at the same place use; it is not given back, counts as a block (ash_heap_stats), and
 * keeps its chunk of 2 MiB from serving a block above 1 MiB.
 */
void *ash_heap_alloc_tagged(ash_heap *heap, size_t size, unsigned char tag)
	__attribute__((malloc, warn_unused_result));
void *ash_heap_draft_tagged(ash_heap *heap, size_t size, unsigned char tag)
	__attribute__((malloc, warn_unused_result));

#endif
