/* SPDX-License-Identifier: MIT */
/*
 * Ashlar: heaps as objects.
 *
 * In addition to the default heap of ashlar.h a program may create heaps: to
 * release all of a subsystem's memory at once, to limit it, to place it in memory
 * of the caller, or to share it with other processes.
 *
 * Each function has the contract of its namesake in ashlar.h, including thread,
 * signal and fork safety, unless stated otherwise; the same safety holds for
 * functions without a namesake.  Any number of threads may use a heap.
 * ash_release, ash_resize, ash_usable_size and ash_release_sized accept blocks of
 * every heap; a resized block stays in its heap.
 */
#ifndef ASHLAR_HEAP_H
#define ASHLAR_HEAP_H

#include <stdbool.h>

#include "ashlar.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ash_heap ash_heap;

/*
 * All members zero is a good choice.  A NULL pointer instead of the structure
 * selects the values of ash_defaults.
 */
struct ash_heap_options {
	size_t cap;         /* most bytes of address space for blocks, rounded up to 2 MiB; 0: no
			       cap; shared heaps ignore it: their capacity is the cap           */
	size_t retain;      /* free bytes that may stay resident; 0: as in ash_defaults         */
	enum ash_huge huge; /* see enum ash_huge; 0: ASH_HUGE_DEFAULT                           */
	uintptr_t address;  /* shared heaps: its address, a multiple of 2 MiB; 0: see below     */
	bool allocate;	    /* heaps in files: allocate the whole file now, see below           */
};

/*
 * Creates a heap of this process; its blocks come from mappings of its own.
 * NULL: no memory.  Costs one mapping (the first heap: two), and two or three more
 * for each thread that allocates from it.  (mimalloc: mi_heap_new, which ties a
 * heap to one thread.)
 */
ash_heap *ash_heap_create(const struct ash_heap_options *options);

/*
 * Creates a heap inside memory of the caller (an array, a mapping), of 64 KiB or
 * more, with any alignment and any contents.  No system call, now or later.  NULL:
 * too small, memory is NULL or in use (see below), or there are ASH_HEAPS_IN_MAX
 * such heaps.
 *
 * Overhead: 1/65 of the memory for bitmaps, which are written now, and up to 512
 * bytes; block sizes are rounded up to 16 bytes, and blocks are aligned to 16.  A
 * block may be as large as the rest.  Adjacent free pieces merge at once; NULL is
 * returned if no piece is large enough.  Memory that another call is just taking
 * or giving back counts as taken.  In a nearly full heap the search takes time in
 * proportion to its size: about 20 us for 16 MiB.
 *
 * The memory may be shared with children of fork (MAP_SHARED): then parent and
 * children share the heap.  If a process is killed within a call, the one block
 * that the call was working on is lost until the heap is destroyed.
 *
 * The memory belongs to the heap until ash_heap_destroy, or until a heap is
 * created at the same address again.  It may be a block of another heap: then it
 * belongs to the heap until that block is released or resized, or that heap is
 * destroyed.  Memory that overlaps another such heap, other than by lying in one
 * of its blocks, is refused: NULL.  The memory must not be unmapped before the
 * heap is destroyed: Ashlar cannot notice that, and ash_release reads it.
 */
#define ASH_HEAPS_IN_MAX 1024
ash_heap *ash_heap_create_in(void *memory, size_t bytes);

/*
 * Creates a heap for this process and the children it forks from now on: all see
 * the same blocks at the same addresses, and any of them may allocate, and release
 * what another allocated.
 *
 * Reserves `capacity` bytes of address space, rounded up to 2 MiB, and for records
 * up to a sixth of that and 10 MiB; memory is used only where it is touched.  The
 * heap does not grow: when it is full, ash_heap_alloc returns NULL.  NULL here: no
 * memory, the address is taken or no multiple of 2 MiB, or capacity is 0; and always
 * in libashlar-st.a, which has no locked instructions.
 *
 * Whether a process lives is found out by thread ids and /proc; exit, kill and exec
 * end it.  ash_heap_destroy before exec, in any thread, gives up at once what the
 * process holds, even if /proc cannot be read.  A child of vfork may use the heap; its
 * blocks may have the owner 32767.  So do the blocks of a child in another pid or time
 * namespace, which has no records of its own (slower) and cannot recover others.
 *
 * A signal handler that forks must not return, in the child, into a call on a
 * shared heap that it interrupted: parent and child would both complete it.
 */
