/* SPDX-License-Identifier: MIT */
/*
 * Samples of a program's allocations, for heap profiles.  Only in libashlar-sample.a, which is
 * linked instead of libashlar.a and has all its functions: there each byte that is allocated
 * from the default heap is sampled with the same small probability, and a hook gets the block
 * that the byte is in.  libashlar_profile.so makes profiles of this (ashlar-profile(1)).
 *
 * A block of n bytes is a sample with probability 1 - exp(-n / distance), whatever was allocated
 * before it.  So a sample of n bytes stands for 1 / (1 - exp(-n / distance)) blocks.  Random
 * numbers begin alike in each process: a program that does the same has the same samples.
 *
 * Not sampled: heaps of ashlar_heap.h; what a signal handler
 * allocates while it interrupts a hook.
 */
#ifndef ASHLAR_SAMPLE_H
#define ASHLAR_SAMPLE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ASH_SAMPLE_DISTANCE ((size_t)512 << 10) /* the distance at first */

/*
 * Sets the mean distance of samples in bytes, up to 2^40; 0: none are taken.  The calling
 * thread uses it at once, others from their next sample on, or within 1 MiB if it was 0.
 * From any thread, and in a child of fork; not in signal handlers.
 */
void ash_sample_every(size_t distance);

/*
 * Hooks for the program to define.  They are called by the thread that allocates or releases,
 * which may be in a signal handler, and may run in several threads at a time.  They may call
 * ash_alloc and the others, but must return, and must not fork.
 *
 * ash_on_sample: block p of `size` bytes (ash_usable_size) was allocated, and will be returned
 * to the program when the hook returns.  No samples are taken of what the hook allocates.
 *
 * ash_on_sample_release: block p is about to be released; its memory is not reused before the
 * hook returns.  It is called for every sample, and also for other blocks: all above 32 KiB, and
 * those that were allocated in signal handlers.  ash_resize, ash_aligned_resize and ash_expand call
 * it before they change a block above 1 MiB, whose new size may then be a sample, or the old one if
 * it could not be changed.
 */
void ash_on_sample(void *p, size_t size);
void ash_on_sample_release(void *p);

#ifdef __cplusplus
}
#endif
#endif
