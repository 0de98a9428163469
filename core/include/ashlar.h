/* SPDX-License-Identifier: MIT */
/*
 * Ashlar: a memory allocator for Linux programs without a libc.
 *
 * Thread, signal and fork safety of every function here: it may be called from any thread; from a
 * signal handler (except ash_thread_detach), also one that interrupted any of these functions on
 * the same thread; and in a child of fork or vfork, at once and without an atfork handler.  No
 * function takes a lock or waits for another thread.  Sizes are in bytes.
 *
 * Out of memory: the result is NULL; nothing is printed, and there is no errno at this level.
 * Detected misuse (a pointer that is not the start of a live block of Ashlar) prints one fixed
 * line on file descriptor 2, which names the function, the pointer, the fault and the block
 * around the pointer; calls ash_on_misuse; and ends the process by SIGABRT (where there is no Linux
 * to ask, or a filter refuses the call, by a trap, SIGILL).  A pointer with a tag in its top byte (aarch64: top byte
 * ignore) is another address, and so reported as foreign: remove the tag first.
 *
 * System calls: after the process's first call, mmap, munmap, mremap and madvise are all that
 * allocations, releases, resizes and ash_thread_detach make; README.md has those of the others.
 * No function of a C library makes them (malloc's products: ashlar_malloc.h): a cache of registered memory (MPI, RDMA)
 * that patches those is not told that a block's pages have gone back.
 *
 * Threads: a thread needs working thread-local storage (%fs) before its first call, else that is a
 * SIGSEGV (ashlar_start.h sets it up: ashlar_tls_init, ashlar_tls_check), and should call
 * ash_thread_detach before it ends.  What others hold that did not is reused when the heap grows,
 * once a thread has its thread-local storage at the same address, or that is unmapped (of clone
 * without CLONE_THREAD: never); or by ash_trim.  Likewise in a child of fork, if the thread that
 * forked had made no call before; before Linux 4.14 never.  A call that a handler leaves by longjmp, or
 * that a killed child of vfork was in, keeps a slot or a slab's units, and its thread is slower then.
 */
#ifndef ASHLAR_H
#define ASHLAR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ASH_VERSION_MAJOR 1
#define ASH_VERSION_MINOR 0
#define ASH_VERSION_PATCH 0

/*
 * Returns a block of at least `size` bytes with undefined contents.
 * Alignment: 16 for size >= 16, else 8.  Size 0 gives a unique block that must
 * be released like any other.  NULL: no memory, or size above PTRDIFF_MAX.  Memory for a
 * block above 32 MiB is asked for as by malloc elsewhere: what the kernel would not promise
 * (vm.overcommit_memory; by default what exceeds all of RAM and swap) is refused, unless
 * ash_defaults.sparse is set.
 */
void *ash_alloc(size_t size) __attribute__((malloc, warn_unused_result));

/*
 * Returns a block of count * size bytes, all of them zero.  NULL also if the product overflows;
 * otherwise as ash_alloc, promises included.  Memory that is known to read zero is not cleared, so a
 * large block costs only the pages that are written later.  That holds unless madvise, which is tried
 * once, later does nothing and answers 0 (a filter of system calls could do so): old bytes may show.
 */
void *ash_zalloc(size_t count, size_t size) __attribute__((malloc, warn_unused_result));

/*
 * As ash_alloc, with the block aligned to `alignment`, a power of two up to
 * 1 GiB.  NULL also for any other alignment.  The block is released like any other.
 */
void *ash_aligned_alloc(size_t alignment, size_t size)
	__attribute__((malloc, warn_unused_result));

/* The same, with all bytes of the block zero; cleared only as in ash_zalloc. */
void *ash_aligned_zalloc(size_t alignment, size_t size)
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
 * The same with a result aligned to `alignment`, as by ash_aligned_alloc; p may have any
 * alignment.  NULL also if ash_aligned_alloc would not accept the alignment.
 */
void *ash_aligned_resize(void *p, size_t alignment, size_t size)
	__attribute__((warn_unused_result));

