/* SPDX-License-Identifier: MIT */
/*
 * Ashlar without Linux: the functions that the allocator needs of a system, for a program to define.
 *
 *	cc program.o -lashlar-core		libashlar-core.a, which has no system call
 *	cc -DASHLAR_SYSTEM -c ashlar.c		the same as one source; also with -DASHLAR_SMALL
 *
 * Only ash_system_map must be defined; each of the others has a weak default.  These functions are
 * called from inside all functions of Ashlar, by any thread, and by signal or interrupt handlers that
 * call Ashlar: so they must be reentrant, and must not call Ashlar.  No fast path calls them.
 *
 * Ashlar also needs a CPU of 64 bits that is in README's table, memory for its data (3.3 MiB of .bss,
 * which is touched only where it is used) and thread-local storage as the compiler makes it
 * (-DASHLAR_SMALL needs none).  The heaps of ashlar_heap.h are there, except heaps shared by processes:
 * these calls return NULL.  On systems without these needs use libashlar-field.a (ashlar_heap.h).
 *
 * tests/system/array.c serves the allocator from one static array.
 */
#ifndef ASHLAR_SYSTEM_H
#define ASHLAR_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Returns `bytes` of memory that reads zero, for the caller alone, aligned to `alignment`, a power of
 * two; returns NULL if there is none.  Both arguments are multiples of 4096 (aarch64, riscv64: of
 * 65536).  Ashlar asks for pieces of 2 MiB and multiples of it, aligned to 2 MiB or, for blocks of
 * larger alignment, to more.  It also asks for records: 32 KiB for each thread and up to 72 KiB for each
 * 2 MiB.  Records are cut off pieces of 2 MiB, or asked for alone where there is no such piece.  So a
 * system that hands out one address after the other has no gaps: 64 MiB, aligned to 2 MiB, hold at
 * least 560 blocks of 100 000 bytes.
 */
void *ash_system_map(size_t bytes, size_t alignment);

/*
 * Takes back the whole memory that one call of ash_system_map returned.  If the function returns false,
 * it did not take the memory, and Ashlar keeps the memory and uses it again.  Only two kinds of piece
 * that turned out useless are lost then: a last piece for whose records there was no memory, and the
 * second piece if two threads asked at the same time and one piece was enough.  Returns false by
 * default.
 */
bool ash_system_unmap(void *p, size_t bytes);

/*
 * Tells that the contents of the range, a part of the memory that ash_system_map returned, are not
 * needed any more.  Returns true if the range reads zero from now on, and false if nothing was changed.
 * Both numbers are multiples as in ash_system_map.  Returns false by default.
 */
bool ash_system_purge(void *p, size_t bytes);

/*
 * Returns the id of the calling thread, from 1 to 2^31 - 1, which no other thread has while this thread
 * lives; returns 0 if the id is unknown.  Returns 0 by default.
 */
uint32_t ash_system_thread(void);

/*
 * Returns true if the thread with this id, which is not the caller's, has certainly ended, and
 * everything that it wrote is visible to the caller.  Called when memory is short.  Ashlar reuses the
 * memory of a thread that ended without ash_thread_detach only if this function returns true.  Returns
 * false by default.
 */
bool ash_system_thread_ended(uint32_t thread);

/*
 * Writes the line of a misuse report (ashlar.h); `line` has `length` bytes, the last of which is a
 * newline.  malloc_stats writes by this function, too.  The function may end the program.  If it
 * returns, ash_on_misuse is called and a trap instruction executed.  By default the function does
 * nothing; the line is in ash_last_words.
 */
void ash_system_write(const char *line, size_t length);

#ifdef __cplusplus
}
#endif
#endif
