/* SPDX-License-Identifier: MIT */
/*
 * Samples of a program's allocations, for heap profiles.  They exist only in libashlar-sample.a, which
 * is linked instead of libashlar.a and has all its functions: each byte that is allocated from the
 * default heap is sampled with the same small probability, and a hook gets the block that contains the
 * byte.  libashlar_profile.so makes profiles of this (ashlar-profile(1)).
 *
 * A block of n bytes is a sample with probability 1 - exp(-n / distance), whatever was allocated before
 * it.  So a sample of n bytes stands for 1 / (1 - exp(-n / distance)) blocks.  Random numbers begin
 * alike in each process: a program that does the same has the same samples.
 *
 * Heaps of ashlar_heap.h are not sampled, and neither are allocations of a signal handler that
 * interrupts a hook.
 */
#ifndef ASHLAR_SAMPLE_H
#define ASHLAR_SAMPLE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ASH_SAMPLE_DISTANCE ((size_t)512 << 10) /* the distance at first */

/*
 * Sets the mean distance of samples in bytes, up to 2^40; 0 stops sampling.  The calling thread uses the
 * distance at once; other threads use it from their next sample on, or within 1 MiB if it was 0.  Any
 * thread and a child of fork may call the function; a signal handler must not.
 */
void ash_sample_every(size_t distance);

/*
 * Hooks for the program to define.  The thread that allocates or releases calls them, perhaps in a
 * signal handler; they may run in several threads at a time.  They may call ash_alloc and the other
 * functions, but must return, and must not fork.
 *
 * ash_on_sample: block p of `size` bytes (ash_usable_size) was allocated, and will be returned to the
 * program when the hook returns.  No samples are taken of the hook's allocations.
 *
 * ash_on_sample_release: block p is about to be released; its memory is not reused before the hook
 * returns.  The hook is called for every sample, and also for other blocks: all above 32 KiB, and those
 * that were allocated in signal handlers.  ash_resize, ash_aligned_resize and ash_expand call the hook
 * before they change a block above 1 MiB.  The new size of that block may then be a sample, or the old
 * size if the block could not be changed.
 */
void ash_on_sample(void *p, size_t size);
void ash_on_sample_release(void *p);

#ifdef __cplusplus
}
#endif
#endif
