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
/*
 * A size that gives another block than p is misuse, too: of another class, or of other pages.  resized: but
 * not one for which realloc may have kept the block (front/resize.h).
 */
HIDDEN void ash_delete_sized(void *p, size_t size);
HIDDEN void ash_release_told(const char *name, void *p, size_t alignment, size_t size, bool resized);

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
		s->latest = p; /* see slot_predicted */
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

	if (have == 0)
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

static inline bool is_aligned(const void *p, size_t alignment)
{
	return bits_is_power(alignment) && ((uintptr_t)p & (alignment - 1)) == 0;
}

FAST void ash_release(void *p)
{
	if (!IS_HARDENED || !release_guarded(CALL_RELEASE, NULL, p, SIZE_UNTOLD))
		release_fast(p, release_rest);
}

static SLOW void sized_rest(void *p, size_t size)
{
	misuse_unless_fits(CALL_RELEASE_SIZED, p, block_bytes(CALL_RELEASE_SIZED, p), 1, size);
	ash_release(p);
}

SLOW void ash_release_aligned_sized(void *p, size_t alignment, size_t size)
{
	if (IS_HARDENED && is_aligned(p, alignment) && release_guarded(CALL_RELEASE_ALIGNED, NULL, p, size))
		return;
	misuse_unless_fits(CALL_RELEASE_ALIGNED, p, block_bytes(CALL_RELEASE_ALIGNED, p), alignment, size);
	ash_release(p);
}

/* The slot is free already. */
static SLOW void sized_again(void *p, struct slab *s)
{
	(void)s;
	diagnose(CALL_RELEASE_SIZED, p);
}

FAST void ash_release_sized(void *p, size_t size)
{
	uint64_t index;
	struct slab *s;

	if (IS_HARDENED && release_guarded(CALL_RELEASE_SIZED, NULL, p, size))
		return;
	if (unlikely(!own_slot(p, &s, &index)) || unlikely(size > s->slot_size))
		sized_rest(p, size);
	else
		release_bit(p, s, index, sized_again);
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
	if (!IS_HARDENED || !release_guarded(CALL_RELEASE, "free", p, SIZE_UNTOLD))
		release_fast(p, free_rest);
}

static SLOW void delete_rest(void *p, struct slab *s)
{
	diagnose_called("operator delete", p);
	release_rest(p, s);
}

FAST void ash_delete(void *p)
{
	if (!IS_HARDENED || !release_guarded(CALL_RELEASE, "operator delete", p, SIZE_UNTOLD))
		release_fast(p, delete_rest);
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

void ash_release_told(const char *name, void *p, size_t alignment, size_t size, bool resized)
{
	size_t have;

	if (IS_HARDENED && is_aligned(p, alignment) && release_guarded(CALL_RELEASE_SIZED, name, p, size))
		return; /* a misuse is told by `name` */
	have = chunk_block(map_find(p), p);
	diagnose_called(name, p);
	/* A block in a region of its own has just its pages, not what its class has. */
	if (have != 0 && bits_is_power(alignment) && (size > have || bytes_told(alignment, size) != have) &&
	    !(size > SLOT_LARGE && span_size(size) == have) &&
	    !(resized && resize_kept(have, size)))
		misuse_size(alignment > 1 ? CALL_RELEASE_ALIGNED : CALL_RELEASE_SIZED, p, have);
	if (alignment != 1)
		ash_release_aligned_sized(p, alignment, size);
	else
		release_rest(p, map_guess_slab(p));
}

static SLOW void delete_sized_rest(void *p, size_t size)
{
	ash_release_told("operator delete", p, 1, size, false);
}

FAST void ash_delete_sized(void *p, size_t size)
{
	uint64_t index;
	struct slab *s;

	if (IS_HARDENED && release_guarded(CALL_RELEASE_SIZED, "operator delete", p, size))
		return;
	/* Of a class above 256 bytes some sizes go the slow way; so do those that 16 bytes are too many for. */
	if (unlikely(!own_slot(p, &s, &index)) || unlikely(s->slot_size - size >= CLASS_STEP) || unlikely(size <= SLOT_MIN))
		delete_sized_rest(p, size);
	else
		release_bit(p, s, index, delete_rest);
}
#endif
