/* SPDX-License-Identifier: MIT */
/*
 * Ashlar: a memory allocator for Linux programs without a libc.
 *
 * Words: a slot is the memory of one block up to 1 MiB.  A slab is a run of equal slots.  A chunk is
 * 2 MiB of memory, in which there are slabs.  A block above 1 MiB is a span, which has whole chunks.  A
 * slow operation is a call that leaves the fast path.
 *
 * Thread, signal and fork safety: any thread may call any function here.  A signal handler may call any
 * function except ash_thread_detach, even if it interrupted one of these functions.  A child of fork or
 * vfork may call them at once; no atfork handler is needed.  No function takes a lock or waits for
 * another thread.  Sizes are in bytes.
 *
 * Out of memory: the function that allocates or resizes returns NULL (ash_expand: 0).  It prints nothing,
 * and sets no errno.
 *
 * Misuse: to pass a pointer that is not the start of a live block, or a size or alignment that the
 * block cannot have.  If Ashlar detects misuse, it prints one line to file descriptor 2 (but
 * see ash_last_words).  The line names the function, the pointer, the fault and, if known, the
 * block around the pointer.  Ashlar then calls ash_on_misuse and raises SIGABRT.  If a filter refuses
 * the signal, or there is no Linux, a trap instruction (SIGILL) ends the process.  A pointer with a tag
 * in its top byte (aarch64: top byte ignore) is another address and is reported as foreign: remove the
 * tag first.
 *
 * System calls: after the first call of the process, allocation, release, resizing and
 * ash_thread_detach make only the system calls mmap, munmap, mremap and madvise.  README.md lists the
 * system calls of the other functions.  Ashlar makes its system calls without the C library.  So a
 * cache of registered memory (MPI, RDMA), which patches the functions of the C library, does not learn
 * that pages were returned.  The products that replace malloc may call those functions
 * (ashlar_malloc.h).
 *
 * Threads: a thread needs working thread-local storage (%fs) before its first call; otherwise the call
 * ends in a SIGSEGV (ashlar_start.h sets the storage up: ashlar_tls_init, ashlar_tls_check).  A thread
 * should call ash_thread_detach before it ends.  A thread that ends without this call leaves its slabs
 * behind.  When the heap grows, it takes such slabs over if another thread has got thread-local storage
 * at the address of the ended thread's, or if the ended thread's storage was unmapped.  ash_trim takes
 * such slabs over, too.  A growing heap never takes over the slabs of a task that was created by clone
 * without CLONE_THREAD.  A child of fork takes over the slabs of the parent's other threads when it
 * next needs a slab, if the thread that forked had called Ashlar.  If not, the rules above hold for
 * these slabs, and on Linux older than 4.14 the child never takes them over.
 *
 * If a signal handler abandons an interrupted call by longjmp, or a child of vfork is killed in a call,
 * the memory of one block or of one slab is lost, and later calls of the interrupted thread, or of the
 * thread that called vfork, are slower.
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
 * Returns a block of at least `size` bytes with undefined contents, aligned to 16 if size is at least
 * 16, else to 8.  Size 0 gives a unique block that must be released like any other.  Returns NULL if
 * there is no memory or size is above PTRDIFF_MAX.  For a block above 32 MiB, Ashlar asks the kernel to
 * commit the memory, as other allocators do, and returns NULL if the kernel refuses
 * (vm.overcommit_memory; by default the kernel refuses more than all of RAM and swap).  If
 * ash_defaults.sparse is set, Ashlar does not ask.
 *
 * A block of 32 KiB to 1 MiB makes up to one page resident besides the pages that the program writes.
 * Under mlockall, memory for small blocks is added 2 MiB at a time, so up to 2 MiB of RLIMIT_MEMLOCK
 * may stay unused.
 */
void *ash_alloc(size_t size) __attribute__((malloc, warn_unused_result));

/*
 * Returns a block of count * size bytes, all of them zero.  Returns NULL also if the product overflows;
 * otherwise the contract of ash_alloc holds.  Memory that is known to read zero is not cleared, so a
 * large block costs only the pages that are written later.  Memory that madvise gave back counts as zero,
 * so Ashlar relies on madvise, and tests madvise once.  If a filter of system calls later makes madvise
 * return 0 without effect, the block may contain old bytes.
 */
