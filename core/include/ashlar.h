/* SPDX-License-Identifier: MIT */
/*
 * Ashlar: a memory allocator for Linux programs without a libc.
 *
 * Thread, signal and fork safety of every function here: it may be called from
 * any thread; from a signal handler (except ash_thread_detach), also one that
 * interrupted any of these functions on the same thread; and in a child of
 * fork, at once and without an atfork handler.  No function takes a lock or
 * waits for another thread.  Sizes are in bytes.
 *
 * Out of memory: the result is NULL; nothing is printed, and there is no errno
 * at this level.  Detected misuse (a pointer that is not the start of a live
 * block of Ashlar) prints one fixed line on file descriptor 2, which names the
 * function, the pointer and the fault, and executes a trap (SIGILL).
 *
 * Threads: a thread needs working thread-local storage (%fs) before its first
 * call, and should call ash_thread_detach before it ends.
 */
#ifndef ASHLAR_H
#define ASHLAR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ASH_VERSION_MAJOR 0
#define ASH_VERSION_MINOR 1
#define ASH_VERSION_PATCH 0

/*
 * Returns a block of at least `size` bytes with undefined contents.
 * Alignment: 16 for size >= 16, else 8.  Size 0 gives a unique block that must
 * be released like any other.  NULL: no memory, or size above PTRDIFF_MAX.
 */
void *ash_alloc(size_t size) __attribute__((malloc, warn_unused_result));

/*
 * Returns a block of count * size bytes, all of them zero.  NULL also if the
 * product overflows; otherwise as ash_alloc.  Memory that is known to read zero
 * is not cleared, so a large block costs only the pages that are written later.
 */
void *ash_zalloc(size_t count, size_t size) __attribute__((malloc, warn_unused_result));

/*
 * As ash_alloc, with the block aligned to `alignment`, a power of two up to
 * 1 GiB.  NULL also for any other alignment.  The block is released like any other.
 */
void *ash_aligned_alloc(size_t alignment, size_t size)
	__attribute__((malloc, warn_unused_result));

/*
 * Changes the size of block p and returns the block, whose address may have
 * changed.  The contents are kept up to the smaller of the two sizes; the rest
 * is undefined.  p == NULL: as ash_alloc.  Size 0: the block stays a unique
 * block.  NULL: no memory, or size above PTRDIFF_MAX; then p is unchanged.
 * Alignment: that of ash_alloc, also for blocks of ash_aligned_alloc.
 */
void *ash_resize(void *p, size_t size) __attribute__((warn_unused_result));

/*
 * Releases the block.  NULL is allowed.  Any thread may release a block that
 * any other thread allocated.  A second release is always reported as misuse,
 * unless the memory has been allocated again in between.
 */
void ash_release(void *p);

/*
 * As ash_release, with a check: a size above ash_usable_size(p), which cannot be
 * the one that was requested, is reported as misuse.  (C23: free_sized.)
 */
void ash_release_sized(void *p, size_t size);

/*
 * Returns the bytes that may be used at p, at least the requested size; 0 for
 * NULL.  A pointer that is not a live block is misuse.  (glibc: malloc_usable_size.)
 */
size_t ash_usable_size(const void *p);

/*
 * Returns the usable bytes that a block of this size would have; requesting that
 * many costs no more memory.  0 for sizes above PTRDIFF_MAX.  (jemalloc: nallocx.)
 */
size_t ash_good_size(size_t size);

/*
 * Gives free memory back to the system until at most `keep` bytes of it are
 * resident; ash_trim(0) gives back as much as possible.  Returns the bytes given
 * back.  Live blocks are not touched.  Free memory of other live threads, running
 * or not, is included, except for the slabs they currently allocate from (one for
 * each size class in use) and some empty slabs they retain.  In a signal handler
 * that interrupted a call, only memory outside of all slabs.  (glibc: malloc_trim.)
 */
size_t ash_trim(size_t keep);

/*
 * Gives up the calling thread's memory caches: its empty slabs go back to the
 * heap, the others to the next thread that needs memory.  Its blocks stay valid.
 * For the end of a thread; if the thread allocates later, it gets new ones.  Not
 * for signal handlers: the interrupted call may be using what is given up.
 */
void ash_thread_detach(void);

/*
 * A hook for the program to define, not to call.  A thread calls it, from inside
 * an allocation, when it first takes memory of the default heap (again after
 * ash_thread_detach), so that a runtime can arrange for ash_thread_detach.  It
 * may allocate.  The heaps of ashlar_heap.h do not call it.
 */
void ash_on_thread(void);

/*
 * A hook for the program to define: called when ash_alloc, ash_zalloc,
 * ash_aligned_alloc or ash_resize is about to return NULL, except for blocks of the
 * heaps of ashlar_heap.h.  ash_resize may also call it and then return p, if it
 * found no memory for moving a block that shrinks.
 */
void ash_on_no_memory(void);

/*
 * Figures of the default heap, in bytes unless said otherwise.  They are counted
 * from the bitmaps during the call: exact if no other thread is in a call, else a
 * sum over slightly different moments.
 */
struct ash_stats {
	size_t reserved;   /* address space of the heap's chunks              */
	size_t slabs;      /* in slabs: runs of equal slots                   */
	size_t spans;      /* in spans: blocks above 1 MiB, in whole 2 MiB    */
	size_t blocks;     /* live blocks (a number)                          */
	size_t block_bytes;/* their bytes, as by ash_usable_size              */
	size_t pending;    /* blocks released by other threads, not yet reusable (a number) */
	size_t dirty;      /* free, in no slab or span, and possibly resident */
	size_t owners;     /* owner records: of live threads, and left by ended ones for
			      reuse (a number)                                */
};
void ash_stats(struct ash_stats *out);

/*
 * Compares every structure of the default heap with the bitmaps.  Returns 0 if
 * all agree, else the number of the first invariant that does not hold
 * (DESIGN.md, I1...In).  While other threads are in calls, structures that only
 * they may read are left out.
 */
int ash_check(void);

/* Returns the version of the linked library, as "0.1.0": a static string. */
const char *ash_version(void);

/*
 * Settings, fixed at link time: a program that defines `ash_defaults` itself
 * overrides them.  No environment variable is read.
 */
enum ash_huge { /* for which memory the kernel is advised to use huge pages */
	ASH_HUGE_DEFAULT, /* for blocks of 32 MiB and more that are not zeroed, and for
			     slabs beyond the first 32 MiB; against them for zeroed
			     blocks of 4 MiB and more; else the machine's setting */
	ASH_HUGE_NEVER,   /* for none, whatever the machine's setting         */
	ASH_HUGE_ALWAYS,  /* for everything                                   */
	ASH_HUGE_POPULATE /* the same, and blocks above 1 MiB that are not zeroed
			     are backed when allocated, not when touched      */
};
struct ash_defaults {
	size_t initial; /* bytes of address space reserved by the first call  */
	size_t cap;     /* most bytes of address space for blocks; 0: no cap  */
	/*
	 * Free bytes that may stay resident indefinitely.  If more are free, those
	 * that were not needed during 8192 slow operations are given back, until
	 * half of `retain` is left.
	 */
	size_t retain;
	enum ash_huge huge;
};
extern const struct ash_defaults ash_defaults;

#ifdef __cplusplus
}
#endif
#endif
