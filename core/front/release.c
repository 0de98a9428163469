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
 * ash_release for the names of malloc, which declare these themselves (core/malloc/facade.h); only malloc is built with
 * them.  A misuse is reported by the name free or operator delete.
 */
INTERNAL void ash_free(void *p);
HIDDEN void ash_delete(void *p);
/* A size that gives another block than p is misuse, too, where told_exactly is asked. */
HIDDEN void ash_delete_sized(void *p, size_t size);
HIDDEN void ash_delete_aligned_sized(void *p, size_t size, size_t alignment);
INTERNAL void ash_free_sized(void *p, size_t size);
INTERNAL void ash_free_aligned_sized(void *p, size_t alignment, size_t size);

typedef void rest_function(void *p, struct slab *s);

/* The second half of the fast path: slab to bit. */
static ALWAYS_INLINE void release_bit(void *p, struct slab *s, uint64_t index, rest_function *rest)
{
	uint64_t word, group, opened = seat.open;

	seat_close();
	group = index / GROUP_SLOTS;
	word = load_relaxed(&s->free[group]);
	if (unlikely(cpu_set_bit(&word, index))) {
		seat_open();
		rest(p, s); /* finds it free again, and reports it */
		return;
	}
	/* Read only: an unconditional store would add a store-to-load dependency. */
	if (unlikely(!slab_give(s, group, word))) {
		release_event(seat.self, s, group, word);
		return;
	}
	if (!IS_HARDENED)
		seat.latest = p; /* see slot_predicted */
	seat_open_again(opened);
}

/*
 * The fast path: pointer to slab, slab to bit.  It must stay free of calls
 * and locked instructions; tests/golden has its expected instructions.
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

/* All releases of the hardened products; name, size: see guarded.h.  False: p is no guarded block. */
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

/* A release without a size.  What is no guarded block has no slot in a slab of the caller's own. */
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
	else if (!release_guarded_any(CALL_RELEASE, NULL, p, SIZE_UNTOLD)) /* such programs call free */
		release_rest(p, map_guess_slab(p));
}

static SLOW void sized_rest(void *p, size_t size)
{
	misuse_unless_fits(CALL_RELEASE_SIZED, p, block_bytes(CALL_RELEASE_SIZED, p), 1, size);
	release_rest(p, map_guess_slab(p));
}

/* The slot is free already. */
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
	/* A power of two has one bit, and p none below it: of both, none is in the mask. */
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

/* The bytes of a block that ash_aligned_alloc gives; 1: ash_alloc. */
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
 * Releases any block, if what was told is right.  resized: so is a size that realloc may have kept the block for
 * (front/resize.h); and any below, once a block got a slot of a larger class (slot_larger).  A sized release comes here if there is no hint to a slab, or if one comparison finds fault, which
 * is all that a right size costs: of a slab of the caller's own, with the smallest size of its class.  A size that
 * was rounded up to an alignment may be of any smaller class, so it is compared with the slot.  What is in another
 * thread's slab is released unseen.
 */
static void told_exactly(const char *name, void *p, size_t alignment, size_t size, bool resized)
{
	size_t have;

	if (IS_HARDENED && is_aligned(p, alignment) && release_guarded_any(CALL_RELEASE_SIZED, name, p, size))
		return; /* a misuse is told by `name` */
	have = chunk_block(map_find(p), p);
	diagnose_called(name, p);
	/* A block in a region of its own has just its pages, not what its class has. */
	if (have != 0 && bits_is_power(alignment) && (size > have || bytes_told(alignment, size) != have) &&
	    !(size > SLOT_LARGE && span_size(size) == have) &&
	    !resize_kept(have, size, resized))
		misuse_size(alignment > 1 ? CALL_RELEASE_ALIGNED : CALL_RELEASE_SIZED, p, have);
	if (alignment != 1)
		aligned_rest(p, alignment, size);
	else
		release_rest(p, map_guess_slab(p));
}

/* A size that the slab has not.  It may be right where realloc kept the block. */
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

/* False: there is no hint to a slab. */
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
