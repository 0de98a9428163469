/* SPDX-License-Identifier: MIT */
/* A part of ashlar_heap.h, which programs include: views of heaps in files; offsets of addresses. */
#ifndef ASHLAR_HEAP_VIEW_H
#define ASHLAR_HEAP_VIEW_H

#ifndef ASHLAR_HEAP_H
#error Include ashlar_heap.h: this is a part of it.
#endif

/*
 * A view is the heap in a file, mapped read only, at any address, by any number of processes, also where
 * ash_heap_attach_file gives TAKEN, NAMESPACE or TORN, or the file may not be written.  Nothing in the
 * file changes, no hole of it is allocated, and the heap's processes do not notice.  Time and memory
 * depend on the memory in use, not on the capacity.  The pointers that the program has in its blocks are
 * addresses in the heap's processes: ash_heap_view_at translates them to the view's.
 *
 * Returns NULL if there is no heap of this version, or no memory (*why).  *why is ASH_ATTACH_TORN if the
 * file would be refused as torn: then blocks may be missing, or of different moments.  Results may be
 * outdated when they are returned, because other processes work on.  Results of a damaged file may be
 * wrong, but lie in the mapping.
 *
 * These calls read the file, not the mapping: if the file is made shorter, they find what the file still
 * has, without a signal (ash_heap_view_check returns false).  The program gets SIGBUS if it reads beyond
 * the end itself, also by ash_heap_view_load of a slot there.
 *
 * fd may be closed afterwards: the view has a duplicate (closed by exec), and finds nothing without it.
 * Closing the duplicate releases the process's fcntl locks on the file, as each close of a file does.
 */
typedef struct ash_heap_view ash_heap_view;
ash_heap_view *ash_heap_view_file(int fd, enum ash_attach *why);
void ash_heap_view_close(ash_heap_view *view); /* view may be NULL */

/* Translates an address p of the heap's processes to the view's; returns NULL outside the heap. */
const void *ash_heap_view_at(ash_heap_view *view, const void *p);
/*
 * Return the block that a slot, or the root, names, like ash_heap_load; `slot` and result are the
 * view's.
 */
const void *ash_heap_view_load(ash_heap_view *view, const void *slot);
const void *ash_heap_view_root(ash_heap_view *view);
/*
 * Return the block that is bound to the name (like ash_heap_find), and visit all bound names (like
 * ash_heap_names).
 */
const void *ash_heap_view_bound(ash_heap_view *view, const char *name);
int ash_heap_view_names(ash_heap_view *view,
			int (*visit)(void *context, const char *name, const void *p), void *context);

/* Like ash_heap_walk and ash_find (out->thread and ->heap are 0); addresses are the view's. */
int ash_heap_view_walk(ash_heap_view *view,
		       int (*visit)(void *context, const void *block, size_t size,
				    const struct ash_heap_owner *owner),
		       void *context);
enum ash_place ash_heap_view_find(ash_heap_view *view, const void *p, struct ash_block *out);

/*
 * Checks the file as ash_heap_attach_file does, by reading it.  Returns false if the file would be
 * refused, or there is no memory.
 */
bool ash_heap_view_check(ash_heap_view *view);

/*
 * Convert between addresses in a heap that processes share and offsets.  An offset is equal in each
 * process and each view, so data that has offsets instead of pointers can be read anywhere.  The offset
 * is 0 for NULL, for an address outside the heap, and in other heaps.
 */
uint64_t ash_heap_offset(ash_heap *heap, const void *p);
void *ash_heap_pointer(ash_heap *heap, uint64_t offset);
uint64_t ash_heap_view_offset(ash_heap_view *view, const void *p);
const void *ash_heap_view_pointer(ash_heap_view *view, uint64_t offset);

#endif