/*
 * Changes the size of block p without moving it.  Returns its usable bytes then, at least
 * `size`; 0: not possible now, and the block is unchanged, or size above PTRDIFF_MAX, or p is
 * NULL.  A size up to ash_usable_size(p) always succeeds, and gives memory back if the block is
 * above 1 MiB.  A block above 32 KiB that the calling thread allocated may grow, up to 2 MiB, if
 * what follows it is free.  The contents are kept as in ash_resize.  ash_on_no_memory is not called.
 * (jemalloc: xallocx; mimalloc: mi_expand.)
 */
size_t ash_expand(void *p, size_t size);

/*
 * Releases the block.  NULL is allowed.  Any thread may release a block that any other thread
 * allocated.  A second release is reported as misuse, unless the memory has been allocated again in
 * between.  If the thread that allocated a block and another one release it at the same moment, the
 * report comes late, or not at all if the memory is allocated again before.  A thread that is
 * stopped for good in a release may hide later ones into that slab until memory runs out or ash_trim.
 * The caller undoes what was done to the block's pages (mprotect, mlock, MADV_DONTFORK) before: the next block
 * there meets what is left.
 */
void ash_release(void *p);

/*
 * As ash_release, with a check: a size above ash_usable_size(p), which cannot be
 * the one that was requested, is reported as misuse; from 4 GiB on mostly.  (C23: free_sized.)
 */
void ash_release_sized(void *p, size_t size);

/*
 * The same with another check: an alignment that is no power of two, or that p does not have,
 * is reported as misuse.  (C23: free_aligned_sized.)
 */
void ash_release_aligned_sized(void *p, size_t alignment, size_t size);

/*
 * Returns the bytes that may be used at p, at least the requested size; 0 for
 * NULL.  A pointer that is not a live block is misuse.  (glibc: malloc_usable_size.)
 */
size_t ash_usable_size(const void *p);

/*
 * Returns the usable bytes that a block of this size has (above 32 KiB where addresses are short, as by RLIMIT_AS:
 * one that requests so many; where no memory is left, one may have more); requesting them costs no more memory.  0 above PTRDIFF_MAX.  (jemalloc: nallocx.)
 */
size_t ash_good_size(size_t size);

/*
 * Gives free memory back to the system until at most `keep` bytes of it are
 * resident; ash_trim(0) gives back as much as possible.  Returns the bytes given
 * back.  Live blocks are not touched.  Free memory of other live threads, running
 * or not, is included, except for the slabs they currently allocate from and some empty slabs
 * they retain: together up to some 2 MiB a thread, a quarter of a MiB where threads are more
 * than 16.  In a signal handler that interrupted a call, only memory outside of all slabs.  Records
 * stay: 25 KiB for each 2 MiB that small blocks had.  Memory that is locked (mlockall) goes by
 * regions, which are unmapped, and blocks above 1 MiB take whole 2 MiB then.  (glibc: malloc_trim.)
 * libashlar-small.a: whole free pages between blocks, and of each thread's pools their addresses if they are empty.
 * Except in libashlar_malloc, asks by unshare, which changes nothing, whether the caller is the
 * only thread that uses its memory; then what all others held is free, detached or not.
 */
size_t ash_trim(size_t keep);

/*
 * ash_trim(0) in steps, for a program that waits for events: each call looks at a part of the heap and
 * gives back what is free there.  Returns about how many bytes of address space this round has still to
 * look at; 0: the round is done, nothing is left to give back but what was freed behind it, and the next
 * call begins another.  A loop that calls it until then ends, whatever other threads do.
 *
 * budget: bytes.  2 MiB of the heap that have slabs (blocks up to 1 MiB) cost 2 MiB, others 16 KiB, and
 * what was due to go anyway 8 MiB, of which so many then go.  A call looks at one such part at least, and
 * at no further one once the budget is spent.  In each it examines 64 slabs at most, and makes 1100
 * system calls at most: madvise, mostly 1 to 64, and 260 where every other page is free.  The last
 * call of a round also unmaps each free region, and the first one in a child of fork takes over what the
 * parent's threads had.  Of threads that ended without ash_thread_detach it finds those that a heap that
 * grows does; it makes no unshare.  Threads may share a round.  In libashlar-small.a one call is ash_trim(0).
 */
