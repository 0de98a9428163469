/* SPDX-License-Identifier: MIT */
/* The public calls of libashlar-small.a that every program makes. */
#include "ashlar.h"
#include "base/misuse.h"
#include "memory.h"
#include "small/find.h"

/* `more` is that of large_alloc. */
static void *take(size_t size, size_t alignment, bool zero, size_t more)
{
	unsigned level = pool_level(size, alignment), again;
	void *p = NULL;

	if (size <= PTRDIFF_MAX && bits_is_power(alignment) && alignment <= (size_t)1 << 30)
		for (again = 0; p == NULL && (again == 0 || pool_return_all()); again++)
			p = level < POOL_LEVELS ? pool_alloc(level, size, alignment, zero) : large_alloc(size, alignment, zero, more);
	if (p == NULL)
		ash_on_no_memory();
	return p;
}

void *ash_alloc(size_t size)
{
	return take(size, 1, false, 0);
}

void *ash_aligned_alloc(size_t alignment, size_t size)
{
	return take(size, alignment, false, 0);
}

void *ash_zalloc(size_t count, size_t size)
{
	size_t bytes;

	return take(__builtin_mul_overflow(count, size, &bytes) ? SIZE_MAX : bytes, 1, true, 0);
}

void *ash_aligned_zalloc(size_t alignment, size_t size)
{
	return take(size, alignment, true, 0);
}

/* Returns the bytes of the block at p, and the word of its place; p must be a block. */
static size_t bytes_of(const char *call, const void *p, uint64_t *word)
{
	size_t bytes;

	*word = place_at(p);
	if (place_pool(*word) != NULL)
		bytes = pool_bytes(place_pool(*word), p);
	else
		bytes = ((uintptr_t)p & (PLACE_BYTES - 1)) == 0 ? large_bytes(*word) : 0;
	if (bytes == 0)
		find_misuse(call, p);
	return bytes;
}

static void release(const char *call, void *p)
{
	uint64_t word;

	if (p == NULL)
		return;
	word = place_at(p);
	if (place_pool(word) != NULL ? !pool_release(place_pool(word), p)
				     : bytes_of(call, p, &word) == 0 || !large_release(p, word))
		find_misuse(call, p);
}

void ash_release(void *p)
{
	release(CALL_RELEASE, p);
}

static void release_as(const char *call, void *p, size_t alignment, size_t size)
{
	uint64_t word;

	if (p == NULL)
		return;
	misuse_unless_fits(call, p, bytes_of(call, p, &word), alignment, size);
	release(call, p);
}

void ash_release_sized(void *p, size_t size)
{
	release_as(CALL_RELEASE_SIZED, p, 1, size);
}

void ash_release_aligned_sized(void *p, size_t alignment, size_t size)
{
	release_as(CALL_RELEASE_ALIGNED, p, alignment, size);
}

/* Changes the size of the block in place, if that is possible. */
static bool fit(void *p, uint64_t word, size_t size)
{
	return place_pool(word) != NULL ? pool_fit(place_pool(word), p, size) : large_fit(p, word, size);
}

static void *resize(const char *call, void *p, size_t alignment, size_t size)
{
	unsigned level = pool_level(size, alignment);
	bool stays = bits_is_power(alignment) && ((uintptr_t)p & (alignment - 1)) == 0;
	struct pool *q;
	uint64_t word;
	size_t bytes;
	void *moved;

	if (p == NULL)
		return take(size, alignment, false, 0);
	bytes = bytes_of(call, p, &word);
	q = place_pool(word);
	if (stays && size <= PTRDIFF_MAX && level == (q == NULL ? POOL_LEVELS : q->level) && fit(p, word, size))
		return p;
	moved = take(size, alignment, false, size > bytes ? size / 4 : 0);
	if (moved == NULL) /* a block that shrinks may stay if there is no memory for a smaller block */
		return stays && size <= bytes && fit(p, word, size) ? p : NULL;
	if (bytes > size)
		bytes = size;
	if (q != NULL || level != POOL_LEVELS)
		memcpy(moved, p, bytes);
	else if (!large_copy(moved, p, bytes))
		return resize(call, p, alignment, size);
	release(call, p);
	return moved;
}

void *ash_resize(void *p, size_t size)
{
	return resize(CALL_RESIZE, p, 1, size);
}

void *ash_aligned_resize(void *p, size_t alignment, size_t size)
{
	return resize(CALL_ALIGNED_RESIZE, p, alignment, size);
}

size_t ash_expand(void *p, size_t size)
{
	uint64_t word;
	size_t bytes;

	if (p == NULL)
		return 0;
	bytes = bytes_of(CALL_EXPAND, p, &word);
	if (size <= bytes && bytes <= (size_t)1 << 20)
		return bytes;
	return size <= PTRDIFF_MAX && fit(p, word, size) ? bytes_of(CALL_EXPAND, p, &word) : 0;
}

size_t ash_usable_size(const void *p)
{
	uint64_t word;

	return p == NULL ? 0 : bytes_of(CALL_USABLE_SIZE, p, &word);
}

size_t ash_good_size(size_t size)
{
	unsigned level = pool_level(size, 1);
	size_t granule = level < POOL_LEVELS ? pool_granule(level) : PAGE_LEAST;

	return size > PTRDIFF_MAX ? 0 : size == 0 ? granule : (size + granule - 1) & ~(granule - 1);
}

void ash_thread_detach(void)
{
}
