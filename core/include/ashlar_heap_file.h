/* SPDX-License-Identifier: MIT */
/* A part of ashlar_heap.h, which programs include: heaps in files, and how to make them durable. */
#ifndef ASHLAR_HEAP_FILE_H
#define ASHLAR_HEAP_FILE_H

#ifndef ASHLAR_HEAP_H
#error Include ashlar_heap.h: this is a part of it.
#endif

/*
 * Like ash_heap_create_shared, in a file or memfd, which must be empty or have at most one page, all zeros.
 * The call makes the file as long as needed; fd may be closed afterwards.  Other processes attach to the
 * heap, at the same address.  The heap outlives all of them: the first process that attaches after a crash
 * finds the heap as it was left, with at most one block in doubt for each ended thread (ash_heap_recover).
 *
 * If several processes or threads call this at the same time, one call creates the heap and the others
 * return NULL without waiting.  If the creator dies, the next call starts again.  If the call returns
 * NULL, the file is unchanged, except that it may be one page of zeros if the disk was full or the limit
 * of file sizes was reached.  In hugetlbfs there are no heaps: the call returns NULL, and the kernel makes
 * the file long.
 *
 * The address of the heap is options->address, or a random address between 0x110000000000 and
 * 0x500000000000, where neither the kernel nor other programs usually place mappings, so that other
 * processes can attach.  Two heaps that are not attached in one process share addresses by chance: 1
 * pair in 500 of 64 GiB, 1 in 60 000 of 1 GiB; attaching the second then gives ASH_ATTACH_TAKEN.  A
 * program that chooses addresses itself should use multiples of 1 GiB in this range.
 *
 * The file is sparse: disk space is allocated where the heap is first touched.  On a full disk (or
 * tmpfs) such a touch ends the process by SIGBUS, in any function of Ashlar or the program.  Only
 * creating and attaching allocate beforehand the disk space that they write, and return NULL if there is
 * none.  options->allocate allocates the whole file now: then only disk space that ash_heap_trim and
 * `retain` gave back can be missing later (none with retain SIZE_MAX).  options->allocate has no such
 * effect where the file system writes changes to another place: on btrfs, unless the empty file, or its
 * directory, got the attribute C (chattr +C); and while a reflink or a snapshot shares the file's blocks
 * (btrfs, xfs).  The whole file is the capacity, plus, for each 2 MiB of the limit, 324 KiB of
 * records and 512 KiB for 64 threads (at most 32 MiB, for 4096 threads), plus less than 3 MiB.  Further threads
 * allocate, but slower.  The limit of file sizes (RLIMIT_FSIZE) is reported by SIGXFSZ, as for any file.
 *
 * System calls of heaps in files, besides those of ash_heap_create_shared: fstat, pread64, ftruncate,
 * fallocate (pwrite64 of a byte where a file system has no fallocate); msync when the seal is made or
 * broken; fcntl and pwrite64 by ash_heap_adopt_file and ash_heap_vouch_file.
 */
ash_heap *ash_heap_create_file(int fd, size_t capacity, const struct ash_heap_options *options);

enum ash_attach {
	ASH_ATTACHED,
	ASH_ATTACH_NO_HEAP,  /* not a heap of this version, cut short or damaged  */
	ASH_ATTACH_TAKEN,    /* the heap's addresses are in use in this process   */
	ASH_ATTACH_NO_MEMORY, /* the kernel refused, the disk is full, or the request is impossible:
				 no capacity, a bad address */
	ASH_ATTACH_UNFINISHED, /* the heap is being created, or its creator died: try again, by
				  ash_heap_open_file if the caller may create the heap */
	ASH_ATTACH_NAMESPACE, /* made in another pid or time namespace             */
	ASH_ATTACH_LAYOUT,    /* the heap has another layout or layout_version     */
	ASH_ATTACH_TORN,      /* not sealed when the system stopped, or copied while other processes
				 were working: see ash_heap_sync, ash_heap_seal */
	ASH_ATTACH_OTHERS     /* processes with another build of the library are, or may be, attached:
				 the caller can attach when they have ended */
};

/*
 * Attaches to the heap in the file, at the heap's address, and recovers it (ash_heap_recover).  If why
 * is not NULL, *why receives the result; the function returns NULL if that is not ASH_ATTACHED.
 *
 * The format of the file is 1 and stays readable (core/store/FORMAT.md).  The rest of the file differs
 * by the build of the library: the first process of another build that attaches rebuilds it, when no
 * other process is attached.  So all processes that are attached at a time must have the same build; a
 * child of fork counts from its first call that allocates or releases.
 *
 * The file is checked: each word that the allocator follows must have the only possible value, or point
 * into the heap.  The check cannot detect changed bits that say taken or free, and changed contents of
 * the program's own blocks.  A program that writes to the file while it is attached can take over the
 * attached processes: attach only files that no other user can write.  If the file is made shorter while
 * it is attached, the process gets SIGBUS where it touches the missing pages, in any function.
 *
 * The check reads the records of the chunks that were ever in use, so its time grows with these: some 15
 * 500 instructions, and 48 KiB read, for each 2 MiB.  Its time also grows with the maximum number of
 * threads that were in the heap at a time: a system call for each.  The check reads no hole of the file.
 * The capacity (the limit) costs only 4 KiB of this process's memory for each GiB, which takes 2 ms for
 * 1 TiB.
 *
 * Attaching and views use at most 20 KiB of stack, creating 12 KiB, all other calls of these headers 6
 * KiB (12 KiB on CPUs whose pages may have 64 KiB).
 */
