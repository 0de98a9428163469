/* SPDX-License-Identifier: MIT */
/*
 * Fast paths beside those of ash_alloc and ash_release, for programs that have
 * the names of malloc: they call calloc, realloc and malloc of more than 1 KiB
 * often.  libashlar.a does without them, as its four calls must stay small
 * (tests/check/size.sh).
 *
 * A fast path is a leaf: what it cannot do at once it leaves, having changed
 * nothing, to the code that every build has.
 */
#ifndef CORE_QUICK_H
#define CORE_QUICK_H

#include "memory.h"
#include "thread/bin.h"
#include "thread/seat.h"

#ifdef ASHLAR_MALLOC
#define QUICK_FAST FAST
/* What a fast path leaves to others; where there is none, a part of the function itself. */
#define OUTLINE     SLOW
#define QUICK_SLOW __attribute__((noinline)) FAST
#else
#define QUICK_FAST
#define OUTLINE
#define QUICK_SLOW SLOW
#endif

/*
 * A prediction.  Where a program gets what it has just released, each call would wait
 * for the one before: the free word tells the pointer, the pointer the slab, the slab
 * the word.  So what was released last is compared with what the word tells: if the
 * processor guesses that they are the same, nothing waits for the word.  With the
 * seat closed: no handler writes seat.latest meanwhile.
 */
static ALWAYS_INLINE void *quick_predicted(void *p)
{
	if (likely(p != seat.latest))
		return p;
	p = *(void *volatile *)&seat.latest; /* or the compiler takes it from the word */
	if (p == NULL)
		__builtin_unreachable(); /* as in bin_slot */
	return p;
}

/* As bin_slot, for whoever calls; NULL: not at once. */
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
	seat_give();
	return p;
}

/* NULL was released, says malloc's side (core/malloc/malloc.c): so free need not ask first. */
#ifdef ASHLAR_MALLOC
void quick_null(void);
#else
static inline void quick_null(void)
{
}
#endif

/* A slot above SLOT_LARGE, for whoever calls; NULL: not at once. */
QUICK_SLOW void *large_slot(size_t size, bool *clean);

/* As quick_slot, for a size above SLOT_SMALL. */
static inline void *quick_long(size_t size, bool *clean, bool predicted)
{
	if (size > SLOT_LARGE)
		return large_slot(size, clean);
	return quick_slot(class_larger(size) * CLASS_SMALL, clean, predicted);
}

/*
 * A block that is there at once, or else what `rest` gives.  That is a jump: rest
 * may throw, and what it throws need not pass through here (core/malloc/new.c).
 */
typedef void *ash_rest(size_t size);
void *ash_alloc_or(size_t size, ash_rest *rest);

#endif