void *ash_zalloc(size_t count, size_t size) __attribute__((malloc, warn_unused_result));

/*
 * Like ash_alloc, with the block aligned to `alignment`, a power of two up to 1 GiB.  Returns NULL also
 * for any other alignment.  The block is released like any other.
 */
void *ash_aligned_alloc(size_t alignment, size_t size)
	__attribute__((malloc, warn_unused_result));

/*
 * Like ash_aligned_alloc, with all bytes of the block zero.  Bytes are cleared only where ash_zalloc
 * would clear them.
 */
void *ash_aligned_zalloc(size_t alignment, size_t size)
	__attribute__((malloc, warn_unused_result));

/*
 * Changes the size of block p and returns the block, whose address may have changed.  The contents are
 * kept up to the smaller of the two sizes; the rest is undefined.  The result has the alignment of
 * ash_alloc, also if p is a block of ash_aligned_alloc.  If p is NULL, this is ash_alloc.  Size 0 leaves
 * a unique block.  Returns NULL if there is no memory or size is above PTRDIFF_MAX; then p is unchanged.
 */
void *ash_resize(void *p, size_t size) __attribute__((warn_unused_result));

/*
 * Like ash_resize, with the result aligned to `alignment` as by ash_aligned_alloc; p may have any
 * alignment.  Returns NULL also if ash_aligned_alloc would not accept the alignment.
 */
void *ash_aligned_resize(void *p, size_t alignment, size_t size)
	__attribute__((warn_unused_result));

/*
 * Changes the size of block p without moving it.  Returns the new number of usable bytes, at least
 * `size`.  Returns 0 and leaves the block unchanged if that is not possible now, if size is above
 * PTRDIFF_MAX, or if p is NULL.  A size up to ash_usable_size(p) always succeeds, and gives memory back
 * if the block is above 1 MiB.  A block of 32 KiB to 1 MiB can grow, to at most 2 MiB, if the calling
 * thread allocated it and the memory after it is free.  A block above 1 MiB can grow to any size if the
 * memory after it is free.  The contents are kept as in ash_resize.  ash_on_no_memory is not called.
 * (jemalloc: xallocx; mimalloc: mi_expand.)
 */
size_t ash_expand(void *p, size_t size);

/*
 * Releases the block.  p may be NULL.  Any thread may release a block that any other thread allocated.
 *
 * A second release is reported as misuse, unless the memory has been allocated again in between.  If
 * two threads release a block at the same moment and one of them allocated it, Ashlar reports the
 * second release later, or not at all if the memory is allocated again first.  If a thread stops for
 * ever inside a release, Ashlar may not reuse what is later released into that slab until memory runs
 * out or ash_trim is called.
 *
 * Before the call, the caller must undo its changes to the pages of the block (mprotect, mlock,
 * MADV_DONTFORK), because the next block at that place would inherit them.
 */
void ash_release(void *p);

/*
 * Like ash_release, with a check: a size above ash_usable_size(p), which cannot be the requested size,
 * is reported as misuse.  Not every size of 4 GiB and more is reported.  (C23: free_sized.)
 */
void ash_release_sized(void *p, size_t size);

/*
 * Like ash_release_sized, with a second check: an alignment that is not a power of two, or that p does
 * not have, is also reported as misuse.  (C23: free_aligned_sized.)
 */
void ash_release_aligned_sized(void *p, size_t alignment, size_t size);

/*
 * Returns the number of bytes that may be used at p, at least the requested size; returns 0 for NULL.  A
 * pointer that is not a live block is misuse.  (glibc: malloc_usable_size.)
 */
size_t ash_usable_size(const void *p);

/*
 * Returns the number of usable bytes of a block of this size.  A request for that number takes the same
 * memory.  Returns 0 for a size above PTRDIFF_MAX.  When memory is exhausted, a block may have more
 * usable bytes.  When address space is scarce, for example under RLIMIT_AS, a block of a `size` above
 * 32 KiB may have fewer usable bytes than the result, unless the program requests the result.
 * (jemalloc: nallocx.)
 */
