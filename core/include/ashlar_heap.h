/* SPDX-License-Identifier: MIT */
/*
 * Ashlar: heaps as objects.
 *
 * Beside the default heap of ashlar.h a program may have heaps of its own: to
 * give all of a subsystem's memory back at once, to bound it, to keep it
 * inside memory of the caller's, or to share it with other processes.
 *
 * Every call has the contract of its namesake in ashlar.h, also as to threads,
 * signal handlers and fork, unless it says otherwise.  A heap is used from any
 * number of threads.  ash_release, ash_resize, ash_usable_size and
 * ash_release_sized take blocks of every heap; a block stays in its heap.
 */
#ifndef ASHLAR_HEAP_H
#define ASHLAR_HEAP_H

#include <stdbool.h>

#include "ashlar.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ash_heap ash_heap;

/* Zero everywhere is a good choice; so is NULL for the whole. */
struct ash_heap_options {
	size_t cap;         /* most bytes of address space for blocks, in steps of 2 MiB; 0: no cap;
			       of shared heaps the capacity decides                             */
	size_t retain;      /* free bytes that may stay resident; 0: as ash_defaults            */
	enum ash_huge huge; /* as in ash_defaults                                               */
	uintptr_t address;  /* shared heaps: where to put it, a multiple of 2 MiB; 0: see below */
	bool allocate;	    /* of files: take the memory for all of it now, see below           */
};

/*
 * A heap of this process: its blocks come from mappings of its own.  NULL: no
 * memory.  Costs two mappings, and at the first allocation of each thread
 * another two or so.
 */
ash_heap *ash_heap_create(const struct ash_heap_options *options);

/*
 * A heap inside memory of the caller's (an array, a mapping): no system call,
 * now or later.  From 64 KiB up; no alignment is asked for, and nothing of what
 * the memory reads.  NULL: too small, or ASH_HEAPS_IN_MAX such heaps are there.
 *
 * What is lost: one part in 65 for bitmaps, which are written now, and up to
 * 512 bytes; each block is rounded up to 16 bytes.  A block may be as large as
 * the rest.  Freed neighbours are one free piece at once, and memory is full
 * when no piece is large enough: NULL.  What another call is about to take or
 * give back counts as taken.  Searching takes time in proportion to the memory
 * where it is nearly full: some 20 us for 16 MiB.
 *
 * The memory may be shared with children of fork (MAP_SHARED): then parent and
 * children share the heap.  A process that is killed within a call keeps the
 * one block it had in hand from the others for good.
 *
 * The memory is the heap's until ash_heap_destroy, or until a heap is created
 * at the same address again.  It may be a block of another heap: then it is the
 * heap's until that block is released or resized, or that heap is destroyed.
 * Memory that another such heap has already, otherwise than in one of its
 * blocks, is refused: NULL.  Memory must not be unmapped before the heap is
 * destroyed: nobody would tell us, and ash_release looks there.
 */
#define ASH_HEAPS_IN_MAX 1024
ash_heap *ash_heap_create_in(void *memory, size_t bytes);

/*
 * A heap for this process and the children it forks from now on: all see the
 * same blocks at the same addresses, any of them may allocate, and release
 * what another allocated.
 *
 * `capacity` bytes of address space are taken, in steps of 2 MiB, and for records
 * up to a sixth of that and 10 MiB; memory only where it is touched.  The heap does not
 * grow: when it is full, ash_heap_alloc gives NULL.  NULL here: no memory, the
 * address is taken, or capacity is 0; and always in libashlar-st.a, which has
 * no locked instructions.
 *
 * Who is alive is told by thread ids and /proc, and ends by exit, kill and exec;
 * ash_heap_destroy, in any thread, before exec gives all back at once, whatever /proc
 * tells.  A child of vfork may use the heap; its blocks may have the owner 32767.
 * So have the blocks of a child in another pid or time namespace, which takes the slower
 * route of threads without a record, and recovers nobody.
 *
 * A signal handler that forks must not return, in the child, into a call on a
 * shared heap that it interrupted: parent and child would both finish it.
 */
ash_heap *ash_heap_create_shared(size_t capacity, const struct ash_heap_options *options);

/*
 * The same in a file or memfd, which must be empty (a page of zeros counts as
 * empty, too), is made as long as needed, and may be closed afterwards.  Other
 * processes attach to it, at the same address, and it is there again after all
 * of them have ended: attaching recovers it.  Whoever attaches first after a
 * crash finds the heap as it was left, one block per ended thread at most in
 * doubt (ash_heap_recover).
 *
 * Of several processes or threads that do this at the same time one makes the
 * heap, and the others get NULL; nobody waits.  If the maker dies half-way, the
 * next one begins anew.  NULL leaves the file as it was, but where the disk
 * was full: then it has a page of zeros.
 *
 * Where it stands: options->address, or far from where the kernel puts mappings
 * by itself, between 0x110000000000 and 0x500000000000, by chance: other programs
 * hardly ever have anything there, so it can be attached.  A program that
 * chooses addresses itself best takes multiples of 1 GiB in the same range.
 *
 * The file is sparse: memory of the disk is taken where the heap is first
 * touched.  On a full disk (or tmpfs, or hugetlb quota) such a touch ends the
 * process by SIGBUS, in whatever call or program; only creating and attaching
 * take what they write beforehand, and give NULL.  options->allocate takes all
 * of it now: then only what ash_heap_trim and the rule of `retain` gave back can
 * be missing later (retain SIZE_MAX: nothing is).  A limit of file sizes
 * (RLIMIT_FSIZE) is told by SIGXFSZ, as for any file.
 */
