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
 * ash_release..., ash_resize, ash_aligned_resize, ash_expand and ash_usable_size accept
 * blocks of every heap; a resized block stays in its heap.
 *
 * Parts of this header, which includes them: ashlar_heap_file.h (heaps in files),
 * ashlar_heap_slots.h (slots, names and tags of blocks), ashlar_heap_view.h (views).
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
	uintptr_t address;  /* shared heaps: its address, a multiple of 2 MiB; 0: as
			       ash_heap_create_file says                                        */
	bool allocate;	    /* heaps in files: allocate the whole file now, see there           */
	bool sparse;	    /* heaps of ash_heap_create: see ash_defaults                       */
	size_t limit;	    /* shared heaps: the most that ash_heap_extend may make of them, in
			       bytes; 0: the capacity                                           */
	const char *layout; /* heaps in files: what the program keeps there, up to 63 bytes (NULL is
			       the result of a longer one), and */
	uint64_t layout_version; /* its number: compared when others attach; NULL, 0: none      */
};

/*
 * Creates a heap of this process; its blocks come from mappings of its own.
 * NULL: no memory.  Costs one mapping (the first heap: two), and two or three more
 * for each thread that allocates from it.  Of the last four heaps that were destroyed the first 2 MiB (ash_defaults.initial)
 * stay mapped, and of these a quarter of `retain` resident, until ash_trim or a lack of memory: a heap without options gets them, so
 * one for each request costs no system call.  (mimalloc: mi_heap_new, which ties a
 * heap to one thread.)
 */
ash_heap *ash_heap_create(const struct ash_heap_options *options);

/*
 * Creates a heap inside memory of the caller (an array, a mapping), of 64 KiB or
 * more, with any alignment and any contents.  No system call, now or later.  NULL:
 * too small, memory is NULL or in use (see below), or there are ASH_HEAPS_IN_MAX
 * such heaps.
 *
 * Overhead: 1/50 of the memory for bitmaps, which are written now (32 bits: 1/40), and up to
 * 256 bytes; block sizes are rounded up to 16 bytes, and blocks are aligned to 16.  A
 * block may be as large as the rest.  Adjacent free pieces merge at once; NULL is
 * returned if no piece is large enough.  Memory that another call is just taking
 * or giving back counts as taken.  The lowest piece that is large enough is taken;
 * how long that takes stands below.
 *
 * The memory may be shared with children of fork (MAP_SHARED): then parent and
 * children share the heap.  If a process is killed within a call, the one block
 * that the call was working on is lost until the heap is destroyed.
 *
 * The memory belongs to the heap until ash_heap_destroy, or until a heap is
 * created at the same address again.  It may be a block of another heap: then it
 * belongs to the heap until that block is released or resized (also if it shrinks in
 * place and the heap would still fit), or that heap is destroyed.  Memory that overlaps
 * another such heap, other than by lying in one of its blocks, is refused: NULL.  If another thread
 * than the block's made the heap, in a block of 64 KiB to 1 MiB, a release of the block by its own thread
 * ends the heap only when its records are overwritten.  The memory must not be unmapped before
 * the heap is destroyed: Ashlar cannot notice that, and ash_release reads it.
 */
#define ASH_HEAPS_IN_MAX 1024
ash_heap *ash_heap_create_in(void *memory, size_t bytes);

/*
 * libashlar-field.a has these heaps and nothing else, for programs without a system: no
 * system call, no thread-local storage, no symbol from elsewhere, 0.3 KiB of data.  Also for
 * CPUs of 32 bits that compare and swap 32 bits (make field ARCH=field32, tools/RECIPES.md); there
 * will be none for others (Cortex-M0, RISC-V without A), where each step would mask interrupts.
 * As everywhere, calls may come from any thread, core, and signal or interrupt handler, at
 * any moment; none waits for another.  What is different there:
 *
 * - It has, of this header: ash_heap_create_in, _destroy, _alloc, _zalloc, _aligned_alloc,
 *   _aligned_zalloc, _resize, _aligned_resize, _expand, _release, _release_sized,
 *   _release_aligned_sized, _usable_size, _good_size, _stats, _check, _walk, _root,
 *   _set_root; and _trim, _recover, _release_owner, _thread_detach, which find nothing to do.
 *   Of ashlar.h: ash_on_misuse and ash_last_words.  A heap is known by its handle alone: there
 *   is no ash_release, and any number of heaps.
 * - The memory may have as little as 1024 bytes.  Memory that overlaps another heap's is not
 *   noticed.  A call on a destroyed heap is reported only while its memory is unchanged.
 * - Misuse prints nothing: the line is in ash_last_words, ash_on_misuse is called with it,
 *   and if that returns, a trap instruction ends the program (ARM: an undefined instruction,
 *   which on Cortex-M is a fault).
 *
 * What a call takes, by the words of the heap's bitmap; of these there are bytes / 520 (32 bits:
 * bytes / 260), and a block has one for each 512 (256) bytes:
 *
 *   alloc, zalloc, aligned_alloc   writes the block's words.  A tree of bytes over the words, 8
 *                                  (4) to each byte, leads to memory of up to 2032 bytes, or to NULL.
 *                                  At most it reads each word once: where earlier calls left promises
 *                                  that do not hold, which it corrects; for longer and aligned blocks,
 *                                  where free pieces of 2032 bytes and more are too short; and before
 *                                  NULL if another call on the heap is under way, or was killed
 *   release, usable_size           reads the block's words, and up to 9 (17) beside it; release writes them
 *   resize                         in place: the words of the longer block.  Else as alloc,
 *                                  a copy of the block, and release
 *   create_in, check, stats, walk  each word once or twice; walk: and each block's
 *   good_size, root, destroy       no word
 *
 * x86_64: at most 500 instructions and, for each word read in search of memory, 250, else 80;
 * 1 MiB under churn of 8 to 4007 bytes: 660 to 810 for a release and an alloc together, at 50 to
 * 90 % in use (asserted by tests/field).
 */

