/* SPDX-License-Identifier: MIT */
/* What ash_stats, ash_check and ash_find say of guarded blocks. */
#include "diagnostics/blocks.h"
#include "hardened/bare.h"
#include "hardened/guarded.h"
#include "hardened/quarantine.h"

/* To the bitmaps a block in quarantine is taken: other threads' count. */
void ash_stats(struct ash_statistics *out)
{
	quarantine_empty();
	bare_stats(out);
}

/* True: the slab is the caller's own, so its memory stays while the caller looks at it; and its blocks are guarded. */
static bool slab_is_readable(const struct slab *s)
{
	return SEATED && s != NULL && owner_has(seat.self, s) && load_relaxed(&s->class) != 0;
}

static int see_damage(void *context, const struct block_place *at)
{
	bool damaged = false;

	(void)context;
	if (slab_is_readable(at->slab))
		(void)guard_peek(at->start, at->size, &damaged);
	return damaged;
}

int ash_check(void)
{
	enum { I15_BLOCKS_ARE_WHOLE = 15 };
	int broken = bare_check();

	return broken != 0 || blocks_walk(&heap_default, see_damage, NULL) == 0 ? broken : I15_BLOCKS_ARE_WHOLE;
}

/* Of a span, and of other threads' slots, the size is what these have, as their memory may be unmapped meanwhile. */
enum ash_place ash_find(const void *p, struct ash_block *out)
{
	const struct slab *s;
	bool damaged;

	if (bare_find(p, out) != ASH_TAKEN || out->heap != NULL || out->row >= CLASSES)
		return out->place;
	s = map_guess_slab(out->start);
	if (out->row == 0)
		out->size = 0;
	else if (!slab_is_readable(s) || !slab_is_of(s, out->start))
		out->size -= GUARD_BYTES;
	else if ((out->size = guard_peek(out->start, out->size, &damaged)) == SIZE_MAX)
		*out = (struct ash_block){.place = ASH_FREE, .row = out->row, .start = out->start, .size = class_size(out->row),
					  .offset = out->offset, .thread = out->thread};
	if (out->place == ASH_TAKEN && out->offset > 0 && out->offset >= out->size)
		out->place = ASH_UNUSED;
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
