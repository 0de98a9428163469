/* SPDX-License-Identifier: MIT */
#include "arena/arena_call.h"

#include "arena/arena_alloc.h"
#include "memory.h"

_Noreturn void arena_misuse(const struct arena *a, const char *call, const void *p)
{
	const char *fault = call_again(call);
	size_t at = arena_index(a, p), first, bytes;

	if (!arena_has(a, p))
		misuse_report(call, p, "pointer to the allocator's own records", NULL, 0);
	first = arena_begin(a, at);
	bytes = arena_bytes(a, a->base + first * GRANULE);
	if ((uintptr_t)p % GRANULE != 0)
		fault = "misaligned pointer";
	else if (first != at)
		fault = "interior pointer";
	else if (bytes != 0)
		misuse_heap(call, p); /* a block, but not for the heap that was named */
	misuse_report(call, p, fault, bytes == 0 ? NULL : a->base + first * GRANULE, bytes);
}

static bool arena_may_align(size_t alignment)
{
	return bits_is_power(alignment) && alignment <= (size_t)1 << 30;
}

void *arena_call_alloc(struct arena *a, size_t size, size_t alignment, bool zero)
{
	void *p;

	if (!arena_may_align(alignment))
		return NULL;
	p = arena_alloc(a, size, alignment);
	if (p != NULL && zero)
		memset(p, 0, size);
	return p;
}

size_t arena_call_bytes(const struct arena *a, const char *call, const void *p)
{
	size_t bytes;

	if (p == NULL)
		return 0;
	if (!arena_has(a, p))
		misuse_heap(call, p);
	bytes = arena_bytes(a, p);
	if (bytes == 0)
		arena_misuse(a, call, p);
	return bytes;
}

void *arena_call_resize(struct arena *a, const char *call, void *p, size_t alignment, size_t size)
{
	if (arena_call_bytes(a, call, p) == 0)
		return arena_call_alloc(a, size, alignment, false);
	if (!arena_may_align(alignment) || size > PTRDIFF_MAX)
		return NULL;
	return arena_resize(a, p, size, alignment);
}

size_t arena_call_expand(struct arena *a, void *p, size_t size)
{
	if (arena_call_bytes(a, CALL_HEAP_EXPAND, p) == 0 || size > PTRDIFF_MAX ||
	    !arena_fit(a, p, size))
		return 0;
	return arena_bytes(a, p);
}

void arena_call_release(struct arena *a, const char *call, void *p)
{
	if (p == NULL)
		return;
	if (!arena_has(a, p))
		misuse_heap(call, p);
	if (!arena_release(a, p))
		arena_misuse(a, call, p);
}

void arena_call_release_as(struct arena *a, const char *call, void *p, size_t alignment, size_t size)
{
	size_t have = arena_call_bytes(a, call, p);

	if (p == NULL)
		return;
	if (size > have)
		misuse_size(call, p, have);
	if (!bits_is_power(alignment) || ((uintptr_t)p & (alignment - 1)) != 0)
		misuse_alignment(call, p, have);
	arena_call_release(a, call, p);
}
