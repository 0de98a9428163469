/* SPDX-License-Identifier: MIT */
/*
 * The public calls of the hardened products: each block of the default heap is guarded (guard.h), and waits in
 * its releaser's quarantine before its slot is free.  Below them are the ordinary calls, whose slots come from
 * random places (bin_slot, claim_in, fence_place).
 */
#include "hardened/hardened.h"

#include "hardened/bare.h"

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
#undef ash_trim_step
#undef ash_thread_detach
#undef ash_stats
#undef ash_check
#undef ash_find
#undef ash_object_size

#include "front/alloc.h"
#include "hardened/guarded.h"
#include "hardened/quarantine.h"

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

ALWAYS_INLINE void *block_new(size_t alignment, size_t size, bool zero)
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
	size_t have = bare_good_size(size + GUARD_BYTES);

	if (size == 0 || size > PTRDIFF_MAX)
		return 0;
	return have != 0 ? have - GUARD_BYTES : size;
}

size_t ash_usable_size(const void *p)
{
	size_t have = block_have(p);

	if (have == 0)
		return bare_usable_size(p);
	return have_is_guarded(have) ? guard_size(CALL_USABLE_SIZE, NULL, p, have) : 0;
}

/* ---- release ---- */

bool block_release(const char *call, const char *name, void *p, size_t size)
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
		guard_clear(call, name, p, had, have);
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

/* ---- a thread's quarantine goes back ---- */

size_t ash_trim(size_t keep)
{
	quarantine_empty();
	return bare_trim(keep);
}

/* The quarantine is as bounded as a step. */
size_t ash_trim_step(size_t budget)
{
	quarantine_empty();
	return bare_trim_step(budget);
}

void ash_thread_detach(void)
{
	quarantine_empty();
	bare_thread_detach();
}
