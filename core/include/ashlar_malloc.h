/* SPDX-License-Identifier: MIT */
/*
 * Ashlar as the malloc of a program with a libc.  Its functions are those of <stdlib.h> and <malloc.h>,
 * and declared there; this header adds two functions, and one of libashlar_profile.so.  musl's <malloc.h>
 * declares neither malloc_stats, malloc_trim, malloc_info, mallopt nor mallinfo2: a program with musl
 * declares those functions itself.
 *
 * Particular to this malloc:
 * - All calls may be made in a signal handler, even if it interrupted such a call on its thread, and at once in a
 *   child of fork or vfork, except malloc_info, which writes to a FILE.
 * - No call is a cancellation point, free keeps errno, realloc(p, 0) releases.
 * - Alignments above 1 GiB are refused with ENOMEM.
 * - Before free a program must undo its changes to the block's pages: mprotect, mlock, madvise
 *   (MADV_DONTFORK, MADV_DONTDUMP, ...).  Otherwise the next block there inherits them.  glibc mostly
 *   unmaps such blocks from 128 KiB on.  Ashlar cannot see the changes: undoing each would take a system
 *   call in each release, some 1 us.
 * - A static program links no second malloc, because this malloc is a single object (duplicate symbols).
 *   Only static programs can define ash_defaults.  Of ashlar_heap.h only the walk is available.
 * - A sized delete and free_sized report a size that a smaller block would have, if the calling thread
 *   allocated this block and the block has at most 32 KiB; they report no size once memory was so short
 *   that blocks got slots of larger blocks.  With an alignment they report a size that the block does
 *   not have, up to 1 MiB.  Above 1 MiB they report most other sizes.  But free_sized and
 *   free_aligned_sized report no size for which realloc may have kept the block.  An unreported size is
 *   ignored.  (The hardened product reports each size
 *   but the requested size, for blocks of the default heap.)
 * - In static programs an exception of a new-handler leaves nothrow new.
 * - The environment variable ASHLAR has settings, separated by commas; it is read once, before the
 *   constructors of the program, and not in a setuid program.  One line on fd 2 tells the first word
 *   that is not understood; the other words are set.  A value with a / before the first colon and comma
 *   is a path, and ignored.
 *     retain:64M  ash_defaults.retain in bytes, of which a quarter stays resident; K, M, G, T are powers of
 *                 1024
 *     cap:2G      ash_defaults.cap, whole pieces of 2 MiB and at least one; 0 means no cap.  The cap counts
 *                 address space, which is up to twice what the blocks need
 *     huge:off    ash_defaults.huge: default, off (never), on (always), populate
 *     sparse      ash_defaults.sparse
 *     stats       malloc_stats at exit, unless another file than a log has become fd 2
 * - malloc_stats may be the handler of a signal: it allocates nothing, and writes by raw system calls.
 *   It prints a line with the version, the pid and the program's name, and a line for each size class in
 *   use and for each thread with slabs, which it names by the thread pointer (on x86_64 pthread_self).
 * - mallopt sets M_TRIM_THRESHOLD, the number of free bytes that stay resident (a quarter of the retention
 *   that it sets; negative: all), before other threads start.  All other parameters that glibc knows have
 *   no effect (M_MMAP_THRESHOLD is 1 MiB).  mallopt returns 1 for both, and 0 for unknown parameters.
 * - mallinfo saturates at INT_MAX.  It counts blocks above 1 MiB as mapped, and in ordblks each free
 *   slot and each run of other free memory.  mallinfo uses 1 KiB of stack, malloc_stats 3, malloc_info
 *   8.
 * - malloc_info's "system max" is the maximum that malloc_info has told so far.  An amalgamation has
 *   malloc_info with -DASHLAR_SO alone; without fwrite in the program it fails with ENOSYS.
 * - The shared object has 64 bytes of static thread-local storage, so dlopen of it may fail; after
 *   dlopen it is not the program's malloc.  It is never unloaded.
 * - A program that names libashlar.so before this library keeps to libashlar.so for ash_..., by symbol
 *   versions.  musl's dynamic linker ignores versions: link libashlar.a there.
 * - No malloc works in an ifunc resolver of a static program with glibc.  valgrind finds in dynamic
 *   programs what it finds with glibc (the archive: --soname-synonyms=somalloc=NONE).
 * - Memory goes back by glibc's munmap, madvise and mremap, if the program has them.  So a cache of
 *   registered memory (MPI, RDMA) that replaces these functions learns of all memory that has other
 *   pages from then on.  The replacements are called wherever a call gives memory back, so also in
 *   handlers that use malloc, and must be safe there.  With musl, Ashlar makes the system calls itself,
 *   because musl's functions wait for other threads; so do the archives of ash_...
 * - The shared objects have dlopen and dlmopen, which call the C library's without RTLD_DEEPBIND:
 *   otherwise a library opened with it would have the C library's malloc (php's extensions).  In a
 *   program with the archive such a library has the C library's malloc.
 * - __libc_malloc, __libc_free and glibc's other inner names are the same functions.
 * - This malloc is marked for shadow stacks and branch targets; the archives of ash_... for shadow
 *   stacks alone.  All have unwind tables.
 */
#ifndef ASHLAR_MALLOC_H
#define ASHLAR_MALLOC_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Returns 1 if malloc, free and realloc of this process are Ashlar's.  Otherwise returns 0: at least one
 * of them is not, and mixing allocators will crash.  The function calls these functions in a way they
 * can answer, so the result is what the linkers actually bound, and 0 under a tool that has put its own
 * malloc there (valgrind).  errno is kept.  Any thread may call the function and, if malloc is Ashlar's,
 * so may signal handlers and forked children.
 */
int ashlar_is_malloc(void);

/*
 * Returns the number of bytes from p to the end of the block that contains p; p need not be the start of
 * the block.  Returns 0 if p is NULL or in memory of Ashlar in no live block.  Returns SIZE_MAX if the
 * memory is not Ashlar's, so that the size of the object is unknown.  Any thread, signal handler and
 * forked child may call the function.
 */
size_t malloc_object_size(const void *p);

/*
 * Writes a heap profile now, as libashlar_profile.so does at exit (see ashlar-profile(1)).
 * Returns 1, or 0 if it cannot be written.  Only that library has this function.  The reference
 * is weak: without the library the address is NULL, and has to be compared first; a program
 * that is not position independent asks dlsym(RTLD_DEFAULT, "ashlar_profile_dump").  errno
 * is kept.  From any thread and signal handler.  (jemalloc: mallctl "prof.dump"; gperftools:
 * HeapProfilerDump.)
 */
int ashlar_profile_dump(void) __attribute__((weak));

#ifdef __cplusplus
}
#endif
#endif
