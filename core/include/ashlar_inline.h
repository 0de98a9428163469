/* SPDX-License-Identifier: MIT */
/*
 * ash_alloc inlined where the size is a constant of up to 1024 bytes: eleven
 * instructions, and its call anywhere else.  Include it after, or instead of,
 * ashlar.h; with optimisation, for programs linked with libashlar.a (not -single).
 *
 * It knows the layout of the library it is compiled for: program and library
 * must be of the same version.  Contract: that of ash_alloc.
 */
#ifndef ASHLAR_INLINE_H
#define ASHLAR_INLINE_H

#include "ashlar.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The thread's seat, see core/thread/owner.h; tests/inner/inline.c compares the two. */
extern __thread struct ash_inline_seat {
	uint64_t open;
	char *self;
} ash_inline_seat __asm__("seat") __attribute__((tls_model("local-exec")));

enum {
	ASH_INLINE_MOST = 1024,
	ASH_INLINE_BINS = 384, /* where the bins begin in a record          */
	ASH_INLINE_BIN = 32    /* from one to the next: word, base, ...      */
};

/* The class of a constant n, and the size of its slots: core/base/class.h. */
#define ASH_INLINE_SHIFT(n)                                                                        \
	((n) <= 256 ? 4 : (n) <= 512 ? 5 : 6)
#define ASH_INLINE_CLASS(n)                                                                        \
	((n) <= 8     ? 0                                                                          \
	 : (n) <= 128 ? ((n) + 15) / 16                                                            \
		      : 9 + 8 * (ASH_INLINE_SHIFT(n) - 4) + ((((n) - 1) >> ASH_INLINE_SHIFT(n)) & 7))
#define ASH_INLINE_SIZE(n)                                                                         \
	((n) <= 8     ? 8                                                                          \
	 : (n) <= 128 ? ((n) + 15) / 16 * 16                                                       \
		      : ((((n) - 1) >> ASH_INLINE_SHIFT(n)) + 1) << ASH_INLINE_SHIFT(n))

/* The compiler forgets what it has read there. */
#define ASH_INLINE_AGAIN(at) __asm__("" : "+m"(*(at)))

/* When there is no carry; see core/front/alloc.c. */
void *ash_inline_refill(unsigned small, uint64_t sum, void *owner);

/* As core/front/alloc.c, where each step has its reason. */
static inline __attribute__((always_inline, malloc)) void *
ash_inline_alloc(size_t bin, size_t size)
{
	char *owner = ash_inline_seat.self, *p;
	uint64_t *at, sum;

	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	sum = ash_inline_seat.open;
	ash_inline_seat.open = 0;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	at = (uint64_t *)(void *)(owner + *(uint64_t *)(void *)(owner + bin));
	if (__builtin_expect(!__builtin_add_overflow(sum, *at, &sum), 0))
		return ash_inline_refill((unsigned)((bin - ASH_INLINE_BINS) / 8), sum, owner);
	/* Three looks at the word, each part of an instruction, cost less than one of its own. */
	ASH_INLINE_AGAIN(at);
	p = *(char **)(void *)(owner + bin + 8) + (size_t)__builtin_ctzll(*at) * size;
	ASH_INLINE_AGAIN(at);
	*at &= sum;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	ash_inline_seat.open = ~(uint64_t)0;
	return p;
}

#ifdef __cplusplus
}
#endif

#define ash_alloc(n)                                                                               \
	(__builtin_constant_p(n) && (n) <= ASH_INLINE_MOST                                         \
		 ? ash_inline_alloc(ASH_INLINE_BINS + ASH_INLINE_CLASS((size_t)(n)) * ASH_INLINE_BIN, \
				    ASH_INLINE_SIZE((size_t)(n)))                                  \
		 : ash_alloc(n))

#endif