size_t ash_trim_step(size_t budget);

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
 * A hook for the program to define: called when ash_alloc, ash_zalloc, ash_aligned_alloc,
 * ash_aligned_zalloc, ash_resize or ash_aligned_resize is about to return NULL, except for
 * blocks of the heaps of ashlar_heap.h.  The latter two may also call it and then return p, if
 * there was no memory to move a block that shrinks.
 */
void ash_on_no_memory(void);

/*
 * A hook for the program to define: called once in the life of a process, when misuse, or
 * damage to Ashlar's records, was detected and the line written.  line: ash_last_words.
 * It may print a backtrace and should end the process; if it returns, the process ends as
 * without it.  It runs in the midst of the misused call, perhaps in a signal handler: it
 * may call the functions of this header, but what it allocates may fail.  A program that
 * preloads libashlar_malloc.so must export it (-rdynamic).
 */
void ash_on_misuse(const char *line);

/*
 * The line that was written, for debuggers, and for daemons without standard error; empty
 * until then, and NUL-terminated.  The line goes to file descriptor 2 only if this is the
 * file that it was when the default heap got its first memory, a terminal or another
 * character device, a pipe, or open for appending: a data file or socket that was given the
 * number of a closed standard error gets nothing.  Standard error that was redirected to
 * an ordinary file since then gets nothing either.
 */
#define ASH_LAST_WORDS 256
extern char ash_last_words[ASH_LAST_WORDS];

/* What memory an address lies in, see ash_find. */
enum ash_place {
	ASH_FOREIGN, /* not Ashlar's: on a stack, a static object, of another allocator, ... */
	ASH_RECORDS, /* in the default heap's own records                                    */
	ASH_UNUSED,  /* in memory of a heap that no block has, or that is left behind one    */
	ASH_FREE,    /* in a slot that holds no block now                                    */
	ASH_TAKEN    /* in a live block                                                      */
};
struct ash_block {
	enum ash_place place;
	unsigned row;  /* of ash_stats_class                                              */
	char *start;   /* of the block or slot; ASH_UNUSED: of the last one before the
			  address, if that is known; else NULL, and all that follows is 0 */
	size_t size;   /* its bytes, as by ash_usable_size                                */
	size_t offset; /* of the address from start                                       */
	int thread;    /* id of the live thread to which the slot's slab belongs: mostly
			  the one that allocated the block; 0: none, or unknown, as others
			  than the caller are known from their own calls of ash_find      */
	struct ash_heap *heap; /* see ashlar_heap.h; NULL: the default heap               */
	uint64_t owner;	/* of a live block: ash_heap_owner.id, see ash_heap_walk; else 0  */
};

/*
 * Finds what memory any address lies in; returns out->place.  No address is misuse, and nothing
 * is read at it.  It takes no memory and waits for no thread.  The answer is exact while the
 * block lives; about memory that others allocate or release at the same time it was right at
 * some moment of the call, or is ASH_UNUSED if that memory changed its use too often.
 */
enum ash_place ash_find(const void *p, struct ash_block *out);

/*
 * Figures of one size class of the default heap, counted as by ash_stats.  Each call looks
 * over all slabs: a millisecond for each GiB or so.
 */
struct ash_class {
	size_t size;    /* bytes of a slot; 0: the row of blocks above 1 MiB (spans)       */
	size_t slabs;   /* slabs, or spans (a number)                                      */
	size_t bytes;   /* of address space in these                                       */
	size_t slots;   /* blocks for which there is room in them (a number)               */
	size_t taken;   /* live blocks (a number)                                          */
	size_t pending; /* released by other threads, not yet reusable (a number)          */
};
/* Rows are numbered from 0, by size; the last one is that of spans.  Returns 1, or 0 if there is no such row; libashlar-small.a has none. */
int ash_stats_class(unsigned row, struct ash_class *out);

/*
 * Figures of the default heap, in bytes unless said otherwise.  They are counted
 * from the bitmaps during the call: exact if no other thread is in a call, else a
 * sum over slightly different moments.
 */