ash_heap *ash_heap_create_file(int fd, size_t capacity, const struct ash_heap_options *options);

enum ash_attach {
	ASH_ATTACHED,
	ASH_ATTACH_NO_HEAP,  /* not a heap of this version, cut short or damaged  */
	ASH_ATTACH_TAKEN,    /* its addresses are in use in this process          */
	ASH_ATTACH_NO_MEMORY, /* the kernel refused, the disk is full, or what was
				 asked for cannot be: no capacity, a bad address  */
	ASH_ATTACH_UNFINISHED, /* somebody is making it right now, or died over it */
	ASH_ATTACH_NAMESPACE  /* made in another pid or time namespace             */
};
/*
 * NULL: *why (if why is not NULL) tells the reason.
 *
 * What the file says is not believed: each word that the allocator follows is
 * compared with what it must be, or must lead into the heap.  What cannot be told
 * is a changed bit that says taken or free, and what the program's own blocks
 * hold.  And whoever may write the file later, while it is attached, may do to
 * the processes that have it what he likes: attach only what your own programs
 * may write.
 */
ash_heap *ash_heap_attach_file(int fd, enum ash_attach *why);

/*
 * Attaches, or creates if the file is empty or was left half-made: what processes
 * call that start in any order.
 */
ash_heap *ash_heap_open_file(int fd, size_t capacity, const struct ash_heap_options *options,
			     enum ash_attach *why);

/*
 * The caller knows that no process has the heap of this file, as its namespaces
 * are gone (a container that was started anew): from now on the caller's are those
 * where one may attach.  False: not a heap of this version.  If a process of the other
 * ones has it still, blocks are given out twice.
 */
bool ash_heap_adopt_file(int fd);

/*
 * Gives everything back at once; blocks of the heap are gone, and so are heaps
 * inside them.  NULL is allowed.  A heap that is gone already is reported as misuse,
 * and so is any call for one of the last four heaps of ash_heap_create that were
 * destroyed; what else is used after its end, nobody knows.  No thread may
 * be in a call on this heap, nor this one in a call that a handler interrupted.  A heap shared by processes is taken out of
 * this process only, with what its threads held besides blocks; memory of the caller's is the caller's again, as far as
 * this process is concerned.
 */
void ash_heap_destroy(ash_heap *heap);

void *ash_heap_alloc(ash_heap *heap, size_t size) __attribute__((malloc, warn_unused_result));
void *ash_heap_zalloc(ash_heap *heap, size_t count, size_t size)
	__attribute__((malloc, warn_unused_result));
void *ash_heap_aligned_alloc(ash_heap *heap, size_t alignment, size_t size)
	__attribute__((malloc, warn_unused_result));

/* For blocks of this heap: one of another is reported as misuse. */
void *ash_heap_resize(ash_heap *heap, void *p, size_t size) __attribute__((warn_unused_result));
void ash_heap_release(ash_heap *heap, void *p);
void ash_heap_release_sized(ash_heap *heap, void *p, size_t size);
size_t ash_heap_usable_size(ash_heap *heap, const void *p);
size_t ash_heap_good_size(ash_heap *heap, size_t size);

size_t ash_heap_trim(ash_heap *heap, size_t keep);
void ash_heap_stats(ash_heap *heap, struct ash_stats *out);
int ash_heap_check(ash_heap *heap);

/*
 * ash_thread_detach for one heap.  A thread that ends without it leaves its
 * slabs to whoever needs memory next.
 */
void ash_heap_thread_detach(ash_heap *heap);

/* ---- heaps shared by processes; of the others, the answer for one process ---- */

/* One pointer by which to find one's data; NULL at first.  Set with release order. */
void *ash_heap_root(ash_heap *heap);
void ash_heap_set_root(ash_heap *heap, void *root);

/*
 * Takes over what ended threads and processes held, besides their blocks:
 * their slabs, and memory that they were about to set up.  Also done when the
 * heap would otherwise return NULL.  Returns the number of records taken over.
 */
size_t ash_heap_recover(ash_heap *heap);

struct ash_heap_owner {
	uint64_t id;  /* for ash_heap_release_owner; 0: nobody knows, see ash_heap_walk;
			 32767: one who came when 32766 others had blocks or lived       */
	int pid;      /* process id; may be another process's by now, if not live      */
	bool live;
};

/*
 * Calls visit for every taken block, with the process that allocated it, until
 * it returns other than 0; returns what it returned last.  Blocks that come and
 * go meanwhile may be seen or not.  Owner 0: a block that a process died over
 * before it was handed out, or that is being handed out right now.  A heap in
 * memory of the caller's knows only this, and says 1 of all others, with pid 0.
 */
int ash_heap_walk(ash_heap *heap,
		  int (*visit)(void *context, void *block, size_t size,
			       const struct ash_heap_owner *owner),
		  void *context);

/*
 * Releases every block of an owner, which must not be live; returns their
 * number.  Nobody else may release these blocks at the same time.
 */
size_t ash_heap_release_owner(ash_heap *heap, uint64_t owner);

#ifdef __cplusplus
}
#endif
#endif