size_t ash_good_size(size_t size);

/*
 * Gives free memory back to the system until at most `keep` bytes of free memory are resident;
 * ash_trim(0) gives back as much as possible.  Returns the number of bytes given back.  Live blocks are
 * not touched.  (glibc: malloc_trim.)
 *
 * Free memory of other live threads, running or not, is included, except the slabs that these threads
 * currently allocate from and a few empty slabs that they keep.  These take up to about 2 MiB a thread;
 * with more than 16 threads, up to 256 KiB a thread.  In a signal handler that interrupted a call, only
 * memory outside of all slabs is given back.  Ashlar's own records are not given back: 25 KiB for each
 * 2 MiB that was ever used for small blocks.  The pages of locked memory (mlockall) cannot be given
 * back singly, so Ashlar returns such memory only by unmapping a mapping that is entirely free.  Each
 * block above 1 MiB then occupies whole pieces of 2 MiB.  libashlar-small.a gives back whole free pages
 * between blocks, and the address space of each thread's pools that are empty.
 *
 * Except in libashlar_malloc, the call uses unshare, which changes nothing, to find out whether any
 * other thread runs in the address space.  If no other thread does, the slabs of all other threads
 * count as left behind.  Live blocks stay.
 */
size_t ash_trim(size_t keep);

/*
 * Does ash_trim(0) in steps, for a program that waits for events: each call looks at a part of the heap
 * and gives back the free memory there.  Returns the approximate number of bytes of address space that
 * this round has still to look at.  Returns 0 when the round is complete.  Only memory that was freed in
 * parts already examined may remain then, and the next call begins a new round.  A loop that calls the
 * function until it returns 0 ends, whatever other threads do.
 *
 * budget is in bytes.  A call handles the heap in parts.  A part is a chunk, which costs 2 MiB if it
 * has slabs and 16 KiB if not, or up to 8 MiB of memory that is due to be returned anyway, which costs
 * 8 MiB.  A call handles at least one part, and starts no part after the budget is spent.  In each part
 * it examines at most 64 slabs and makes at most 1100 madvise calls: usually 1 to 64, and 260 if every
 * other page is free.  The last call of a round also unmaps each free region.  The first call in a
 * child of fork takes over the slabs of the parent's other threads, if the thread that forked had
 * called Ashlar.  The function takes over slabs of threads that ended without ash_thread_detach only
 * where a growing heap would, because it does not call unshare.  Threads may share a round.  In
 * libashlar-small.a each call is ash_trim(0).
 */
size_t ash_trim_step(size_t budget);

/*
 * Gives up the calling thread's memory caches: its empty slabs go back to the heap, its other slabs to
 * the next thread that needs memory.  The blocks of the thread stay valid.  The function is for the end
 * of a thread; a thread that allocates later gets new caches.  It must not be called from a signal
 * handler, because the interrupted call may be using the caches.
 */
void ash_thread_detach(void);

/*
 * A hook for the program to define, not to call.  A thread calls the hook from inside an allocation when
 * it first takes memory of the default heap (and again after ash_thread_detach), so that a runtime can
 * arrange for ash_thread_detach.  The hook may allocate.  The heaps of ashlar_heap.h do not call it.
 */
void ash_on_thread(void);

/*
 * A hook for the program to define.  ash_alloc, ash_zalloc, ash_aligned_alloc, ash_aligned_zalloc,
 * ash_resize and ash_aligned_resize call it when they are about to return NULL, except for blocks of the
 * heaps of ashlar_heap.h.  ash_resize and ash_aligned_resize may also call the hook and then return p: if
 * the block shrinks and there is no memory to move it.
 */
void ash_on_no_memory(void);

/*
 * A hook for the program to define.  It is called once in the life of a process, when misuse or damage
 * to Ashlar's records was detected and ash_last_words was set; `line` is ash_last_words.  The hook may
 * print a backtrace and should end the process; if it returns, the process ends as it would without the
 * hook.  The hook runs in the midst of the misused call, perhaps in a signal handler.  It may call the
 * functions of this header, but its allocations may fail.  A program that preloads libashlar_malloc.so
 * must export the hook (-rdynamic).
 */
void ash_on_misuse(const char *line);

