/* SPDX-License-Identifier: MIT */
/*
 * ash_alloc inlined (eleven instructions) where the size is a constant of up to
 * 1024; anywhere else the usual call.  Include it after, or instead of, ashlar.h.
 * For optimised programs that are linked with libashlar.a (not libashlar-st.a).
 * The contract is that of ash_alloc.
 *
 * The inlined code depends on the library's internal layout: program and library
 * must be of the same version.
 */
#ifndef ASHLAR_INLINE_H
#define ASHLAR_INLINE_H

#include "ashlar.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The thread's seat: the pointer to its owner record, and the guard against reentrance; see
 * core/thread/seat.h.  tests/inner/inline.c compares the two.
 */
extern __thread struct ash_inline_seat {
	uint64_t open;
	char *self;
} ash_inline_seat __attribute__((tls_model("local-exec")));

enum {
	ASH_INLINE_MOST = 1024,
	ASH_INLINE_BINS = 640, /* offset of the bins in an owner record      */
	ASH_INLINE_BIN = 48    /* size of a bin: word, base, ...             */
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

/* Makes the compiler load *at again. */
#define ASH_INLINE_AGAIN(at) __asm__("" : "+m"(*(at)))

/* Orders for the compiler only; clang's built-in for that is a fence on riscv64. */
#define ASH_INLINE_ORDER() __asm__ volatile("" ::: "memory")

/* The slow path, taken if the addition has no carry; see core/front/alloc.c. */
void *ash_inline_refill(unsigned small, uint64_t sum, void *owner);

/* The fast path of core/front/alloc.c, where each step is explained. */
static inline __attribute__((always_inline, malloc)) void *
ash_inline_alloc(size_t bin, size_t size)
{
	char *owner = ash_inline_seat.self, *p;
	uint64_t *at, sum;

	ASH_INLINE_ORDER();
	sum = ash_inline_seat.open;
	ash_inline_seat.open = 0;
	ASH_INLINE_ORDER();
	at = (uint64_t *)(void *)(owner + *(uint64_t *)(void *)(owner + bin));
	if (__builtin_expect(!__builtin_add_overflow(sum, *at, &sum), 0))
		return ash_inline_refill((unsigned)((bin - ASH_INLINE_BINS) / 8), sum, owner);
	/* Three memory operands cost less than one separate load. */
	ASH_INLINE_AGAIN(at);
	p = *(char **)(void *)(owner + bin + 8) + (size_t)__builtin_ctzll(*at) * size;
	ASH_INLINE_AGAIN(at);
	*at &= sum;
	ASH_INLINE_ORDER();
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
