/* SPDX-License-Identifier: MIT */
/*
 * Ashlar as the malloc of a program with a libc.  Its functions are those of
 * <stdlib.h> and <malloc.h>, and declared there; this header adds two, and one of
 * libashlar_profile.so.
 *
 * What is particular to it:
 * - No call is a cancellation point, free keeps errno, realloc(p, 0) releases.
 * - Alignments above 1 GiB are refused: ENOMEM.
 * - Before free a program undoes what it did to the block's pages: mprotect, mlock, madvise (MADV_DONTFORK,
 *   MADV_DONTDUMP, ...).  The next block there meets what is left; glibc unmaps those from 128 KiB on, mostly.
 *   Ashlar cannot see it: to undo each takes a system call in each release, some 1 us.
 * - A static program links no second malloc: this one is a single object (duplicate symbols).
 *   Only static programs can define ash_defaults.  Of ashlar_heap.h there is the walk alone.
 * - A sized delete and free_sized report a size that a smaller block would have, if the calling thread
 *   allocated this one and it has at most 32 KiB (none, once memory was so short that blocks got slots of larger ones); with an alignment they report a size that the block does
 *   not have, up to 1 MiB.  Above 1 MiB any other size mostly is reported.  But the free_ ones report none
 *   that realloc may have kept the block for.  Unreported, the size is ignored.  (The hardened product
 *   reports each size but the one that was asked for.)
 * - In static programs an exception of a new-handler leaves nothrow new.
 * - The environment variable ASHLAR has settings, parted by commas; it is read once, before the constructors of
 *   the program, and not in a setuid program.  One line on fd 2 tells the first word that is not understood; the
 *   others are set.  A value with a / before the first colon and comma is a path, and ignored.
 *     retain:64M  ash_defaults.retain in bytes; K, M, G, T are powers of 1024
 *     cap:2G      ash_defaults.cap, whole pieces of 2 MiB and at least one; 0: none
 *     huge:off    ash_defaults.huge: default, off (never), on (always), populate
 *     sparse      ash_defaults.sparse
 *     stats       malloc_stats at exit, unless another file than a log has become fd 2
 * - malloc_stats may be the handler of a signal: it allocates nothing, and writes by raw system calls. It has a
 *   line for each size class in use and for each thread with slabs, which it names by the thread pointer (on
 *   x86_64 pthread_self).
 * - mallopt does M_TRIM_THRESHOLD (so many free bytes stay resident; negative: all), before other threads start.
 *   All others that glibc knows do nothing (of M_MMAP_THRESHOLD: it is 1 MiB).  Both answer 1; unknown ones 0.
 * - mallinfo saturates at INT_MAX; blocks above 1 MiB are its mapped ones, and ordblks counts each free slot and
 *   each run of other free memory.  mallinfo uses 1 KiB of stack, malloc_stats 3, malloc_info 8.
 * - malloc_info's "system max" is the most that it has told so far.  An amalgamation has
 *   malloc_info with -DASHLAR_SO alone; without fwrite in the program it answers ENOSYS.
 * - The shared object has 64 bytes of static thread-local storage, so dlopen of it may fail; opened so,
 *   it is not the program's malloc.  It is never unloaded.
 * - Beside it a program keeps to its libashlar.so for ash_..., by symbol versions, if it names that
 *   library first; musl's dynamic linker ignores versions: link libashlar.a there.
 * - No malloc works in an ifunc resolver of a static program with glibc.  valgrind finds what it
 *   finds with glibc, in dynamic programs (the archive: --soname-synonyms=somalloc=NONE).
 * - Memory goes back by glibc's munmap, madvise and mremap, if the program has them.  So a cache of registered memory (MPI,
 *   RDMA) that puts functions in their places is told of all that has other pages from then on.  They are called wherever
 *   a call gives memory back, so in handlers, too, if these use malloc, and must be safe there.  With musl the kernel
 *   is asked, as musl's functions wait for other threads; so it is by the archives of ash_...
 * - The shared objects have dlopen and dlmopen, which call the C library's without RTLD_DEEPBIND: a library
 *   opened so would have the C library's malloc (php's extensions).  In a program with the archive it has.
 * - __libc_malloc, __libc_free and glibc's other inner names are the same functions.
 * - It is marked for shadow stacks and branch targets; the archives of ash_... for shadow stacks alone.
 *   All have unwind tables.
 */
#ifndef ASHLAR_MALLOC_H
#define ASHLAR_MALLOC_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Returns 1 if malloc, free and realloc of this process are Ashlar's, else 0: then
 * at least one is not, and mixing allocators will crash.  It calls these functions
 * in a way they can answer, so the result is what the linkers actually bound, and 0 under
 * a tool that has put its own malloc there (valgrind).
 * errno is kept.  It may be called from any thread and, if malloc is Ashlar's, from
 * signal handlers and forked children.
 */
int ashlar_is_malloc(void);

/*
 * Returns the bytes from p to the end of the block that contains p, which need not be its
 * start.  0: NULL, or memory of Ashlar in no live block.  SIZE_MAX: not Ashlar's memory, so
 * the size of the object is unknown.  From any thread, signal handler and forked child.
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