struct ash_statistics {
	size_t reserved;   /* address space of the heap's chunks              */
	size_t slabs;      /* in slabs: runs of equal slots                   */
	size_t spans;      /* in spans: blocks above 1 MiB, in whole 2 MiB    */
	size_t blocks;     /* live blocks (a number)                          */
	size_t block_bytes;/* their bytes, as by ash_usable_size              */
	size_t pending;    /* blocks released by other threads, not yet reusable (a number) */
	size_t dirty;      /* free, in no slab or span, and possibly resident */
	size_t owners;     /* owner records: of threads, and left by ended ones for reuse (a number) */
	/* The most so far, but for what two threads took at once; 0 in libashlar-small.a and of heaps in arrays. */
	size_t peak_used;  /* of slabs and spans                              */
	size_t peak_kept;  /* of these and dirty: what can have been resident */
	size_t peak_reserved;
};
void ash_stats(struct ash_statistics *out);

/* The slabs of one thread in these figures, in bytes unless said otherwise. */
struct ash_thread_stats {
	const void *thread; /* its thread pointer: pthread_self of glibc and musl; NULL: none that lives */
	size_t slabs, blocks, block_bytes, pending; /* as in ash_statistics                             */
};
/*
 * Calls row(context, figures) for each thread that has slabs, and for what ended ones and none have:
 * one row or more.  Blocks above 1 MiB are no thread's.  `row` may call Ashlar's functions; threads that
 * start meanwhile may have no row, and one that ended without ash_thread_detach may seem to live.
 * libashlar-small.a: all blocks in one, and no slabs.
 */
void ash_stats_threads(void (*row)(void *context, const struct ash_thread_stats *figures), void *context);

/*
 * Compares every structure of the default heap with the bitmaps.  Returns 0 if
 * all agree, else the number of the first invariant that does not hold
 * (DESIGN.md, I1...In).  While other threads are in calls, structures that only
 * they may read are left out.
 */
int ash_check(void);

/* Returns the version of the linked library, as "1.0.0": a static string. */
const char *ash_version(void);

/*
 * Settings, fixed at link time: a program that defines `ash_defaults` itself
 * overrides them.  Only the malloc products read the environment, see ashlar_malloc.h.
 */
enum ash_huge { /* for which memory the kernel is advised to use huge pages */
	ASH_HUGE_DEFAULT, /* for blocks of 32 MiB and more that are not zeroed, and for
			     slabs beyond the first 48 MiB; against them for zeroed
			     blocks of 4 MiB and more; else the machine's setting */
	ASH_HUGE_NEVER,   /* for none, whatever the machine's setting         */
	ASH_HUGE_ALWAYS,  /* for everything                                   */
	ASH_HUGE_POPULATE /* the same, and blocks above 1 MiB that are not zeroed
			     are backed when allocated, not when touched      */
};
struct ash_defaults {
	size_t initial; /* bytes of address space reserved by the first call  */
	size_t cap;     /* most bytes of address space for blocks, in whole pieces
			   of 2 MiB and at least one; 0: no cap               */
	/*
	 * How much free memory stays resident: a quarter of `retain`, or of what is in use if that
	 * is more; but of blocks with huge pages (ASH_HUGE_DEFAULT: from 32 MiB on) a sixteenth of
	 * what is in use.  What exceeds it is given back while it is released.  But if a program soon needs
	 * again what was given back, as much may stay from then on: until 8192 slow operations
	 * did not need it, and while that is more than a half of `retain`, some fast calls become slow ones.
	 * What 8192 slow operations did not need goes in each case, until a sixteenth of `retain` is
	 * left, or a quarter of what is in use.
	 * libashlar-small.a does not read it, initial and huge: what stays is 256 KiB for each of three ranges
	 * of sizes (up to 2032, 32 512 and 520 192 bytes) of each of at most eight sets of threads, and free
	 * pages between blocks until ash_trim.  Larger blocks are mappings of their own, which go when they are released.
	 */
	size_t retain;
	enum ash_huge huge;
	int sparse;     /* not 0: blocks above 32 MiB may be larger than what the kernel would
			   promise, see ash_alloc                             */
};
extern const struct ash_defaults ash_defaults;

#ifdef __cplusplus
}
#endif
#endif
