/* SPDX-License-Identifier: MIT */
#include "ashlar.h"
#include "backend/map.h"
#include "base/misuse.h"
#include "front/block.h"
#include "front/diagnose.h"
#include "front/guarded.h"
#include "front/remote.h"
#include "front/resize.h"
#include "front/slot.h"
#include "front/span.h"

/*
 * ash_release under the names of malloc, which declares these functions itself (core/malloc/facade.h).  Only malloc
 * is built with them.  They report misuse by the name free or operator delete.
 */
INTERNAL void ash_free(void *p);
HIDDEN void ash_delete(void *p);
/* For these, a size that belongs to another block than p is also misuse, in the cases that told_exactly checks. */
HIDDEN void ash_delete_sized(void *p, size_t size);
HIDDEN void ash_delete_aligned_sized(void *p, size_t size, size_t alignment);
INTERNAL void ash_free_sized(void *p, size_t size);
INTERNAL void ash_free_aligned_sized(void *p, size_t alignment, size_t size);

typedef void rest_function(void *p, struct slab *s);

/* The second half of the fast path, from the slab to the bit. */
static ALWAYS_INLINE void release_bit(void *p, struct slab *s, uint64_t index, rest_function *rest)
{
	uint64_t word, group, opened = seat.open;

	seat_close();
	group = index / GROUP_SLOTS;
	word = load_relaxed(&s->free[group]);
	if (unlikely(cpu_set_bit(&word, index))) {
		seat_open();
		rest(p, s); /* finds that the slot is free already, and reports it */
		return;
	}
	/* The test only reads, because an unconditional store would add a store-to-load dependency. */
	if (unlikely(!slab_give(s, group, word))) {
		release_event(seat.self, s, group, word);
		return;
	}
	if (!IS_HARDENED)
		seat.latest = p; /* see slot_predicted */
	seat_open_again(opened);
}

/*
 * The fast path (see the head of alloc.c).  The path must stay free of calls and locked instructions; tests/golden
 * has the expected instructions.
 */
static ALWAYS_INLINE void release_fast(void *p, rest_function *rest)
{
	uint64_t index;
	struct slab *s;

	if (unlikely(!own_slot(p, &s, &index)))
		rest(p, s);
	else
		release_bit(p, s, index, rest);
}

/* All releases of the hardened products.  For name and size see guarded.h.  Returns false if p is no guarded block. */
static SLOW bool release_guarded_any(const char *call, const char *name, void *p, size_t size)
{
	size_t have = block_guarded(p);

	if (!IS_HARDENED || have == 0)
		return false;
	p = guarded_end_any(call, name, p, size, have);
	if (p != NULL)
		release_fast(p, release_rest);
	return true;
}

static ALWAYS_INLINE bool release_guarded(const char *call, const char *name, void *p, size_t size)
{
	uint64_t index;
	struct slab *s;

	if (unlikely(!own_slot(p, &s, &index)) || unlikely((load_relaxed(&s->free[index / GROUP_SLOTS]) >> index % GROUP_SLOTS & 1) != 0) ||
	    unlikely(s->class - 1u >= CLASS_ONE) || unlikely(heap_hooks_now() != NULL))
		return release_guarded_any(call, name, p, size);
	p = guarded_end(call, name, p, size, s);
	if (likely(p != NULL))
		release_fast(p, release_rest);
	return true;
}

/* Releases without a size.  A pointer that is no guarded block names no slot in a slab of the caller. */
static ALWAYS_INLINE void release_any(const char *name, void *p, rest_function *rest)
{
	if (!IS_HARDENED)
		release_fast(p, rest);
	else if (!release_guarded(CALL_RELEASE, name, p, SIZE_UNTOLD))
		rest(p, map_guess_slab(p));
}

static inline bool is_aligned(const void *p, size_t alignment)
{
	return bits_is_power(alignment) && ((uintptr_t)p & (alignment - 1)) == 0;
}

