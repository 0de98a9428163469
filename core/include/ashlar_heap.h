/* SPDX-License-Identifier: MIT */
/*
 * Ashlar: heaps as objects.
 *
 * In addition to the default heap of ashlar.h a program may create heaps: to release all of a
 * subsystem's memory at once, to limit it, to place it in memory of the caller, or to share it with
 * other processes.
 *
 * Each function has the contract of its namesake in ashlar.h, including thread, signal and fork safety,
 * unless stated otherwise; functions without a namesake are as safe.  Any number of threads may use a
 * heap.  ash_release..., ash_resize, ash_aligned_resize, ash_expand and ash_usable_size accept blocks of
 * every heap; a resized block stays in its heap.
 *
 * This header includes its parts: ashlar_heap_file.h (heaps in files), ashlar_heap_slots.h (slots, names
 * and tags of blocks), ashlar_heap_view.h (views).
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
 * All members zero is a good choice.  A NULL pointer instead of the structure selects the values of
 * ash_defaults.
 */
struct ash_heap_options {
	size_t cap;         /* most bytes of address space for blocks, rounded up to 2 MiB; 0 means no
			       cap; shared heaps ignore it, because their capacity is the cap */
	size_t retain;      /* free bytes that may stay resident; 0 selects that of ash_defaults */
	enum ash_huge huge; /* see enum ash_huge; 0 is ASH_HUGE_DEFAULT                         */
	uintptr_t address;  /* shared heaps: the heap's address, a multiple of 2 MiB; 0: see
			       ash_heap_create_file */
	bool allocate;	    /* heaps in files: allocate the whole file now, see ash_heap_create_file */
	bool sparse;	    /* heaps of ash_heap_create: see ash_defaults                       */
	size_t limit;	    /* shared heaps: the largest capacity to which ash_heap_extend may raise
			       the heap, in bytes; 0 means the capacity */
	const char *layout; /* heaps in files: name of the program's data format, up to 63 bytes (a
			       longer name makes the call return NULL); NULL for no name */
	uint64_t layout_version; /* version of that format, or 0; attaching compares both       */
};

/*
 * Creates a heap of this process; the heap's blocks come from mappings of its own.  Returns NULL if
 * there is no memory.  Costs one mapping (the first heap: two), and two or three more for each thread
 * that allocates from the heap.  (mimalloc: mi_heap_new, which ties a heap to one thread.)
 *
 * The first 2 MiB (ash_defaults.initial) of each of the last four destroyed heaps stay mapped, and a
 * quarter of `retain` of these stays resident, until ash_trim or a lack of memory.  A new heap without
 * options gets them, so a heap for each request costs no system call.
 */
ash_heap *ash_heap_create(const struct ash_heap_options *options);

/*
 * Creates a heap inside memory of the caller (an array, a mapping), of 64 KiB or more, with any
 * alignment and any contents.  Makes no system call, now or later.  Returns NULL if the memory is too
 * small, `memory` is NULL or in use (see below), or there are ASH_HEAPS_IN_MAX such heaps.
 *
 * Overhead: 1/50 of the memory for bitmaps, which are written now (1/40 on 32 bits), and up to 256
 * bytes.  Block sizes are rounded up to 16 bytes, and blocks are aligned to 16.  A block may be as large
 * as the rest of the memory.  Adjacent free pieces merge at once.  An allocation takes the lowest free
 * piece that is large enough, and returns NULL if there is no such piece; the table in the comment on
 * libashlar-field.a (libashlar-field(3)) says how long the search takes.  Memory that another call is just taking or giving back counts as taken.
 *
 * The memory may be shared with children of fork (MAP_SHARED): then parent and children share the heap.
 * If a process is killed within a call, the one block that the call was working on is lost until the
 * heap is destroyed.
 *
 * The memory belongs to the heap until ash_heap_destroy, or until a heap is created at the same address
 * again.  The memory may be a block of another heap: then it belongs to the new heap until that block is
 * released or resized (also if the block shrinks in place and the heap would still fit), or the other
 * heap is destroyed.  Exception: thread A allocates a block of 64 KiB to 1 MiB, thread B creates the
 * heap in the block, and A releases the block.  Then the heap ends only when its records are
 * overwritten.
 *
 * The function returns NULL for memory that overlaps another such heap, unless the memory lies in one of
 * its blocks.  The memory must not be unmapped before the heap is destroyed, because Ashlar cannot
 * notice that and ash_release reads the memory.
 */
