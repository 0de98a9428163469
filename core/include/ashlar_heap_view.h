/* SPDX-License-Identifier: MIT */
/* A part of ashlar_heap.h, which programs include: views of heaps in files; offsets of addresses. */
#ifndef ASHLAR_HEAP_VIEW_H
#define ASHLAR_HEAP_VIEW_H

#ifndef ASHLAR_HEAP_H
#error Include ashlar_heap.h: this is a part of it.
#endif

/*
 * A view: the heap in a file, mapped to be read only, at any address, by any number of
 * processes, also where ash_heap_attach_file says TAKEN, NAMESPACE or TORN, or the file may not
 * be written.  Nothing in the file changes, no hole of it is allocated, and the heap's processes take no notice.
 * Time and memory go by what is in use, not by the capacity.  The
 * pointers that the program has in its blocks are addresses in those processes:
 * ash_heap_view_at translates them to the view's.
 *
 * NULL: no heap of this version, or no memory (*why).  *why is ASH_ATTACH_TORN if the file
 * would be refused as torn: then blocks may be missing, or of different moments.  Results may
 * be outdated when they are returned, as others work on; those of a damaged file may be wrong,
 * but lie in the mapping.
 *
 * These calls read the file, not the mapping: if it is made shorter, they find what it still has, without a
 * signal (ash_heap_view_check: false).  SIGBUS is what the program gets where it reads beyond the end itself, also by
 * ash_heap_view_load of a slot there.
 *
 * fd may be closed afterwards: the view has a duplicate (closed by exec), without which it finds nothing
 * either.  Closing that releases the process's fcntl locks on the file, as each close of a file does.
 */
typedef struct ash_heap_view ash_heap_view;
ash_heap_view *ash_heap_view_file(int fd, enum ash_attach *why);
void ash_heap_view_close(ash_heap_view *view); /* NULL is allowed */

/* Translates an address p of the heap's processes to the view's; NULL: outside the heap. */
const void *ash_heap_view_at(ash_heap_view *view, const void *p);
/* The block that a slot, or the root, names, as ash_heap_load; `slot` and result are the view's. */
const void *ash_heap_view_load(ash_heap_view *view, const void *slot);
const void *ash_heap_view_root(ash_heap_view *view);
/* What the name is bound to (as ash_heap_find), and all names that are bound to something (as ash_heap_names). */
const void *ash_heap_view_bound(ash_heap_view *view, const char *name);
int ash_heap_view_names(ash_heap_view *view,
			int (*visit)(void *context, const char *name, const void *p), void *context);

/* As ash_heap_walk and ash_find (out->thread and ->heap are 0); addresses are the view's. */
int ash_heap_view_walk(ash_heap_view *view,
		       int (*visit)(void *context, const void *block, size_t size,
				    const struct ash_heap_owner *owner),
		       void *context);
enum ash_place ash_heap_view_find(ash_heap_view *view, const void *p, struct ash_block *out);

/* Checks the file as ash_heap_attach_file does, by reading it.  False: it would be refused, or no memory. */
bool ash_heap_view_check(ash_heap_view *view);

/*
 * Offsets of addresses in a heap that processes share: the same in each process and each
 * view, so data that has offsets instead of pointers can be read anywhere.  0: NULL, or
 * an address outside; and for other heaps.
 */
uint64_t ash_heap_offset(ash_heap *heap, const void *p);
void *ash_heap_pointer(ash_heap *heap, uint64_t offset);
uint64_t ash_heap_view_offset(ash_heap_view *view, const void *p);
const void *ash_heap_view_pointer(ash_heap_view *view, uint64_t offset);

#endif
