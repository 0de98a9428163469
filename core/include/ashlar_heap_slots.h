/* SPDX-License-Identifier: MIT */
/*
 * A part of ashlar_heap.h, which programs include: slots, which are words that change in one step even
 * if a process is killed; names of blocks; tags.
 *
 * A slot is a word in a block of the heap (or a word from ash_heap_slot), aligned to 8, that names a
 * block of this heap, or is NULL.  A slot must not be in a draft, because a kill would release the draft
 * but not the blocks that its slots name: publish a block first, with NULL in its slots.  These calls
 * change a slot so that SIGKILL at any instruction leaks no block: once ash_heap_recover has run, each
 * block that the slot was to name, or had named, either is named by a slot or is released, also while
 * other processes work or are stopped.
 *
 *	struct node *n = ash_heap_draft(heap, sizeof *n);	no slot names it; a kill releases it
 *	n->value = 1;
 *	ash_heap_replace(heap, slot, old, n);			one step: n is in, old is released
 *
 * While a slot changes it may hold a mark for a moment.  So read a slot by ash_heap_load, and write it
 * by these calls only; in a block that is not yet published a slot may be set to NULL.  No thread waits
 * for another: a thread that meets a mark completes the change.  As with any release, the program must
 * make sure that no thread uses a block that leaves its slot, or a slot in a block that was released.
 * Threads compete for a slot as by compare-and-swap: `old` is compared by address.
 *
 * Signal handlers may make these calls, also within any of these calls, at most 4 deep (drafts count as
 * well).  A draft belongs to its thread, not to a child forked while the draft exists.
 *
 * In heaps that are not shared by processes the calls work within one process.  A draft is an ordinary
 * block there: it stays when its thread ends, and a thread may have any number of drafts.  Of a slot only
 * the alignment is checked, and of `fresh` nothing.
 */
#ifndef ASHLAR_HEAP_SLOTS_H
#define ASHLAR_HEAP_SLOTS_H

#ifndef ASHLAR_HEAP_H
#error Include ashlar_heap.h: this is a part of it.
#endif

enum ash_slot {
	ASH_SLOT_DONE,
	ASH_SLOT_CHANGED,   /* the slot does not name `old`; or ash_heap_release_from found it empty */
	ASH_SLOT_NO_MEMORY,
	ASH_SLOT_OUTSIDE,   /* no aligned word of the heap's blocks, or a word in a draft, or no block
			       of the heap; or `old` and `fresh` are the one block that the slot names */
	ASH_SLOT_NO_RECORD, /* calls are too deep; or the thread has no record: more than 4096
			       threads, or another namespace (see ash_heap_create_shared) */
	ASH_SLOT_BAD_NAME   /* more than ASH_NAME_MAX bytes                                       */
};

/*
 * Allocates a block that only the calling thread has: the block is released if the thread detaches, or
 * ends in any way.  ash_heap_replace and ash_heap_bind publish the block, ash_heap_release discards it;
 * it cannot be resized.  A thread has at most 4 drafts.  The contents are undefined; the alignment is
 * that of ash_heap_alloc.  Returns NULL as ash_heap_alloc does, or if the thread has no record.
 */
void *ash_heap_draft(ash_heap *heap, size_t size) __attribute__((malloc, warn_unused_result));

/*
 * Makes the slot name `fresh` instead of `old`, and releases `old`, in one step; each may be NULL.
 * fresh is a draft of this thread, or a block that the caller has, which the caller keeps if the result
 * is not ASH_SLOT_DONE.
 */
enum ash_slot ash_heap_replace(ash_heap *heap, void *slot, void *old, void *fresh)
	__attribute__((warn_unused_result));

/*
 * Allocates a zeroed block (size and alignment as by ash_heap_zalloc) and stores its address in the
 * slot, which must be NULL, in one step; other threads see the block at once.  Returns the block.  If
 * nothing has changed, returns NULL, and *why has the reason, if why is not NULL.
 */
void *ash_heap_alloc_into(ash_heap *heap, size_t size, void *slot, enum ash_slot *why);

/*
 * Takes the block that the slot names out of the slot and releases the block, in one step.  Returns
 * ASH_SLOT_CHANGED if the slot is NULL.  If the slot names no block of the heap, that is misuse, and the
 * slot stays unchanged.
 */
enum ash_slot ash_heap_release_from(ash_heap *heap, void *slot);

/* Returns the block that the slot names, complete as its maker left it, or NULL. */
void *ash_heap_load(ash_heap *heap, const void *slot);

/*
 * ---- names ----
 *
 * A name, of 1 to ASH_NAME_MAX bytes, has a slot of its own from the first use of the name; the name ""
 * is the root's.  Name and slot stay as long as the heap, also while the slot is NULL.  Some thousands
 * of names are found about as fast as a single name.  Names exist only in heaps shared by processes.
 */
#define ASH_NAME_MAX 255

/*
 * Returns the slot of the name, and makes the slot if need be.  If that fails, returns NULL, and *why
 * has the reason, if why is not NULL.
 */
void *ash_heap_slot(ash_heap *heap, const char *name, enum ash_slot *why);

/*
 * Like ash_heap_replace of NULL by p in the slot of the name.  ASH_SLOT_CHANGED means that the name is
 * bound already.
 */
enum ash_slot ash_heap_bind(ash_heap *heap, const char *name, void *p)
	__attribute__((warn_unused_result));

/* Returns the block that is bound to the name, or NULL. */
void *ash_heap_find(ash_heap *heap, const char *name);

/*
 * Unbinds the name and returns its block, which no slot names any more: the block is the caller's.
 * Returns NULL if nothing was bound, or the thread has no record (see ASH_SLOT_NO_RECORD).
 */
void *ash_heap_unbind(ash_heap *heap, const char *name);

/* Calls visit for each bound name until visit returns a value other than 0; returns the last value. */
int ash_heap_names(ash_heap *heap, int (*visit)(void *context, const char *name, void *p),
		   void *context);

/* ---- tags ---- */

/*
 * Like ash_heap_alloc and ash_heap_draft, with a tag, which ash_heap_walk shows with the block (0: no
 * tag).  A resized block keeps its tag, wherever it moves; a resize returns NULL also if there is no
 * memory for the tag.  Heaps that are not shared by processes forget the tag.  Tags cost 2 KiB for each
 * slab with such blocks, which later slabs at the same place use.  Those 2 KiB are not given back, count
 * as a block (ash_heap_stats), and keep their chunk of 2 MiB from serving a block above 1 MiB.
 */
void *ash_heap_alloc_tagged(ash_heap *heap, size_t size, unsigned char tag)
	__attribute__((malloc, warn_unused_result));
void *ash_heap_draft_tagged(ash_heap *heap, size_t size, unsigned char tag)
	__attribute__((malloc, warn_unused_result));

#endif