#define ASH_HEAPS_IN_MAX 1024
ash_heap *ash_heap_create_in(void *memory, size_t bytes);

/*
 * libashlar-field.a has these heaps and nothing else, for programs without a system: no system call, no
 * thread-local storage, no symbol from elsewhere, 0.3 KiB of data.  It also supports CPUs of 32 bits
 * that compare and swap 32 bits (make field ARCH=field32, tools/RECIPES.md).  Other CPUs (Cortex-M0,
 * RISC-V without A) will not be supported, because each step would have to mask interrupts there.  As
 * everywhere, calls may come from any thread, core, and signal or interrupt handler, at any moment, and
 * no call waits for another.  The library differs in these points:
 *
 * - It has, of this header: ash_heap_create_in, _destroy, _alloc, _zalloc, _aligned_alloc,
 *   _aligned_zalloc, _resize, _aligned_resize, _expand, _release, _release_sized,
 *   _release_aligned_sized, _usable_size, _good_size, _stats, _check, _walk, _root, _set_root; and
 *   _trim, _recover, _release_owner, _thread_detach, which find nothing to do.  It has, of ashlar.h:
 *   ash_on_misuse and ash_last_words.  Heaps are known by their handles alone: there is no ash_release,
 *   and there may be any number of heaps.
 * - The memory may have as little as 1024 bytes.  Memory that overlaps another heap's is not noticed.  A
 *   call on a destroyed heap is reported only while the heap's memory is unchanged.
 * - Misuse prints nothing: the line is in ash_last_words, ash_on_misuse is called with the line, and if
 *   that returns, a trap instruction ends the program (ARM: an undefined instruction, which on Cortex-M
 *   is a fault).
 *
 * The time of a call depends on the number of words of the heap's bitmap that it reads or writes.  The
 * bitmap has bytes / 520 words (32 bits: bytes / 260), and a block has one word for each 512 (256)
 * bytes:
 *
 *   alloc, zalloc, aligned_alloc   writes the block's words.  A tree of bytes over the words, 8
 *                                  (4) to each byte, leads to memory of up to 2032 bytes, or to NULL.
 *                                  Each word is read once at most.  Words are read where the tree is
 *                                  out of date, which the call corrects; for longer and aligned blocks,
 *                                  where free pieces of 2032 bytes and more are too short; and before
 *                                  NULL if another call on the heap is under way, or was killed
 *   release, usable_size           reads the block's words, and up to 9 (17) beside it; release writes them
 *   resize                         in place: the words of the longer block.  Otherwise like alloc, a
 *                                  copy of the block, and release
 *   create_in, check, stats, walk  each word once or twice; walk: and each block's
 *   good_size, root, destroy       no word
 *
 * x86_64: at most 500 instructions and, for each word, 250 if it is read in search of memory, else 80.
 * 1 MiB under churn of 8 to 4007 bytes: 660 to 810 instructions for a release and an alloc together, at
 * 50 to 90 % in use (asserted by tests/field).
 */