/*
 * Has the first line about misuse or damage, for debuggers and for daemons without standard error.  It
 * is NUL-terminated, and empty before.  That line is always stored here.  A line is not printed if file
 * descriptor 2 is another file than when the default heap got its first memory, unless it is a terminal
 * or another character device, a pipe, or a file open for appending.  So a data file or socket that was
 * given the number of a closed standard error gets nothing.  An ordinary file to which standard error
 * was redirected since then gets nothing either.
 */
#define ASH_LAST_WORDS 256
extern char ash_last_words[ASH_LAST_WORDS];

/* The kind of memory in which an address lies, see ash_find. */
enum ash_place {
	ASH_FOREIGN, /* not Ashlar's: on a stack, in a static object, of another allocator, ... */
	ASH_RECORDS, /* in the default heap's own records                                    */
	ASH_UNUSED,  /* in memory of a heap outside of all blocks, or left over behind a block */
	ASH_FREE,    /* in a slot that holds no block now                                    */
	ASH_TAKEN    /* in a live block                                                      */
};
struct ash_block {
	enum ash_place place;
	unsigned row;  /* the row of the size class, see ash_stats_class                  */
	char *start;   /* start of the block or slot; for ASH_UNUSED, of the last block before the
			  address, if known; else NULL, and all members below are 0 */
	size_t size;   /* usable bytes of the block or slot, see ash_usable_size          */
	size_t offset; /* the address minus start                                         */
	int thread;    /* id of the live thread that owns the slot's slab, usually the thread that
			  allocated the block.  0 if no thread owns the slab, or its id is unknown:
			  Ashlar knows the id of another thread only after that thread called
			  ash_find */
	struct ash_heap *heap; /* see ashlar_heap.h; NULL for the default heap            */
	uint64_t owner;	/* of a live block: ash_heap_owner.id, see ash_heap_walk; otherwise 0 */
};

/*
 * Finds the kind of memory in which an address lies, and returns out->place.  Any address is allowed,
 * and nothing is read at it.  The call takes no memory and waits for no thread.  The answer for an
 * address in a block that lives throughout the call is exact.  If other threads allocate or release the
 * memory at the same time, the answer was right at some moment of the call, or is ASH_UNUSED if the
 * memory changed its use too often.
 */
enum ash_place ash_find(const void *p, struct ash_block *out);

/*
 * Figures of one size class of the default heap, counted as by ash_stats.  Each call of ash_stats_class
 * looks over all slabs, which takes about a millisecond for each GiB.
 */
struct ash_class {
	size_t size;    /* bytes of a slot; 0 in the row of blocks above 1 MiB (spans)     */
	size_t slabs;   /* number of slabs, or of spans                                    */
	size_t bytes;   /* bytes of address space in these                                 */
	size_t slots;   /* number of blocks for which these have room                      */
	size_t taken;   /* number of live blocks                                           */
	size_t pending; /* number of blocks released by other threads and not yet reusable */
};
/*
 * Stores the figures of a row in *out.  Rows are numbered from 0, by size; the last row is that of
 * spans.  Returns 1, or 0 if there is no such row.  libashlar-small.a has no rows.
 */
int ash_stats_class(unsigned row, struct ash_class *out);

/*
 * Figures of the default heap, in bytes unless said otherwise.  They are counted from the bitmaps during
 * the call.  They are exact if no other thread is in a call; otherwise they are a sum over slightly
 * different moments.
 */
struct ash_statistics {
	size_t reserved;   /* address space of the heap's chunks              */
	size_t slabs;      /* in slabs, which are runs of equal slots         */
	size_t spans;      /* in spans, which hold blocks above 1 MiB in whole 2 MiB */
	size_t blocks;     /* number of live blocks                           */
	size_t block_bytes;/* usable bytes of these, see ash_usable_size      */
	size_t pending;    /* number of blocks released by other threads and not yet reusable */
	size_t dirty;      /* free, in no slab or span, and possibly resident */
	size_t owners;     /* number of records of threads, with those that ended threads left for reuse */
	/*
	 * The maximum of each figure so far.  The maxima may miss memory that two threads took at the
	 * same moment.  They are 0 in libashlar-small.a and for heaps in arrays.
	 */
	size_t peak_used;  /* of slabs + spans                                */
	size_t peak_kept;  /* of slabs + spans + dirty: memory that can have been resident */
	size_t peak_reserved;
};
void ash_stats(struct ash_statistics *out);