ash_heap *ash_heap_attach_file(int fd, enum ash_attach *why);

/*
 * Attaches to the heap in the file, or creates a heap if the file is empty or the creator died.  For
 * processes that start in any order, or at once.  *why receives the result as in ash_heap_attach_file.
 * If an existing heap has another layout than the options, or the layout of the options is too long, the
 * result is ASH_ATTACH_LAYOUT, and nothing is written.  If capacity is 0, the function only attaches,
 * and does not wait (ash_heap_attach_file accepts any layout).
 *
 * This call may wait: while another thread, in any process, makes the heap, the call sleeps a
 * millisecond at a time until the heap is made.  If that thread is killed, the call replaces it at once.
 * The call gives up with ASH_ATTACH_UNFINISHED if the other thread has done nothing to the file for 1000
 * such sleeps (that thread is stopped, or waits for the caller), or if the caller is a signal handler
 * that interrupted that thread; then the caller may try again.
 */
ash_heap *ash_heap_open_file(int fd, size_t capacity, const struct ash_heap_options *options,
			     enum ash_attach *why);

/*
 * Makes the caller's pid and time namespaces those in which the heap of this file may be attached, for
 * use when the former namespaces are gone (a restarted container).  No process may be attached: if a
 * process still is, blocks may be handed out twice.  Returns false if the file is not a heap, the write
 * failed, or fd is open for appending (O_APPEND).
 */
bool ash_heap_adopt_file(int fd);

/*
 * Makes the heap in a file durable: everything that any process stored in the heap before the call, in
 * records and blocks, is on the disk when the call returns.  Later stores reach the disk at any time,
 * page by page.
 *
 * So after a loss of power the pages may be of different moments, which no check can detect, unless the
 * file was sealed.  ash_heap_sync also seals the file if no other thread of any process holds a record
 * in the heap: all threads have called ash_heap_thread_detach, have ended, or have called nothing but
 * ash_heap_destroy.  The call detaches the caller.  The seal is broken, durably, before the next change:
 * by the first allocation, release or recovery, by ash_heap_set_root, by attaching.  A program that
 * stores into its blocks without such a call must call ash_heap_break_seal first.  No thread may be
 * storing into the heap, or be within a call on it, while the seal is made; a thread that holds a
 * record, or begins a call, is noticed.
 *
 * After the system has restarted, even in order, a file that is not sealed is refused (ASH_ATTACH_TORN).
 * Without /proc the time of the start is unknown, and no file is refused.  A memfd, or a file on a
 * tmpfs, is sealed like any other file, at no cost.
 */
enum ash_sync {
	ASH_SYNC_FAILED,  /* no heap in a file, or an error of the disk: the contents of the disk are unknown */
	ASH_SYNC_DURABLE, /* durable, but not sealed: other threads may be working                */
	ASH_SYNC_SEALED
};
enum ash_sync ash_heap_sync(ash_heap *heap);

/*
 * Returns the number of the seal, which is not used again for 2^30 seals, or 0 if the file is not
 * sealed.  A copy of the file is of one moment if this number was equal before and after copying, and
 * not 0.  While other processes work, stop all of them (SIGSTOP, cgroup.freeze): the copy is then a heap
 * whose processes were killed, for this start of the system.  While processes live that had a record in
 * the heap, a copy of a file that was not sealed is refused (ASH_ATTACH_TORN) until ash_heap_vouch_file.
 * Once all of them are dead, or have called exec, the copy is refused only if it is damaged; otherwise
 * it is like a heap that a kill left, but its blocks may be of different moments.
 */
uint64_t ash_heap_seal(ash_heap *heap);

/* Breaks the seal, if there is one.  Returns false on an error of the disk. */
bool ash_heap_break_seal(ash_heap *heap);

/*
 * States, on the caller's word, that a file that is refused as torn is of one moment: the system was
 * shut down in order, or all processes were stopped while the file was copied.  Returns true, and writes
 * nothing, if the file would not be refused as torn.  Returns false if the file is not a heap of this
 * version, or has to be written and fd does not allow mapping it for writing.
 */
bool ash_heap_vouch_file(int fd);

#endif