ash_heap *ash_heap_create_shared(size_t capacity, const struct ash_heap_options *options);

/*
 * The same in a file or memfd, which must be empty or one page of zeros.  The file
 * is made as long as needed; fd may be closed afterwards.  Other processes attach
 * to the heap, at the same address.  It outlives all of them: the first process
 * that attaches after a crash finds the heap as it was left, with at most one block
 * in doubt for each ended thread (ash_heap_recover).
 *
 * If several processes or threads do this at the same time, one creates the heap
 * and the others get NULL; none waits.  If the creator dies, the next call starts
 * again.  On NULL the file is unchanged, except that it may be one page of zeros if
 * the disk was full.
 *
 * Its address: options->address, or a random one between 0x110000000000 and
 * 0x500000000000, where neither the kernel nor other programs usually place
 * mappings, so that other processes can attach.  A program that chooses addresses
 * itself should use multiples of 1 GiB in this range.
 *
 * The file is sparse: disk space is allocated where the heap is first touched.  On a
 * full disk (or tmpfs, or hugetlb quota) such a touch ends the process by SIGBUS, in
 * any function of Ashlar or the program.  Only creating and attaching allocate what
 * they write beforehand, and return NULL.  options->allocate allocates the whole file
 * now: then only what ash_heap_trim and `retain` gave back can be missing later
 * (retain SIZE_MAX: nothing).  The limit of file sizes (RLIMIT_FSIZE) is reported by
 * SIGXFSZ, as for any file.
 */
ash_heap *ash_heap_create_file(int fd, size_t capacity, const struct ash_heap_options *options);

enum ash_attach {
	ASH_ATTACHED,
	ASH_ATTACH_NO_HEAP,  /* not a heap of this version, cut short or damaged  */
	ASH_ATTACH_TAKEN,    /* its addresses are in use in this process          */
	ASH_ATTACH_NO_MEMORY, /* the kernel refused, the disk is full, or the
				 request is impossible: no capacity, a bad address */
	ASH_ATTACH_UNFINISHED, /* it is being created, or its creator died         */
	ASH_ATTACH_NAMESPACE  /* made in another pid or time namespace             */
};
/*
 * Attaches to the heap in the file, at its address, and recovers it
 * (ash_heap_recover).  If why is not NULL, *why receives the result; NULL is
 * returned if that is not ASH_ATTACHED.
 *
 * The file is checked: each word that the allocator follows must have the only
 * possible value, or point into the heap.  Not detectable are changed bits that say
 * taken or free, and changed contents of the program's own blocks.  A program that
 * writes to the file while it is attached can take over the attached processes:
 * attach only files that no other user can write.
 */
ash_heap *ash_heap_attach_file(int fd, enum ash_attach *why);

/*
 * Attaches to the heap in the file, or creates one if the file is empty or its
 * creator died.  For processes that start in any order.  *why as above.
 */
ash_heap *ash_heap_open_file(int fd, size_t capacity, const struct ash_heap_options *options,
			     enum ash_attach *why);

/*
 * Makes the caller's pid and time namespaces those in which the heap of this file may
 * be attached; for use when the former ones are gone (a restarted container).  No
 * process may be attached: if one still is, blocks may be handed out twice.  False: not
 * a heap, or the write failed.
 */
bool ash_heap_adopt_file(int fd);

