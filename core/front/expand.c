/* SPDX-License-Identifier: MIT */
/* ash_expand: another size in the same place. */
#include "ashlar.h"
#include "base/misuse.h"
#include "front/block.h"
#include "front/grow.h"
#include "front/resize.h"
#include "front/sample.h"
#include "front/span.h"
#include "thread/bin.h"

size_t ash_expand(void *p, size_t size)
{
	size_t have = block_bytes(CALL_EXPAND, p);
	struct chunk *c = map_find(p);
	void *same = p;

	if (p == NULL || size > PTRDIFF_MAX)
		return 0;
	if (unlikely(heap_hooks_now() != NULL)) {
		if (heap_hooks_now()->resize(c, &same, size, RESIZE_IN_PLACE))
			return same == NULL ? 0 : block_bytes(CALL_EXPAND, p);
		/* Before it shrinks: afterwards other threads may take the memory. */
		if (size < have)
			heap_hooks_now()->gone(p, have);
	}
	if (!span_is(c, p)) {
		if (size <= have) {
			resize_keeps(have, size);
			return have;
		}
		return grow_large(p, size) ? block_bytes(CALL_EXPAND, p) : 0;
	}
	sample_gone(p); /* before its memory may be another block's */
	if (!span_fit(c, size > 0 ? size : 1)) {
		sample_large(p, have);
		return 0;
	}
	sample_large(p, c->span_bytes);
	watch_tick(); /* memory may have been freed */
	return c->span_bytes;
}
