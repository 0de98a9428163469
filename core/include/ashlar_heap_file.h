/* SPDX-License-Identifier: MIT */
/* A part of ashlar_heap.h, which programs include: heaps in files, and what makes them durable. */
#ifndef ASHLAR_HEAP_FILE_H
#define ASHLAR_HEAP_FILE_H

#ifndef ASHLAR_HEAP_H
#error Include ashlar_heap.h: this is a part of it.
#endif

/*
 * As ash_heap_create_shared, in a file or memfd, which must be empty or one page of zeros.
 * The file is made as long as needed; fd may be closed afterwards.  Other processes attach
 * to the heap, at the same address.  It outlives all of them: the first process
 * that attaches after a crash finds the heap as it was left, with at most one block
 * in doubt for each ended thread (ash_heap_recover).
 *
 * If several processes or threads do this at the same time, one creates the heap
 * and the others get NULL; none waits.  If the creator dies, the next call starts
 * again.  On NULL the file is unchanged, except that it may be one page of zeros if
 * the disk was full.  In hugetlbfs there are no heaps: NULL, and the kernel makes the file long.
 *
 * Its address: options->address, or a random one between 0x110000000000 and
 * 0x500000000000, where neither the kernel nor other programs usually place
 * mappings, so that other processes can attach.  Two heaps that are not attached in
 * one process have addresses in common by chance: 1 pair in 500 of 64 GiB, 1 in
 * 60 000 of 1 GiB; ASH_ATTACH_TAKEN is the result then.  A program that chooses
 * addresses itself should use multiples of 1 GiB in this range.
 *
 * The file is sparse: disk space is allocated where the heap is first touched.  On a
 * full disk (or tmpfs) such a touch ends the process by SIGBUS, in
 * any function of Ashlar or the program.  Only creating and attaching allocate what
 * they write beforehand, and return NULL.  options->allocate allocates the whole file
 * now: then only what ash_heap_trim and `retain` gave back can be missing later
 * (retain SIZE_MAX: nothing).  It cannot where the file system writes changes to another place: on btrfs, unless
 * the empty file, or its directory, got the attribute C (chattr +C); and while a reflink or a snapshot
 * shares the file's blocks (btrfs, xfs).  The whole file is the capacity and, for each 2 MiB of the limit, 324 KiB of
 * records and 512 KiB for 64 threads, at most 32 MiB for 4096 of them; and less than 3 MiB.  Further threads allocate,
 * but slower.  The limit of file sizes (RLIMIT_FSIZE) is reported by SIGXFSZ, as for any file.
 *
 * System calls of heaps in files, besides those of ash_heap_create_shared: fstat, pread64, ftruncate, fallocate
 * (where a file system has none, pwrite64 of a byte); msync when the seal is made or broken; fcntl and
 * pwrite64 by ash_heap_adopt_file and ash_heap_vouch_file.
 */
ash_heap *ash_heap_create_file(int fd, size_t capacity, const struct ash_heap_options *options);

enum ash_attach {
	ASH_ATTACHED,
	ASH_ATTACH_NO_HEAP,  /* not a heap of this version, cut short or damaged  */
	ASH_ATTACH_TAKEN,    /* its addresses are in use in this process          */
	ASH_ATTACH_NO_MEMORY, /* the kernel refused, the disk is full, or the
				 request is impossible: no capacity, a bad address */
	ASH_ATTACH_UNFINISHED, /* it is being created, or its creator died: try again, by
				  ash_heap_open_file if that may create it         */
	ASH_ATTACH_NAMESPACE, /* made in another pid or time namespace             */
	ASH_ATTACH_LAYOUT,    /* its layout or layout_version is another one       */
	ASH_ATTACH_TORN,      /* not sealed when the system stopped, or copied while others
				 were working: see ash_heap_sync, ash_heap_seal       */
	ASH_ATTACH_OTHERS     /* processes with another build of the library are, or may be,
				 attached: when they have ended, it can be attached   */
};