/*
 * Creates a heap for this process and the children that it forks from now on: all processes see the same
 * blocks at the same addresses, and any of them may allocate, and release blocks that another process
 * allocated.  Returns NULL if there is no memory, the address is taken or not a multiple of 2 MiB, or
 * capacity is 0.
 *
 * Reserves `capacity` bytes of address space, rounded up to 2 MiB, and for records up to a sixth of that
 * and 40 MiB (264 MiB where pages may have 64 KiB); memory is used only where it is touched.  When the
 * heap is full, ash_heap_alloc returns NULL (but see ash_heap_extend).  Threads claim memory in chunks
 * of 2 MiB, and no thread waits for another: a claimed chunk belongs to the claiming thread alone until
 * its call goes on, also while the thread is stopped in the call.  So make the capacity 2 MiB larger for
 * each thread that may claim a chunk at the same time; otherwise a call may return NULL a moment before
 * another thread publishes memory.
 *
 * The liveness of a process is tested by thread ids and /proc.  Exit, kill and exec end a process.  So
 * does a checkpoint from which the process is restored (CRIU), so destroy heaps before a checkpoint.
 * Without /proc a process is taken to live while its id exists (so exec does not end it), and namespaces
 * are not compared.  Nor is an exec of the program by itself noticed if addresses are not random.  In
 * each case ash_heap_destroy before exec, in any thread, gives up at once everything that the process
 * holds.
 *
 * 4096 threads have records of their own.  Further threads take a slower way (2300 instructions a pair
 * of calls instead of 135).  So may a child of vfork, whose blocks may have the owner 16383.  So does a
 * child in another pid or time namespace, whose blocks have that owner, and which cannot recover others.
 * If such a child is killed in a call, the block that the call was working on stays lost.
 *
 * System calls, besides those of README.md's table: unshare, getpid, gettid, getppid; open, read, close
 * and readlink in /proc; tkill with signal 0; mincore.
 *
 * A signal handler that forks must not return, in the child, into a call on a shared heap that the
 * handler interrupted, because parent and child would both complete the call.
 */
ash_heap *ash_heap_create_shared(size_t capacity, const struct ash_heap_options *options);

/*
 * Gives the whole heap back at once, with all its blocks and the heaps inside them.  `heap` may be NULL.
 * No thread may be in a call on this heap, and the caller must not be a handler that interrupted such a
 * call.
 *
 * A heap shared by processes is detached from this process only, and the threads of this process give up
 * everything that they held besides blocks.  Memory of the caller belongs to the caller again, as far as
 * this process is concerned.
 *
 * Costs one system call, or unmaps the part that does not stay mapped (ash_heap_create).
 *
 * Any call for one of the last four destroyed heaps of ash_heap_create is reported as misuse, and so is
 * destroying a heap whose address is not mapped any more.  Any other use of a destroyed heap or its
 * blocks is undefined.
 */
void ash_heap_destroy(ash_heap *heap);

/*
 * Like ash_alloc, ...; they return NULL also if the heap is full.  In memory of the caller zalloc always
 * clears.
 */
void *ash_heap_alloc(ash_heap *heap, size_t size) __attribute__((malloc, warn_unused_result));
void *ash_heap_zalloc(ash_heap *heap, size_t count, size_t size)
	__attribute__((malloc, warn_unused_result));
void *ash_heap_aligned_alloc(ash_heap *heap, size_t alignment, size_t size)
	__attribute__((malloc, warn_unused_result));
void *ash_heap_aligned_zalloc(ash_heap *heap, size_t alignment, size_t size)
	__attribute__((malloc, warn_unused_result));

/* These accept only blocks of this heap: a block of another heap is reported as misuse. */
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
 * Returns the heap of the block that contains the address p, or NULL for the default heap and for memory
 * that is not Ashlar's (ash_find distinguishes the two).  In memory of the caller the result is the
 * innermost heap that has a block there.  For an address in no live block, returns the heap whose memory
 * it is, or NULL.  Any address is allowed, and nothing is read at it.
 */
ash_heap *ash_heap_of(const void *p);

/*
 * Like ash_trim, ash_stats, ash_check.  In memory of the caller nothing is trimmed, and ash_heap_trim
 * returns 0; in heaps shared by processes it trims, of slabs, only those of the calling thread.
 * ash_heap_stats, ash_heap_check and ash_heap_walk break no seal (ash_heap_sync).
 */
size_t ash_heap_trim(ash_heap *heap, size_t keep);
void ash_heap_stats(ash_heap *heap, struct ash_statistics *out);
int ash_heap_check(ash_heap *heap);

