/* SPDX-License-Identifier: MIT */
/*
 * Additional fast paths of malloc's builds, whose programs often call calloc, realloc
 * and malloc of more than 1 KiB.  libashlar.a is built without them, as its four main
 * calls must stay small (tests/check/size.sh).
 *
 * A fast path is a leaf: if it cannot finish at once, it changes nothing and jumps to
 * the code that every build has.
 */
#ifndef CORE_QUICK_H
#define CORE_QUICK_H

#include "internal.h"
#include "memory.h"
#include "thread/bin.h"
#include "thread/seat.h"

#ifdef ASHLAR_MALLOC
#define QUICK_FAST FAST
/* The out-of-line slow part of a function; inlined in builds without the fast path. */
#define OUTLINE     SLOW
#define QUICK_SLOW __attribute__((noinline)) FAST
#else
#define QUICK_FAST
#define OUTLINE
#define QUICK_SLOW SLOW
#endif

/*
 * Value prediction.  If a program allocates the block that it has just released, each
 * call would depend on the previous one: word -> pointer -> slab -> word.  So the
 * pointer is compared with the block released last; if the CPU predicts that they are
 * equal, nothing waits for the word.  The seat is closed, so that no signal handler
 * writes seat.latest meanwhile.
 */
static ALWAYS_INLINE void *quick_predicted(void *p)
{
	if (likely(p != seat.latest))
		return p;
	p = *(void *volatile *)&seat.latest; /* volatile: else the compiler uses the equal p */
	if (p == NULL)
		__builtin_unreachable(); /* as in bin_slot */
	return p;
}

/* As bin_slot, for any caller: checks the record out.  NULL: not possible at once. */
static inline void *quick_slot(unsigned small, bool *clean, bool predicted)
{
	struct owner *o;
	void *p;

	if (unlikely(seat.open == 0))
		return NULL;
	seat_close();
	o = seat.self;
	p = bin_slot(o, bin_small(o, small), clean);
	if (predicted && likely(p != NULL))
		p = quick_predicted(p);
	seat_open();
	return p;
}

/* Called when free(NULL) is seen on the slow path, so that free itself need not test (malloc.c). */
#ifdef ASHLAR_MALLOC
INTERNAL void quick_null(void);
#else
static inline void quick_null(void)
{
}
#endif

/* A slot above SLOT_LARGE, for any caller; NULL: the fast path has none. */
INTERNAL QUICK_SLOW void *large_slot(size_t size, bool *clean);

/* As quick_slot, for a size above SLOT_SMALL. */
static inline void *quick_long(size_t size, bool *clean, bool predicted)
{
	if (size > SLOT_LARGE)
		return large_slot(size, clean);
	return quick_slot(class_larger(size) * CLASS_SMALL, clean, predicted);
}

/*
 * A block if that is possible at once, else the result of `rest`.  rest is called by a
 * jump, so that an exception it throws does not pass through here (core/malloc/new.c).
 */
typedef void *ash_rest(size_t size);
HIDDEN void *ash_alloc_or(size_t size, ash_rest *rest);

#endif