FAST void ash_release(void *p)
{
	if (!IS_HARDENED || !IS_MALLOC)
		release_any(NULL, p, release_rest);
	else if (!release_guarded_any(CALL_RELEASE, NULL, p, SIZE_UNTOLD)) /* programs with malloc call free */
		release_rest(p, map_guess_slab(p));
}

static SLOW void sized_rest(void *p, size_t size)
{
	misuse_unless_fits(CALL_RELEASE_SIZED, p, block_bytes(CALL_RELEASE_SIZED, p), 1, size);
	release_rest(p, map_guess_slab(p));
}

/* Reports a slot that is free already. */
static SLOW void sized_again(void *p, struct slab *s)
{
	(void)s;
	sized_rest(p, 0);
}

FAST void ash_release_sized(void *p, size_t size)
{
	uint64_t index;
	struct slab *s;

	if (IS_HARDENED && release_guarded(CALL_RELEASE_SIZED, NULL, p, size))
		return;
	if (unlikely(!own_slot(p, &s, &index)) || unlikely(cpu_is_above(size, &s->slot_size)))
		sized_rest(p, size);
	else
		release_bit(p, s, index, sized_again);
}

static SLOW void aligned_rest(void *p, size_t alignment, size_t size)
{
	misuse_unless_fits(CALL_RELEASE_ALIGNED, p, block_bytes(CALL_RELEASE_ALIGNED, p), alignment, size);
	release_rest(p, map_guess_slab(p));
}

static SLOW void aligned_again(void *p, struct slab *s)
{
	(void)s;
	aligned_rest(p, 1, 0);
}

FAST void ash_release_aligned_sized(void *p, size_t alignment, size_t size)
{
	uint64_t index;
	struct slab *s;

	if (IS_HARDENED && is_aligned(p, alignment) && release_guarded_any(CALL_RELEASE_ALIGNED, NULL, p, size))
		return;
	/* `alignment` is a power of two and divides p if neither of them has a bit in the mask. */
	if (unlikely(!own_slot(p, &s, &index)) || unlikely(size > s->slot_size) ||
	    unlikely((((uintptr_t)p | alignment) & (alignment - 1)) != 0))
		aligned_rest(p, alignment, size);
	else
		release_bit(p, s, index, aligned_again);
}

#if IS_MALLOC
/* ash_release by other names: only the line that reports a misuse differs (base/misuse.h). */
static SLOW void free_rest(void *p, struct slab *s)
{
	diagnose_called("free", p);
	release_rest(p, s);
}

FAST void ash_free(void *p)
{
	release_any("free", p, free_rest);
}

static SLOW void delete_rest(void *p, struct slab *s)
{
	diagnose_called("operator delete", p);
	release_rest(p, s);
}

FAST void ash_delete(void *p)
{
	release_any("operator delete", p, delete_rest);
}

/* Returns the bytes of a block that ash_aligned_alloc allocates, or ash_alloc if the alignment is 1. */
static size_t bytes_told(size_t alignment, size_t size)
{
	size_t most = alignment - 1;
	unsigned class;

	if (most < UNIT_SIZE && size <= SLOT_MAX - UNIT_SIZE)
		return ash_good_size(size > 0 ? (size + most) & ~most : alignment);
	class = class_aligned(size, alignment);
	return class < CLASSES ? class_size(class) : span_size(size > 0 ? size : 1);
}

/*
 * Releases any block if the told size is right.  With `resized`, a size for which realloc may have kept the block is
 * also right (front/resize.h).  Once any block got a slot of a larger class (slot_larger), any smaller size is right.
 *
 * A sized release comes here if there is no hint to a slab, or if the single comparison fails.  A right size costs
 * only this comparison, with the smallest size of the class of a slab of the caller.  A size that was rounded up to
 * an alignment may be of any smaller class, so such a size is compared with the slot.  The size of a block in another
 * thread's slab is not compared.
 */
