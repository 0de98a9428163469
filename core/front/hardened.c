/* SPDX-License-Identifier: MIT */
/*
 * The public calls of the hardened products: each block of the default heap is guarded (guard.h), and waits in
 * its releaser's quarantine before its slot is free.  Below them are the ordinary calls, whose slots come from
 * random places (bin_slot, claim_in, fence_place).
 */
#include "front/hardened.h"

#undef ash_alloc
#undef ash_alloc_or
#undef ash_zalloc
#undef ash_aligned_alloc
#undef ash_aligned_zalloc
#undef ash_good_size
#undef ash_release
#undef ash_release_sized
#undef ash_release_aligned_sized
#undef ash_release_told
#undef ash_free
#undef ash_delete
#undef ash_delete_sized
#undef ash_resize
#undef ash_aligned_resize
#undef ash_realloc
#undef ash_expand
#undef ash_usable_size
#undef ash_trim
#undef ash_thread_detach
#undef ash_stats
#undef ash_check
#undef ash_find
#undef ash_object_size

#include "backend/map.h"
#include "front/alloc.h"
#include "front/block.h"
#include "diagnostics/blocks.h"
#include "front/guard.h"
#include "front/quarantine.h"
#include "front/resize.h"
#include "front/slot.h"
#include "front/span.h"
#include "memory.h"
#include "thread/seat.h"

/* The bytes of the slot or span of a block of the default heap; 0: p is none, or another heap's, as the bare call says. */
static ALWAYS_INLINE size_t block_have(const void *p)
{
	struct chunk *c;
	uint64_t index;
	struct slab *s;

	if (likely(own_slot(p, &s, &index)) &&
	    likely((load_relaxed(&s->free[index / GROUP_SLOTS]) >> index % GROUP_SLOTS & 1) == 0))
		return s->slot_size;
	c = map_find(p);
	return p == NULL || c == NULL || load_relaxed(&c->region)->heap != &heap_default ? 0 : chunk_block(c, p);
}

static ALWAYS_INLINE bool have_is_guarded(size_t have)
{
	return have != SLOT_MIN;
}

/* ---- allocation ---- */

static SLOW void *block_new_rest(size_t alignment, size_t size, bool zero)
{
	size_t bytes = size > PTRDIFF_MAX ? SIZE_MAX : size + (size > 0 ? GUARD_BYTES : 0), have;
	void *p = alignment == 1 ? alloc_rest(bytes, zero) : alloc_aligned_rest(alignment, bytes, zero);

	if (p == NULL)
		return NULL;
	have = chunk_block(map_find(p), p);
	if (have_is_guarded(have))
		guard_set(p, size, have);
	return p;
}

static ALWAYS_INLINE void *block_new(size_t alignment, size_t size, bool zero)
{
	size_t bytes = size + GUARD_BYTES;
	struct bin *b;
	bool clean;
	void *p;

	if (!SEATED || unlikely(seat.open == 0) || unlikely(size - 1 >= SLOT_LARGE - GUARD_BYTES) ||
	    unlikely(alignment > CLASS_STEP))
		return block_new_rest(alignment, size, zero);
	seat_close();
	b = bytes <= SLOT_SMALL ? bin_small(seat.self, seat_small(bytes)) : &seat.self->bins[class_larger(bytes)];
	p = bin_slot(seat.self, b, &clean);
	seat_open();
	if (unlikely(p == NULL))
		return block_new_rest(alignment, size, zero);
	guard_fresh(p, b->size, clean);
	guard_set(p, size, b->size);
	return p;
}

void *ash_alloc(size_t size)
{
	return block_new(1, size, false);
}

void *ash_alloc_or(size_t size, ash_rest *rest)
{
	return rest(size);
}

/* Free memory reads zero; zero: a span is not to have huge pages. */
void *ash_zalloc(size_t count, size_t size)
{
	size_t bytes;

	return block_new(1, __builtin_mul_overflow(count, size, &bytes) ? SIZE_MAX : bytes, true);
}

void *ash_aligned_alloc(size_t alignment, size_t size)
{
	return block_new(alignment, size, false);
}

void *ash_aligned_zalloc(size_t alignment, size_t size)
{
	return block_new(alignment, size, true);
}

/* A block has what was asked for; so much costs no more. */
size_t ash_good_size(size_t size)
{
	return size == 0 || size > PTRDIFF_MAX - GUARD_BYTES ? 0 : bare_good_size(size + GUARD_BYTES) - GUARD_BYTES;
}