/*
 * Creates a heap for this process and the children it forks from now on: all see
 * the same blocks at the same addresses, and any of them may allocate, and release
 * what another allocated.
 *
 * Reserves `capacity` bytes of address space, rounded up to 2 MiB, and for records
 * up to a sixth of that and 40 MiB (264 where pages may have 64 KiB); memory is used only where it is touched.  When the
 * heap is full, ash_heap_alloc returns NULL (but see ash_heap_extend).  Memory is claimed
 * in chunks of 2 MiB, and no thread waits for another: what a thread claims it has alone until
 * the call goes on, also if the thread is stopped there.  So leave room for as many chunks as
 * threads may claim one at a time, or a call finds none a moment before there is memory.
 *
 * NULL here: no memory, the address is taken or no multiple of 2 MiB, or capacity is 0.
 *
 * Whether a process lives is found out by thread ids and /proc; exit, kill and exec
 * end it; so does a checkpoint from which it is restored (CRIU), so destroy heaps before one.
 * Without /proc it lives while its id exists (so exec does not end it), and namespaces are not compared;
 * exec of a program by itself without random addresses is not noticed either.  ash_heap_destroy before
 * exec, in any thread, gives up at once what the process holds, in each case.
 *
 * 4096 threads have records of their own.  Further ones take a slower way (2300 instructions a pair of
 * calls instead of 135), as may a child of vfork, whose blocks may have the owner 16383, and a child in
 * another pid or time namespace, whose blocks have it, and which cannot recover others.  If such a
 * child is killed in a call, the block in its hand stays lost.
 *
 * System calls, besides those of README.md's table: unshare, getpid, gettid, getppid; open, read,
 * close and readlink in /proc; tkill with signal 0; mincore.
 *
 * A signal handler that forks must not return, in the child, into a call on a
 * shared heap that it interrupted: parent and child would both complete it.
 */
ash_heap *ash_heap_create_shared(size_t capacity, const struct ash_heap_options *options);

/*
 * Gives the whole heap back at once, with all its blocks and the heaps inside them.
 * NULL is allowed.  No thread may be in a call on this heap, nor may the caller be a
 * handler that interrupted one.
 *
 * A heap shared by processes is detached from this process only, and what its threads
 * held besides blocks is given up.  Memory of the caller belongs to the caller again,
 * as far as this process is concerned.
 *
 * Costs one system call, or unmaps what does not stay (ash_heap_create).
 *
 * Any call for one of the last four destroyed heaps of ash_heap_create is reported as
 * misuse, and so is destroying a heap whose address is not mapped any more.  Any other
 * use of a destroyed heap or its blocks is undefined.
 */
void ash_heap_destroy(ash_heap *heap);

/* As ash_alloc, ...; NULL also if the heap is full.  In memory of the caller zalloc always clears. */
void *ash_heap_alloc(ash_heap *heap, size_t size) __attribute__((malloc, warn_unused_result));
void *ash_heap_zalloc(ash_heap *heap, size_t count, size_t size)
	__attribute__((malloc, warn_unused_result));
void *ash_heap_aligned_alloc(ash_heap *heap, size_t alignment, size_t size)
	__attribute__((malloc, warn_unused_result));
void *ash_heap_aligned_zalloc(ash_heap *heap, size_t alignment, size_t size)
	__attribute__((malloc, warn_unused_result));

/* These accept blocks of this heap only: a block of another heap is reported as misuse. */
void *ash_heap_resize(ash_heap *heap, void *p, size_t size) __attribute__((warn_unused_result));
void *ash_heap_aligned_resize(ash_heap *heap, void *p, size_t alignment, size_t size)
	__attribute__((warn_unused_result));
