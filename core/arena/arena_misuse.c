/* SPDX-License-Identifier: MIT */
#include "arena/arena_misuse.h"

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