/*
 * Gives the whole heap back at once, with all its blocks and the heaps inside them.
 * NULL is allowed.  No thread may be in a call on this heap, nor may the caller be a
 * handler that interrupted one.
 *
 * A heap shared by processes is detached from this process only, and what its threads
 * held besides blocks is given up.  Memory of the caller belongs to the caller again,
 * as far as this process is concerned.
 *
 * Any call for one of the last four destroyed heaps of ash_heap_create is reported as
 * misuse, and so is destroying a heap whose address is not mapped any more.  Any other
 * use of a destroyed heap or its blocks is undefined.
 */
void ash_heap_destroy(ash_heap *heap);

/* As ash_alloc, ash_zalloc, ash_aligned_alloc; NULL also if the heap is full. */
void *ash_heap_alloc(ash_heap *heap, size_t size) __attribute__((malloc, warn_unused_result));
void *ash_heap_zalloc(ash_heap *heap, size_t count, size_t size)
	__attribute__((malloc, warn_unused_result));
void *ash_heap_aligned_alloc(ash_heap *heap, size_t alignment, size_t size)
	__attribute__((malloc, warn_unused_result));

/* For blocks of this heap only: a block of another heap is reported as misuse. */
void *ash_heap_resize(ash_heap *heap, void *p, size_t size) __attribute__((warn_unused_result));
void ash_heap_release(ash_heap *heap, void *p);
void ash_heap_release_sized(ash_heap *heap, void *p, size_t size);
size_t ash_heap_usable_size(ash_heap *heap, const void *p);
size_t ash_heap_good_size(ash_heap *heap, size_t size);

/* As ash_trim, ash_stats, ash_check.  Nothing is trimmed in memory of the caller: 0. */
size_t ash_heap_trim(ash_heap *heap, size_t keep);
void ash_heap_stats(ash_heap *heap, struct ash_stats *out);
int ash_heap_check(ash_heap *heap);

/*
 * As ash_thread_detach, for one heap.  If a thread ends without it, or calls only
 * ash_thread_detach, its slabs in the heap are reused later, when memory is needed.
 */
void ash_heap_thread_detach(ash_heap *heap);

/* ---- for heaps shared by processes; other heaps answer as one process ---- */

/*
 * One pointer by which a process finds its data in the heap; NULL at first.  Set
 * with release order, read with acquire order.
 */
void *ash_heap_root(ash_heap *heap);
void ash_heap_set_root(ash_heap *heap, void *root);

/*
 * Takes over what ended threads and processes held besides their blocks: their
 * slabs, and memory that they were setting up.  Also done before a shared heap
 * returns NULL.  Returns the number of owner records taken over.
 */
size_t ash_heap_recover(ash_heap *heap);

struct ash_heap_owner {
	uint64_t id;  /* for ash_heap_release_owner; 0: unknown, see ash_heap_walk; 32767:
			 unknown, as 32766 other processes lived or had blocks, or see
			 ash_heap_create_shared                                         */
	int pid;      /* process id; if not live, perhaps reused by another process     */
	bool live;
};

/*
 * Calls visit for each live block, with the process that allocated it, until visit
 * returns a value other than 0; returns the last value.  visit may allocate and release
 * blocks of this heap.  Blocks that are allocated or released during the walk may
 * be missed.  Owner 0: the block is just being handed out, or its process died while
 * that was done.  A heap in memory of the caller knows only this difference: all other
 * blocks have owner 1 and pid 0.  A heap of ash_heap_create: owner 1, this process.
 *
 * heap == NULL: the default heap, also in libashlar_malloc, which has no other function of
 * this header.  The walk takes no memory and waits for no thread.  Each block that lives
 * throughout is visited, once; each visited block was live, at this address and of this
 * size, after the last visit had returned.
 */
int ash_heap_walk(ash_heap *heap,
		  int (*visit)(void *context, void *block, size_t size,
			       const struct ash_heap_owner *owner),
		  void *context);

/*
 * Releases every block of an owner that is not live; returns their number.  0 for a
 * live owner, for the ids 0 and 32767, and for heaps that are not shared.  No other
 * thread may release these blocks at the same time.
 */
size_t ash_heap_release_owner(ash_heap *heap, uint64_t owner);

#ifdef __cplusplus
}
#endif
#endif