/* In memory of the caller any block can take free memory that follows it, and give it back. */
size_t ash_heap_expand(ash_heap *heap, void *p, size_t size);
void ash_heap_release(ash_heap *heap, void *p);
void ash_heap_release_sized(ash_heap *heap, void *p, size_t size);
void ash_heap_release_aligned_sized(ash_heap *heap, void *p, size_t alignment, size_t size);
size_t ash_heap_usable_size(ash_heap *heap, const void *p);
size_t ash_heap_good_size(ash_heap *heap, size_t size);

/*
 * Returns the heap of the block that contains the address p; NULL: the default heap, or no
 * memory of Ashlar (ash_find distinguishes the two).  In memory of the caller it is the
 * innermost heap that has a block there.  An address in no live block: the heap whose memory it
 * is, or NULL.  No address is misuse, and nothing is read at it.
 */
ash_heap *ash_heap_of(const void *p);

/*
 * As ash_trim, ash_stats, ash_check.  Nothing is trimmed in memory of the caller: 0; in heaps shared
 * by processes, of slabs only those of the calling thread.  ash_heap_stats, ash_heap_check and
 * ash_heap_walk break no seal (ash_heap_sync).
 */
size_t ash_heap_trim(ash_heap *heap, size_t keep);
void ash_heap_stats(ash_heap *heap, struct ash_statistics *out);
int ash_heap_check(ash_heap *heap);

/*
 * As ash_thread_detach, for one heap.  If a thread ends without it, or calls only
 * ash_thread_detach, its slabs in the heap are reused later, when memory is needed.
 */
void ash_heap_thread_detach(ash_heap *heap);

/* ---- for heaps shared by processes; other heaps behave as if shared by one process ---- */

/*
 * One pointer by which a process finds its data in the heap; NULL at first.  Set
 * with release order, read with acquire order.  It is the slot of the name ""
 * (ashlar_heap_slots.h).
 */
void *ash_heap_root(ash_heap *heap);
void ash_heap_set_root(ash_heap *heap, void *root);

/*
 * Takes over what ended threads and processes held besides their blocks: their
 * slabs, and memory that they were setting up.  Also done before a shared heap
 * returns NULL.  Returns the number of owner records taken over.
 *
 * One call gives back all of that, whatever living threads do meanwhile: only what each of them, working
 * or stopped, is making or unmaking at that moment is left alone, at most two chunks, or a block above 1 MiB.
 *
 * Its time grows with the number of owner records, not with the heap.  But if a thread was
 * killed while it made or unmade slabs or blocks above 1 MiB, all chunks in use are searched
 * once: some 3 000 instructions for each 2 MiB, 1.5 million for each GiB, whoever has the blocks.
 */
size_t ash_heap_recover(ash_heap *heap);

struct ash_heap_owner {
	uint64_t id;  /* for ash_heap_release_owner; 0: unknown, see ash_heap_walk; 16383:
			 unknown, as 16382 other processes lived or had blocks, or see
			 ash_heap_create_shared                                         */
	int pid;      /* process id; if not live, perhaps reused by another process     */
	bool live;
	unsigned char tag; /* the program's, of the block: see ash_heap_alloc_tagged */
};

/*
 * Calls visit for each live block, with the process that allocated it, until visit returns a
 * value other than 0; returns the last value.  visit may allocate and release blocks of this
 * heap.  Blocks that are allocated, released or made larger during the walk may be missed.
 * Owner 0: the block is just being handed out, or its process died while that was done.  A heap in memory of
 * the caller has only owner 0 and, for all other blocks, owner 1 and pid 0.  A heap of
 * ash_heap_create: owner 1, this process.
 *
 * heap == NULL: the default heap, also in libashlar_malloc, which has no other function of
 * this header.  The walk takes no memory and waits for no thread.  Each block that lives
 * throughout, unchanged, is visited, once; each visited block was live, at this address and of this
 * size, after the last visit had returned.
 */
int ash_heap_walk(ash_heap *heap,
		  int (*visit)(void *context, void *block, size_t size,
			       const struct ash_heap_owner *owner),
		  void *context);

/*
 * Releases every block of an owner that is not live; returns their number.  0 for a
 * live owner, for the ids 0 and 16383, and for heaps that are not shared.  No other
 * thread may release these blocks at the same time.
 */
size_t ash_heap_release_owner(ash_heap *heap, uint64_t owner);

/*
 * Makes the capacity of a heap shared by processes at least this many bytes, while others work
 * in it: all processes have the new memory at once.  False: above options->limit of its
 * creator (nothing has changed), or another heap.  Each process reserves addresses for the
 * whole limit when it attaches, with 4 KiB of its own memory for each GiB; a file is as long from
 * the beginning, as a hole.  Its disk space is that of what was touched, and ash_heap_trim
 * gives back what is free.  (options->allocate: of the first capacity only.)  A thread that is
 * stopped in this call keeps what it was adding, as in any call.
 */
bool ash_heap_extend(ash_heap *heap, size_t capacity);

#include "ashlar_heap_file.h"
#include "ashlar_heap_slots.h"
#include "ashlar_heap_view.h"

#ifdef __cplusplus
}
#endif
#endif