size_t ash_usable_size(const void *p)
{
	size_t have = block_have(p);

	if (have == 0)
		return bare_usable_size(p);
	return have_is_guarded(have) ? guard_size(CALL_USABLE_SIZE, NULL, p, have) : 0;
}

/* ---- release ---- */

#define SIZE_UNTOLD (SIZE_MAX - 1) /* no block has it, nor has one SIZE_MAX, which a program may tell */

/* size: what was told.  False: no block of the default heap. */
static bool block_release(const char *call, const char *name, void *p, size_t size)
{
	size_t have = block_have(p), had = 0;

	if (have == 0)
		return false;
	if (have_is_guarded(have))
		had = guard_size(call, name, p, have);
	if (size != SIZE_UNTOLD && unlikely(size != had)) {
#if IS_MALLOC
		diagnose_called(name, p);
#endif
		misuse_size(call, p, had);
	}
	if (unlikely(heap_hooks_now() != NULL))
		heap_hooks_now()->gone(p, have);
	/* The pages of a span go, if it is in a region of its own (region_claim_bytes). */
	if (have_is_guarded(have) && (have <= SLOT_MAX || region_alone(map_find(p)->region) == 0))
		guard_clear(p, had, have);
	p = quarantine_exchange(p, have);
	if (p != NULL)
		bare_release(p);
	return true;
}

void ash_release(void *p)
{
	if (!block_release(CALL_RELEASE, NULL, p, SIZE_UNTOLD))
		bare_release(p);
}

void ash_release_sized(void *p, size_t size)
{
	if (!block_release(CALL_RELEASE_SIZED, NULL, p, size))
		bare_release_sized(p, size);
}

void ash_release_aligned_sized(void *p, size_t alignment, size_t size)
{
	if (!bits_is_power(alignment) || ((uintptr_t)p & (alignment - 1)) != 0 ||
	    !block_release(CALL_RELEASE_ALIGNED, NULL, p, size))
		bare_release_aligned_sized(p, alignment, size);
}

#if IS_MALLOC
void ash_free(void *p)
{
	if (!block_release(CALL_RELEASE, "free", p, SIZE_UNTOLD))
		bare_free(p);
}

void ash_delete(void *p)
{
	if (!block_release(CALL_RELEASE, "operator delete", p, SIZE_UNTOLD))
		bare_delete(p);
}

void ash_delete_sized(void *p, size_t size)
{
	if (!block_release(CALL_RELEASE_SIZED, "operator delete", p, size))
		bare_delete_sized(p, size);
}

void ash_release_told(const char *name, void *p, size_t alignment, size_t size, bool resized)
{
	if (!bits_is_power(alignment) || ((uintptr_t)p & (alignment - 1)) != 0 ||
	    !block_release(alignment > 1 ? CALL_RELEASE_ALIGNED : CALL_RELEASE_SIZED, name, p, size))
		bare_release_told(name, p, alignment, size, resized);
}
#endif

/* ---- resizing ---- */

/* Resizes a span, which may move if `to` does; bytes: with the guard.  NULL: no memory, or not possible in place. */
static void *span_reset(void *p, size_t had, size_t alignment, size_t size, size_t have)
{
	size_t bytes = size + GUARD_BYTES;
	void *to;

	guard_lift(p, had, have);
	if (alignment == RESIZE_IN_PLACE)
		to = bare_expand(p, bytes) != 0 ? p : NULL;
	else
		to = bare_aligned_resize(p, alignment, bytes);
	if (to == NULL) {
		guard_set(p, had, have);
		return NULL;
	}
	have = chunk_block(map_find(to), to);
	if (size < had)
		memset((char *)to + size, 0, (had < have ? had : have) - size);
	guard_set(to, size, have);
	return to;
}

/* The same where the block is, which has room for it. */
static void *slot_reset(void *p, size_t had, size_t size, size_t have)
{
	guard_lift(p, had, have);
	if (size < had)
		memset((char *)p + size, 0, had - size);
	guard_set(p, size, have);
	return p;
}

/* Resizes a block of the default heap, of `had` bytes.  alignment: see resize.h. */
static void *block_reset(const char *name, void *p, size_t had, size_t alignment, size_t size, size_t have)
{
	size_t bytes = size + GUARD_BYTES;
	bool may_stay;
	void *to;

	if ((bytes > SLOT_MAX || alignment == RESIZE_IN_PLACE) && span_is(map_find(p), p))
		return span_reset(p, had, alignment, size, have);
	may_stay = have_is_guarded(have) && bytes <= have && resize_may_stay(p, alignment);
	if (may_stay && (alignment == RESIZE_IN_PLACE || (size > 0 && block_fits(have, bytes))))
		return slot_reset(p, had, size, have);
	if (alignment == RESIZE_IN_PLACE)
		return NULL;
	to = block_new(alignment, size, false);
	if (to == NULL)
		return may_stay && size <= had ? slot_reset(p, had, size, have) : NULL; /* as move_aligned */
	memcpy(to, p, had < size ? had : size);
	(void)block_release(CALL_RESIZE, name, p, SIZE_UNTOLD);
	return to;
}

