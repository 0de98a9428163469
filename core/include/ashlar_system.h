/* SPDX-License-Identifier: MIT */
/*
 * Ashlar without Linux: what the allocator asks of a system, for a program to define.
 *
 *	cc program.o -lashlar-core		libashlar-core.a, which has no system call
 *	cc -DASHLAR_SYSTEM -c ashlar.c		the same as one source; also with -DASHLAR_SMALL
 *
 * Only ash_system_map must be defined; each of the others has a weak default.  These functions
 * are called from inside all functions of Ashlar, by any thread, and by signal or interrupt
 * handlers that call Ashlar: so they must be reentrant, and must not call Ashlar.  None is
 * called on a fast path.
 *
 * What Ashlar needs besides: a CPU of 64 bits that is in README's table, memory for its data
 * (3.3 MiB of .bss, which is touched only where it is used) and thread-local storage as the
 * compiler makes it (-DASHLAR_SMALL needs none).  The heaps of ashlar_heap.h are there, but no heap shared by
 * processes: these calls return NULL.  On systems without these needs use
 * libashlar-field.a (ashlar_heap.h).
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
 * Returns `bytes` of memory that reads zero, for the caller alone, aligned to `alignment`,
 * a power of two.  NULL: there is none.  Both are multiples of 4096 (aarch64, riscv64: of
 * 65536).  Asked for are pieces of 2 MiB and multiples of it, aligned to 2 MiB or, for
 * blocks of larger alignment, to more; and records of 32 KiB for each thread and of up to
 * 72 KiB for each 2 MiB, which are cut off pieces of 2 MiB, or asked for alone where there is no
 * such piece.  So a system that hands out one address after the other has no gaps: 64 MiB, aligned
 * to 2 MiB, are 569 blocks of 100 000 bytes.
 */
void *ash_system_map(size_t bytes, size_t alignment);

/*
 * Takes back what one call of ash_system_map returned, whole.  False: it does not; then Ashlar
 * keeps the memory and uses it again.  Lost are only pieces that turned out useless: a last one
 * for whose records there was no memory, and the second one where two threads asked at the same
 * time and one piece was enough.  By default: false.
 */
bool ash_system_unmap(void *p, size_t bytes);

/*
 * The contents of the range, a part of what ash_system_map returned, are not needed any
 * more.  True: it reads zero from now on.  False: nothing was changed.  Both numbers are
 * multiples as above.  By default: false.
 */
bool ash_system_purge(void *p, size_t bytes);

/*
 * The id of the calling thread, from 1 to 2^31 - 1; no other thread has it while this one
 * lives.  0: unknown.  By default: 0.
 */
uint32_t ash_system_thread(void);

/*
 * True: the thread with this id, which is not the caller's, has certainly ended, and all that
 * it wrote is visible to the caller.  Called when memory is short.  Only if it answers true is
 * the memory reused that a thread held which ended without ash_thread_detach.  By default:
 * false.
 */
bool ash_system_thread_ended(uint32_t thread);

/*
 * Writes the line that misuse is answered with (ashlar.h); `line` has `length` bytes, the last
 * of which is a newline.  Also for what malloc_stats prints.  It may end the program.  If it
 * returns, ash_on_misuse is called and a trap instruction executed.  By default it does
 * nothing; the line is in ash_last_words.
 */
void ash_system_write(const char *line, size_t length);

#ifdef __cplusplus
}
#endif
#endif