/*
 * Like ash_thread_detach, for one heap.  If a thread ends without this call, or calls only
 * ash_thread_detach, its slabs in the heap are reused later, when memory is needed.
 */
void ash_heap_thread_detach(ash_heap *heap);

/* ---- for heaps shared by processes; other heaps behave as if shared by one process ---- */

/*
 * One pointer by which a process finds its data in the heap, at first NULL.  It is set with release
 * order and read with acquire order.  It is the slot of the name "" (ashlar_heap_slots.h).
 */
void *ash_heap_root(ash_heap *heap);
void ash_heap_set_root(ash_heap *heap, void *root);

/*
 * Takes over what ended threads and processes held besides their blocks: their slabs, and memory that
 * they were setting up.  Also done before a shared heap returns NULL.  Returns the number of owner
 * records taken over.
 *
 * One call gives back all of that, whatever living threads do during the call.  It leaves alone only the
 * memory that a living thread, working or stopped, is making or unmaking at that moment: at most two
 * chunks, or a block above 1 MiB, for each thread.
 *
 * The time of the call grows with the number of owner records, not with the heap.  But if a thread was
 * killed while it made or unmade slabs or blocks above 1 MiB, all chunks in use are searched once: some
 * 3 000 instructions for each 2 MiB, 1.5 million for each GiB, whichever threads have the blocks.
 */
size_t ash_heap_recover(ash_heap *heap);

struct ash_heap_owner {
	uint64_t id;  /* for ash_heap_release_owner; 0: unknown, see ash_heap_walk; 16383: unknown,
			 because 16382 other processes lived or had blocks, or see
			 ash_heap_create_shared */
	int pid;      /* process id; if not live, perhaps reused by another process     */
	bool live;
	unsigned char tag; /* the program's tag of the block, see ash_heap_alloc_tagged */
};

/*
 * Calls visit for each live block, with the process that allocated the block, until visit returns a
 * value other than 0; returns the last value.  visit may allocate and release blocks of this heap.
 * Blocks that are allocated, released or made larger during the walk may be missed.  Owner 0 means that
 * the block is just being handed out, or its process died while that was done.  A heap in memory of the
 * caller has only owner 0 and, for all other blocks, owner 1 and pid 0.  A heap of ash_heap_create has
 * owner 1, this process.
 *
 * If heap is NULL, the walk visits the default heap, also in libashlar_malloc, which has no other
 * function of this header.  That walk takes no memory and waits for no thread.  It visits each block
 * that lives throughout, unchanged, once; each visited block was live, at this address and of this size,
 * after the last visit had returned.
 */
int ash_heap_walk(ash_heap *heap,
		  int (*visit)(void *context, void *block, size_t size,
			       const struct ash_heap_owner *owner),
		  void *context);

/*
 * Releases every block of an owner that is not live; returns the number of blocks.  Returns 0 for a live
 * owner, for the ids 0 and 16383, and for heaps that are not shared.  No other thread may release these
 * blocks at the same time.
 */
size_t ash_heap_release_owner(ash_heap *heap, uint64_t owner);

/*
 * Raises the capacity of a heap shared by processes to at least this many bytes, while other threads
 * work in the heap: all processes have the new memory at once.  Returns false, and changes nothing, if
 * the capacity is above options->limit of the heap's creator; returns false for other heaps.
 *
 * Each process reserves addresses for the whole limit when it attaches, with 4 KiB of its own memory for
 * each GiB.  A file has the length of the limit from the beginning, as a hole.  The disk space of the
 * file is that of the touched memory, and ash_heap_trim gives back the free part.  options->allocate
 * covers only the first capacity.  If a thread is stopped in this call, the memory that it was adding
 * stays unavailable until the thread goes on, as in any call.
 */
bool ash_heap_extend(ash_heap *heap, size_t capacity);

#include "ashlar_heap_file.h"
#include "ashlar_heap_slots.h"
#include "ashlar_heap_view.h"

#ifdef __cplusplus
}
#endif
#endif
