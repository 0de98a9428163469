/* SPDX-License-Identifier: MIT */
/*
 * Ashlar: a memory allocator for Linux programs without a libc.
 *
 * Every function here may be called from any thread, and (ash_thread_detach
 * excepted) from a signal handler that interrupted any of them on the same
 * thread.  A child of fork may call all of them at once; there is no atfork
 * handler to install.  None takes a lock and none waits for another thread.
 * Sizes are in bytes.
 *
 * Out of memory is NULL; nothing is printed and no errno exists at this
 * level.  Misuse that is detected (a pointer that is not the start of a live
 * block of Ashlar) prints one fixed line on file descriptor 2 that names the
 * function, the pointer and the fault, and ends in a trap (SIGILL).
 *
 * Threads: each thread needs working thread-local storage (%fs) before its
 * first call, and should call ash_thread_detach before it ends.
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
 * A block of at least `size` bytes; its contents are undefined.
 * Alignment: 16 for size >= 16, 8 below.  Size 0 gives a unique block that
 * can be released.  NULL: no memory, or size above PTRDIFF_MAX.
 */
void *ash_alloc(size_t size) __attribute__((malloc, warn_unused_result));

/*
 * A block of count * size bytes, every one of them zero.  NULL when the
 * product overflows, else as ash_alloc.  Memory that is known to be zero is
 * not cleared, so large blocks cost only the pages that are written later.
 */
void *ash_zalloc(size_t count, size_t size) __attribute__((malloc, warn_unused_result));

/*
 * As ash_alloc, aligned to `alignment`: a power of two up to 1 GiB (anything
 * else: NULL).  The block is released like any other.
 */
void *ash_aligned_alloc(size_t alignment, size_t size)
	__attribute__((malloc, warn_unused_result));

/*
 * The block p with a new size: contents kept up to the smaller of the two
 * sizes, the rest undefined; the address may change.  p == NULL: ash_alloc.
 * Size 0 keeps a unique block.  NULL: no memory, or size above PTRDIFF_MAX;
 * then p is as it was.
 * Alignment is that of ash_alloc, also for blocks of ash_aligned_alloc.
 */
void *ash_resize(void *p, size_t size) __attribute__((warn_unused_result));

/*
 * Gives the block back.  NULL is allowed.  Any thread may release a block of
 * any other.  A second release of a block is reported, exactly, as long as
 * its slot has not been handed out again.
 */
void ash_release(void *p);

/*
 * The same for callers that know the size they asked for; it is checked: a
 * size that the block cannot have been asked for (above ash_usable_size) is
 * reported as misuse.
 */
void ash_release_sized(void *p, size_t size);

/* Bytes that may be used at p, at least the size asked for; 0 for NULL. */
size_t ash_usable_size(const void *p);

/*
 * Bytes that a block of this size would really have: asking for that much
 * costs no more.  0 for sizes above PTRDIFF_MAX.
 */
size_t ash_good_size(size_t size);

/*
 * Gives free memory back to the system until at most `keep` bytes of it are
 * left resident; ash_trim(0) gives back all that can be.  Returns the bytes
 * given back.  Live blocks are not touched.  Of other live threads, asleep or
 * not, what is free goes, too, but for the slabs that they allocate from now (one
 * for each size class that they use) and some empty ones that they keep.
 */
size_t ash_trim(size_t keep);

/*
 * The calling thread gives up what it holds: its empty slabs go back to the
 * heap, the others wait for the next thread.  For the end of a thread; a
 * later call of the same thread starts anew.  Not for signal handlers: the
 * call they interrupt may have what is given up in its hands.
 */
void ash_thread_detach(void);

/*
 * For programs to define, not to call: each thread calls it once it holds
 * something that ash_thread_detach gives up, from inside its allocation.
 * It may allocate.  This is where a runtime notes that it has to detach.
 */
void ash_on_thread(void);

/*
 * The same: called when ash_alloc, ash_zalloc, ash_aligned_alloc or ash_resize
 * is about to return NULL, but for blocks of the heaps of ashlar_heap.h.
 */
void ash_on_no_memory(void);

/*
 * Figures of the heap, in bytes unless said otherwise.  Counted from the
 * bitmaps at the time of the call: exact when no other thread is at work, a
 * sum over slightly different moments otherwise.
 */
struct ash_stats {
	size_t reserved;   /* address space of the heap's chunks              */
	size_t slabs;      /* held by slabs                                   */
	size_t spans;      /* held by spans (blocks above 1 MiB)              */
	size_t blocks;     /* taken blocks (a number)                         */
	size_t block_bytes;/* their bytes, as ash_usable_size counts them     */
	size_t pending;    /* released by other threads, not yet collected (a number) */
	size_t dirty;      /* free and no slab's, but perhaps still backed by memory */
	size_t owners;     /* owner records, one a live thread at most (a number) */
};
void ash_stats(struct ash_stats *out);

/*
 * Walks every structure of the heap and compares it with the bitmaps.
 * Returns 0 when all agree, else the number of the first invariant that does
 * not hold (DESIGN.md, I1...In).  Other threads may be at work: what only
 * they may look at is then left out.
 */
int ash_check(void);

/* "0.1.0": the version of the library that is linked. */
const char *ash_version(void);

/*
 * Defaults, fixed at link time: a program that defines `ash_defaults` itself
 * overrides them.  No environment variable is read.
 */
enum ash_huge {
	ASH_HUGE_DEFAULT, /* blocks of 32 MiB and more that are not zeroed, and small
			     ones once there are 32 MiB of them; never zeroed blocks */
	ASH_HUGE_NEVER,   /* advised against: none, whatever the machine's setting */
	ASH_HUGE_ALWAYS,  /* everything                                       */
	ASH_HUGE_POPULATE /* the same, and blocks above 1 MiB that will be filled
			     get their memory when allocated, not when touched */
};
struct ash_defaults {
	size_t initial; /* bytes of address space reserved by the first call  */
	size_t cap;     /* most bytes of address space for blocks; 0: no cap  */
	/*
	 * Free bytes that stay resident for good.  More stays for a while: what
	 * nobody needed throughout 8192 slow operations goes then.
	 */
	size_t retain;
	enum ash_huge huge;
};
extern const struct ash_defaults ash_defaults;

#ifdef __cplusplus
}
#endif
#endif
