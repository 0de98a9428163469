/* SPDX-License-Identifier: MIT */
/*
 * Atomic operations of the C11 memory model, each with its memory order in its name.  A comment at each use and
 * DESIGN.md name the pair.
 *
 * Loads and stores accept any scalar.  Read-modify-write operations accept only words of the CPU: 64 bits, or 32 bits
 * in libashlar-field.a for CPUs of 32 bits.
 */
#ifndef SYS_ATOMIC_H
#define SYS_ATOMIC_H

#include <stdbool.h>
#include <stdint.h>

#include "build.h"
#include "cpu.h"

/* Orders accesses for the compiler only, between a thread and its own signal handlers. */
#define signal_fence() cpu_signal_fence()

#define load_relaxed(p)	    __atomic_load_n((p), __ATOMIC_RELAXED)
#define load_acquire(p)	    __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define store_relaxed(p, v) __atomic_store_n((p), (v), __ATOMIC_RELAXED)
#define store_release(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)

/*
 * Loads a pointer to records.  Relaxed, because the dependency of the addresses orders the accesses through the
 * pointer.  Pairs with a release store, so that their memory is mapped.  (C11 has consume for this, which compilers
 * make acquire.)  ThreadSanitizer does not see dependencies.
 */
#define load_dependent(p) (IS_SANITIZED ? load_acquire(p) : load_relaxed(p))

/*
 * Fences for data that a separate counter guards: earlier accesses stay before
 * the stores that follow a release fence, and later accesses stay after the
 * loads that precede an acquire fence.
 */
#define fence_release() __atomic_thread_fence(__ATOMIC_RELEASE)
#define fence_acquire() __atomic_thread_fence(__ATOMIC_ACQUIRE)
/* For a store followed by a load.  If two threads do this crosswise, at least one sees the other's store. */
#define fence_seq_cst() __atomic_thread_fence(__ATOMIC_SEQ_CST)

#define load_seq_cst(p)	    __atomic_load_n((p), __ATOMIC_SEQ_CST)
#define store_seq_cst(p, v) __atomic_store_n((p), (v), __ATOMIC_SEQ_CST)

/* Returns true if the word was stored.  Otherwise *expected becomes the word's value.  Never fails spuriously. */
static inline bool cas_acquire(uintptr_t *word, uintptr_t *expected, uintptr_t desired)
{
	return __atomic_compare_exchange_n(word, expected, desired, false, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

static inline bool cas_acq_rel(uintptr_t *word, uintptr_t *expected, uintptr_t desired)
{
	return __atomic_compare_exchange_n(word, expected, desired, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_ACQUIRE);
}

static inline bool cas_seq_cst(uintptr_t *word, uintptr_t *expected, uintptr_t desired)
{
	return __atomic_compare_exchange_n(word, expected, desired, false, __ATOMIC_SEQ_CST,
					   __ATOMIC_SEQ_CST);
}

/* The fetch operations return the previous value. */
static inline uintptr_t fetch_or_release(uintptr_t *word, uintptr_t bits)
{
	return __atomic_fetch_or(word, bits, __ATOMIC_RELEASE);
}

static inline uintptr_t fetch_or_acq_rel(uintptr_t *word, uintptr_t bits)
{
	return __atomic_fetch_or(word, bits, __ATOMIC_ACQ_REL);
}

static inline uintptr_t fetch_or_seq_cst(uintptr_t *word, uintptr_t bits)
{
	return __atomic_fetch_or(word, bits, __ATOMIC_SEQ_CST);
}

static inline uintptr_t fetch_and_acq_rel(uintptr_t *word, uintptr_t bits)
{
	return __atomic_fetch_and(word, bits, __ATOMIC_ACQ_REL);
}

static inline uintptr_t fetch_and_seq_cst(uintptr_t *word, uintptr_t bits)
{
	return __atomic_fetch_and(word, bits, __ATOMIC_SEQ_CST);
}

static inline uintptr_t fetch_add_relaxed(uintptr_t *word, uintptr_t n)
{
	return __atomic_fetch_add(word, n, __ATOMIC_RELAXED);
}

static inline uintptr_t fetch_add_acq_rel(uintptr_t *word, uintptr_t n)
{
	return __atomic_fetch_add(word, n, __ATOMIC_ACQ_REL);
}

static inline uintptr_t fetch_add_seq_cst(uintptr_t *word, uintptr_t n)
{
	return __atomic_fetch_add(word, n, __ATOMIC_SEQ_CST);
}

static inline uintptr_t exchange_seq_cst(uintptr_t *word, uintptr_t value)
{
	return __atomic_exchange_n(word, value, __ATOMIC_SEQ_CST);
}

/*
 * Sets bit n of a bitmap and returns its previous value.  This is not a fetch_or, because compilers turn that into a
 * compare-and-swap loop.  ThreadSanitizer cannot see assembly, so for it the operation is a fetch_or.
 */
static inline bool set_bit_seq_cst(uint64_t *words, uint64_t n)
{
#if IS_SANITIZED
	return (fetch_or_seq_cst(&words[n / 64], (uint64_t)1 << (n % 64)) >> (n % 64)) & 1;
#else
	return cpu_set_bit_locked(words, n);
#endif
}

#endif
