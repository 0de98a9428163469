/* SPDX-License-Identifier: MIT */
/* ash_stats: figures of a heap, counted from the bitmaps at each call. */
#include "diagnostics/stats.h"

#include "ashlar.h"
#include "backend/region.h"
#include "diagnostics/blocks.h"
#include "memory.h"
#include "slab/look.h"
#include "thread/owner.h"

static void stats_slab(struct ash_statistics *out, const struct slab *s)
{
	struct stats_slab slab = stats_of_slab(s);

	out->slabs += slab.bytes;
	out->blocks += slab.taken;
	out->block_bytes += slab.taken * slab.size;
	out->pending += slab.pending;
}

struct stats_slab stats_of_slab(const struct slab *s)
{
	struct look l = look_begin(s);
	struct stats_slab sum = {l.class, l.size, (size_t)l.units << UNIT_SHIFT, l.slots, 0, 0};
	struct look_group words;
	unsigned g;

	for (g = 0; g < l.groups; g++)
		if (look_at_group(&l, g, &words)) {
			sum.taken += bits_count(words.taken);
			sum.pending += bits_count(words.pending);
		}
	return sum;
}

static void stats_chunk(struct ash_statistics *out, struct chunk *c)
{
	struct block_place span;
	const struct slab *s;
	size_t chunks;
	unsigned u;

	if (blocks_span(c, &chunks, &span)) {
		out->spans += chunks << CHUNK_SHIFT;
		out->blocks++;
		out->block_bytes += span.size;
	} else if (chunk_is(c, CHUNK_SLABS)) {
		for (u = 0; u < CHUNK_UNITS; u++)
			if ((s = slab_beginning(c, u)) != NULL)
				stats_slab(out, s);
		out->dirty += (size_t)bits_count(load_acquire(&c->units) &
						 ~load_relaxed(&c->clean))
			      << UNIT_SHIFT;
	}
}

void ash_stats(struct ash_statistics *out)
{
	heap_stats(&heap_default, out);
}

void heap_stats(struct heap *h, struct ash_statistics *out)
{
	struct region *r;
	struct owner *o;
	size_t chunks, i;

	memset(out, 0, sizeof *out);
	for (r = region_first(h); r != NULL; r = region_next(r)) {
		if (load_acquire(&r->state) != REGION_LIVE)
			continue;
		chunks = load_relaxed(&r->chunks);
		out->reserved += chunks << CHUNK_SHIFT;
		for (i = 0; i < chunks; i++) {
			struct run run = {r, i};

			/* A chunk that was never used is not read, as in walk_next. */
			if (!bits_all(r->free, i, 1))
				stats_chunk(out, region_chunk(r, i));
			else if (!region_is_clean(run, 1))
				out->dirty += CHUNK_SIZE;
		}
	}
	for (o = load_acquire(&h->owners); o != NULL; o = o->next)
		out->owners++;
}
