/* SPDX-License-Identifier: MIT */
/* What ash_stats, ash_check and ash_find say of guarded blocks. */
#include "diagnostics/blocks.h"
#include "hardened/guarded.h"
#include "hardened/quarantine.h"

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
	enum { I15_BLOCKS_ARE_WHOLE = 15 };
	int broken = bare_check();

	return broken != 0 || blocks_walk(&heap_default, see_damage, NULL) == 0 ? broken : I15_BLOCKS_ARE_WHOLE;
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