/* The slabs of one thread in these figures, in bytes unless said otherwise. */
struct ash_thread_stats {
	const void *thread; /* thread pointer (pthread_self of glibc and musl); NULL in the row for no live thread */
	size_t slabs, blocks, block_bytes, pending; /* as in ash_statistics                             */
};
/*
 * Calls row(context, figures) for each thread that has slabs, and, in one or more rows, for slabs of
 * ended threads and slabs without a thread.  Blocks above 1 MiB belong to no thread.  `row` may call
 * functions of Ashlar.  Threads that start during the call may have no row, and a thread that ended
 * without ash_thread_detach may seem to live.  libashlar-small.a makes one row with all blocks and
 * without slabs.
 */
void ash_stats_threads(void (*row)(void *context, const struct ash_thread_stats *figures), void *context);

/*
 * Compares every structure of the default heap with the bitmaps.  Returns 0 if all agree; otherwise
 * returns the number of the first invariant that does not hold (DESIGN.md, I1...In).  While other
 * threads are in calls, the structures that only those threads may read are left out.
 */
int ash_check(void);

/* Returns the version of the linked library as a static string, such as "1.0.0". */
const char *ash_version(void);

/*
 * Settings, fixed at link time: a program that defines `ash_defaults` itself overrides them.  A member
 * that its definition leaves out is 0.  So a definition without `retain` retains no memory.  Only the malloc products
 * read the environment, see ashlar_malloc.h.
 */
enum ash_huge { /* the memory for which the kernel is advised to use huge pages */
	ASH_HUGE_DEFAULT, /* for blocks of 32 MiB and more that are not zeroed, and for slabs beyond
			     the first 48 MiB; advised against for zeroed blocks of 4 MiB and more;
			     otherwise the machine's setting */
	ASH_HUGE_NEVER,   /* for no memory, whatever the machine's setting is */
	ASH_HUGE_ALWAYS,  /* for all memory                                   */
	ASH_HUGE_POPULATE /* for all memory, and blocks above 1 MiB that are not zeroed are backed
			     when they are allocated, not when they are touched */
};
struct ash_defaults {
	size_t initial; /* bytes of address space reserved by the first call  */
	size_t cap;     /* the most bytes of address space for blocks, rounded down to a multiple of
			   2 MiB, but at least 2 MiB; 0 means no cap.  Blocks can occupy up to twice
			   their size: a block of 33 000 bytes takes 64 KiB, and a block of 1 MiB and
			   a byte takes 2 MiB */
	/*
	 * Free memory stays resident up to a limit: the larger of a quarter of `retain` and a quarter
	 * of the memory in use; none if `retain` is less than 128 KiB.  For blocks with huge pages
	 * (ASH_HUGE_DEFAULT: from 32 MiB on) the limit is the larger of a quarter of `retain` and a
	 * sixteenth of the memory in use.  A call that makes more memory free gives the excess back.
	 * If the program soon needs the returned memory again, the limit rises, by up to twice that
	 * memory.  After 8192 slow operations, memory that was not needed during them is given back,
	 * down to the larger of a sixteenth of `retain` and a quarter of the memory in use, and the
	 * limit falls.  While more than half of `retain` is kept by a raised limit, some fast calls
	 * become slow.
	 *
	 * libashlar-small.a does not read retain, initial and huge.  It keeps 256 KiB for each of three
	 * ranges of sizes (up to 2032, 32 512 and 520 192 bytes) of each of at most eight sets of
	 * threads, and free pages between blocks until ash_trim.  Larger blocks are mappings of their
	 * own, which are unmapped when the blocks are released.
	 */
	size_t retain;
	enum ash_huge huge;
	int sparse;     /* if not 0, blocks above 32 MiB may be larger than the kernel would promise,
			   see ash_alloc */
};
extern const struct ash_defaults ash_defaults;

#ifdef __cplusplus
}
#endif
#endif