static void told_exactly(const char *name, void *p, size_t alignment, size_t size, bool resized)
{
	size_t have;

	if (IS_HARDENED && is_aligned(p, alignment) && release_guarded_any(CALL_RELEASE_SIZED, name, p, size))
		return; /* a misuse is reported with `name` */
	have = chunk_block(map_find(p), p);
	diagnose_called(name, p);
	/* A block in a region of its own has only its pages, not the size of its class. */
	if (have != 0 && bits_is_power(alignment) && (size > have || bytes_told(alignment, size) != have) &&
	    !(size > SLOT_LARGE && span_size(size) == have) &&
	    !resize_kept(have, size, resized))
		misuse_size(alignment > 1 ? CALL_RELEASE_ALIGNED : CALL_RELEASE_SIZED, p, have);
	if (alignment != 1)
		aligned_rest(p, alignment, size);
	else
		release_rest(p, map_guess_slab(p));
}

/* Handles a size that does not belong to the slab.  The size may be right if realloc kept the block. */
typedef void wrong_function(void *p, size_t size);

static SLOW void delete_wrong(void *p, size_t size)
{
	told_exactly("operator delete", p, 1, size, false);
}

static SLOW void free_wrong(void *p, size_t size)
{
	told_exactly("free_sized", p, 1, size, true);
}

static SLOW void free_aligned_wrong(void *p, size_t size)
{
	told_exactly("free_aligned_sized", p, 1, size, true);
}

static SLOW void delete_told(void *p, size_t size, size_t alignment)
{
	told_exactly("operator delete", p, alignment, size, false);
}

static SLOW void free_told(void *p, size_t alignment, size_t size)
{
	told_exactly("free_aligned_sized", p, alignment, size, true);
}

static SLOW void free_sized_rest(void *p, struct slab *s)
{
	diagnose_called("free_sized", p);
	release_rest(p, s);
}

static SLOW void free_aligned_rest(void *p, struct slab *s)
{
	diagnose_called("free_aligned_sized", p);
	release_rest(p, s);
}

/* Releases with a told size.  Returns false if there is no hint to a slab. */
static ALWAYS_INLINE bool release_told(void *p, size_t size, bool aligned, rest_function *rest, wrong_function *wrong)
{
	uint64_t index;
	struct slab *s;

	if (unlikely(!own_slot(p, &s, &index))) {
		if (s == NULL)
			return false;
		rest(p, s);
	} else if (unlikely(aligned ? cpu_is_above(size, &s->slot_size) : cpu_is_below(size, &s->least))) {
		wrong(p, size);
	} else {
		release_bit(p, s, index, rest);
	}
	return true;
}

FAST void ash_delete_sized(void *p, size_t size)
{
	if (IS_HARDENED && release_guarded(CALL_RELEASE_SIZED, "operator delete", p, size))
		return;
	if (unlikely(!release_told(p, size, false, delete_rest, delete_wrong)))
		delete_wrong(p, size);
}

FAST void ash_free_sized(void *p, size_t size)
{
	if (IS_HARDENED && release_guarded_any(CALL_RELEASE_SIZED, "free_sized", p, size))
		return;
	if (unlikely(!release_told(p, size, false, free_sized_rest, free_wrong)))
		free_wrong(p, size);
}

FAST void ash_delete_aligned_sized(void *p, size_t size, size_t alignment)
{
	if (IS_HARDENED && is_aligned(p, alignment) && release_guarded_any(CALL_RELEASE_SIZED, "operator delete", p, size))
		return;
	if (unlikely(!release_told(p, size, true, delete_rest, delete_wrong)))
		delete_told(p, size, alignment);
}

FAST void ash_free_aligned_sized(void *p, size_t alignment, size_t size)
{
	if (IS_HARDENED && is_aligned(p, alignment) && release_guarded_any(CALL_RELEASE_SIZED, "free_aligned_sized", p, size))
		return;
	if (unlikely(!release_told(p, size, true, free_aligned_rest, free_aligned_wrong)))
		free_told(p, alignment, size);
}
#endif