/*
 * Attaches to the heap in the file, at its address, and recovers it
 * (ash_heap_recover).  If why is not NULL, *why receives the result; NULL is
 * returned if that is not ASH_ATTACHED.
 *
 * The format of the file is 1 and stays readable (core/store/FORMAT.md).  What is in it beside the format
 * differs by the build: the first process of another build that attaches rebuilds that, when no other
 * process is attached.  So all processes that are attached at a time must have the same build; a child
 * of fork counts from its first call that allocates or releases.
 *
 * The file is checked: each word that the allocator follows must have the only
 * possible value, or point into the heap.  Not detectable are changed bits that say
 * taken or free, and changed contents of the program's own blocks.  A program that
 * writes to the file while it is attached can take over the attached processes:
 * attach only files that no other user can write.  If the file is made shorter meanwhile,
 * what touches the missing pages ends by SIGBUS, in any function.
 *
 * The check reads the records of the chunks that were ever in use, so its time grows with these: some 15 500
 * instructions, and 48 KiB read, for each 2 MiB; and with the most threads that ever were in the heap at a
 * time: a system call for each.  It reads no hole of the file.  Of the capacity (the limit) only 4 KiB of this
 * process's memory for each GiB depend, which takes 2 ms for 1 TiB.
 *
 * Attaching and views use at most 20 KiB of stack, creating 12 KiB, all other calls of these headers 6 KiB
 * (12 KiB on CPUs whose pages may have 64 KiB).
 */
ash_heap *ash_heap_attach_file(int fd, enum ash_attach *why);

/*
 * Attaches to the heap in the file, or creates one if the file is empty or its
 * creator died.  For processes that start in any order, or at once.  *why as above.  The layout of an
 * existing heap must be that of the options, or ASH_ATTACH_LAYOUT, and nothing is written; one that is too long
 * is, too.  capacity 0: attaches only, and does not wait (ash_heap_attach_file takes any layout).
 *
 * This call may wait: while another thread, in any process, makes the heap, it sleeps a millisecond at a time
 * until that is done.  A maker that is killed is replaced at once.  One that has done nothing to the file for
 * 1000 such sleeps (it is stopped, or waits for the caller) is no longer waited for, nor is one that this thread
 * interrupted by a signal: ASH_ATTACH_UNFINISHED, and the caller may try again.
 */
ash_heap *ash_heap_open_file(int fd, size_t capacity, const struct ash_heap_options *options,
			     enum ash_attach *why);

/*
 * Makes the caller's pid and time namespaces those in which the heap of this file may
 * be attached; for use when the former ones are gone (a restarted container).  No
 * process may be attached: if one still is, blocks may be handed out twice.  False: not
 * a heap, or the write failed, or fd is open for appending (O_APPEND).
 */
bool ash_heap_adopt_file(int fd);

/*
 * Makes the heap in a file durable: what was stored in it before the call, in records and
 * blocks, by any process, is on the disk when the call returns.  What is stored later reaches
 * the disk at any time, page by page.
 *
 * So after a loss of power the pages may be of different moments, which no check can detect,
 * unless the file was sealed.  ash_heap_sync seals it, too, if no other thread of any process
 * holds a record in the heap: all have called ash_heap_thread_detach (or ended, or have never
 * called anything but ash_heap_destroy).  The caller is detached by the call.  The seal is
 * broken, durably, before the next change: by the first allocation, release or recovery, by
 * ash_heap_set_root, by attaching.  A program that stores into its blocks without such a call
 * calls ash_heap_break_seal first.  No thread may be storing into the heap, or be within a call
 * on it, while the seal is made; one that holds a record, or begins a call, is noticed.
 *
 * After the system has restarted, even in order, a file that is not sealed is refused
 * (ASH_ATTACH_TORN).  Without /proc the time of the start is unknown, and nothing is refused.
 * A memfd, or a file on a tmpfs, is sealed like any other, at no cost.
 */
enum ash_sync {
	ASH_SYNC_FAILED,  /* no heap in a file; or an error of the disk: what is there is unknown */
	ASH_SYNC_DURABLE, /* durable, but not sealed: others may be working                       */
	ASH_SYNC_SEALED
};
enum ash_sync ash_heap_sync(ash_heap *heap);

/*
 * The number of the seal, which no later one has for 2^30 times; 0: not sealed.  A copy of the
 * file is of one moment if this was the same before and after copying, and not 0.  While
 * others work that can be had by stopping all processes (SIGSTOP, cgroup.freeze): what is
 * copied then is a heap whose processes were killed, for this start of the system.  As long as
 * processes live that had a record in the heap, a copy of a file that was not sealed is refused
 * (ASH_ATTACH_TORN) until ash_heap_vouch_file.  Once all are dead, or have called exec, it is refused if it is damaged;
 * else it is a heap like one that a kill left, but its blocks may be of different moments.
 */
uint64_t ash_heap_seal(ash_heap *heap);

/* Breaks the seal, if there is one.  False: an error of the disk. */
bool ash_heap_break_seal(ash_heap *heap);

/*
 * The caller vouches that a file that is refused as torn is of one moment: the system was
 * shut down in order, or all processes were stopped while the file was copied.  False: not a
 * heap of this version, or fd does not allow to map the file for writing.
 */
bool ash_heap_vouch_file(int fd);

#endif