static ALWAYS_INLINE size_t size_of(const char *call, const char *name, const void *p, size_t have)
{
	return have_is_guarded(have) ? guard_size(call, name, p, have) : 0;
}

void *ash_resize(void *p, size_t size)
{
	size_t have = block_have(p);

	if (p == NULL || size > PTRDIFF_MAX)
		return have == 0 && p != NULL ? bare_resize(p, size) : block_new(1, size, false);
	return have == 0 ? bare_resize(p, size)
			 : block_reset(NULL, p, size_of(CALL_RESIZE, NULL, p, have), 1, size, have);
}

void *ash_aligned_resize(void *p, size_t alignment, size_t size)
{
	size_t have = block_have(p);

	if (p == NULL || !span_may_align(alignment) || size > PTRDIFF_MAX)
		return have == 0 && p != NULL ? bare_aligned_resize(p, alignment, size) : block_new(alignment, size, false);
	return have == 0 ? bare_aligned_resize(p, alignment, size)
			 : block_reset(NULL, p, size_of(CALL_ALIGNED_RESIZE, NULL, p, have), alignment, size, have);
}

size_t ash_expand(void *p, size_t size)
{
	size_t have = block_have(p);

	if (have == 0 || size > PTRDIFF_MAX)
		return have == 0 ? bare_expand(p, size) : 0;
	return block_reset(NULL, p, size_of(CALL_EXPAND, NULL, p, have), RESIZE_IN_PLACE, size, have) != NULL ? size : 0;
}

#if IS_MALLOC
void *ash_realloc(void *p, size_t size)
{
	size_t have = block_have(p);

	if (have == 0 || size > PTRDIFF_MAX)
		return have == 0 ? bare_realloc(p, size) : block_new(1, size, false);
	return block_reset("realloc", p, size_of(CALL_RESIZE, "realloc", p, have), 1, size, have);
}
#endif

/* ---- a thread's quarantine goes back ---- */

size_t ash_trim(size_t keep)
{
	quarantine_empty();
	return bare_trim(keep);
}

void ash_thread_detach(void)
{
	quarantine_empty();
	bare_thread_detach();
}

/* ---- diagnosis ---- */

/* To the bitmaps a block in quarantine is taken: other threads' count. */
void ash_stats(struct ash_statistics *out)
{
	quarantine_empty();
	bare_stats(out);
}

static bool place_is_guarded(const struct block_place *at)
{
	return at->slab != NULL && load_relaxed(&at->slab->class) != 0;
}

static int see_damage(void *context, const struct block_place *at)
{
	bool damaged = false;

	(void)context;
	if (place_is_guarded(at))
		(void)guard_peek(at->start, at->size, &damaged);
	return damaged;
}

int ash_check(void)
{
	enum { I14_BLOCKS_ARE_WHOLE = 14 };
	int broken = bare_check();

	return broken != 0 || blocks_walk(&heap_default, see_damage, NULL) == 0 ? broken : I14_BLOCKS_ARE_WHOLE;
}

/* Of a span the size is what it has: its last page may be unmapped meanwhile. */
enum ash_place ash_find(const void *p, struct ash_block *out)
{
	bool damaged;

	if (bare_find(p, out) != ASH_TAKEN || out->heap != NULL || out->row >= CLASSES)
		return out->place;
	out->size = out->row == 0 ? 0 : guard_peek(out->start, out->size, &damaged);
	if (out->size == SIZE_MAX) {
		out->size = class_size(out->row);
		out->place = ASH_FREE;
	} else if (out->offset > 0 && out->offset >= out->size) {
		out->place = ASH_UNUSED;
	}
	return out->place;
}

#if IS_MALLOC
INTERNAL size_t ash_object_size(const void *p); /* see core/malloc/facade.h */

size_t ash_object_size(const void *p)
{
	struct ash_block b;

	if (ash_find(p, &b) == ASH_TAKEN)
		return b.size - b.offset;
	return b.place == ASH_FOREIGN && p != NULL ? SIZE_MAX : 0;
}
#endif
