/* SPDX-License-Identifier: MIT */
/* Figures, counted from the bitmaps when asked for. */
#include "ashlar.h"
#include "memory.h"
#include "owner.h"
#include "region.h"

static void stats_slab(struct ash_stats *out, const struct slab *s)
{
	bool nobodys = slab_is_nobodys(s);
	size_t taken = 0;
	unsigned groups = load_relaxed(&s->groups), g;
	const uint64_t *others = load_relaxed(&s->remote);

	for (g = 0; g < groups; g++) {
		uint64_t word = load_relaxed(&s->free[g]);
		uint64_t remote = nobodys ? 0 : load_relaxed(&others[g]);

		taken += bits_count(slab_group_mask(s, g) & ~(word | remote));
		out->pending += bits_count(remote & ~word);
	}
	out->slabs += (size_t)load_relaxed(&s->units) << UNIT_SHIFT;
	if (!slab_tells(s))
		return;
	out->blocks += taken;
	out->block_bytes += taken * load_relaxed(&s->slot_size);
}

static void stats_chunk(struct ash_stats *out, struct chunk *c)
{
	const struct slab *s;
	unsigned u;

	if (chunk_is(c, CHUNK_SPAN)) {
		out->spans += (size_t)load_relaxed(&c->span_chunks) << CHUNK_SHIFT;
		out->blocks++;
		out->block_bytes += load_relaxed(&c->span_bytes);
	} else if (chunk_is(c, CHUNK_SLABS)) {
		for (u = 0; u < CHUNK_UNITS; u++)
			if ((s = slab_beginning(c, u)) != NULL)
				stats_slab(out, s);
		out->dirty += (size_t)bits_count(load_acquire(&c->units) &
						 ~load_relaxed(&c->clean))
			      << UNIT_SHIFT;
	}
}

void ash_stats(struct ash_stats *out)
{
	heap_stats(&heap_default, out);
}

void heap_stats(struct heap *h, struct ash_stats *out)
{
	struct region *r;
	struct owner *o;
	size_t chunks, i;

	memset(out, 0, sizeof *out);
	for (r = load_acquire(&h->regions); r != NULL; r = r->next) {
		if (load_acquire(&r->state) != REGION_LIVE)
			continue;
		chunks = load_relaxed(&r->chunks);
		out->reserved += chunks << CHUNK_SHIFT;
		for (i = 0; i < chunks; i++) {
			struct run run = {r, i};

			stats_chunk(out, region_chunk(r, i));
			if (bits_all(r->free, i, 1) && !region_is_clean(run, 1))
				out->dirty += CHUNK_SIZE;
		}
	}
	for (o = load_acquire(&h->owners); o != NULL; o = o->next)
		out->owners++;
}
