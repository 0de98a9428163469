/* SPDX-License-Identifier: MIT */
/* ash_stats: figures of a heap, counted from the bitmaps at each call. */
#include "diagnostics/stats.h"

#include "ashlar.h"
#include "backend/region.h"
#include "memory.h"
#include "text.h"
#include "thread/owner.h"

/* Returns the taken slots; adds to *pending those released by others and not yet collected. */
static size_t stats_taken(const struct slab *s, size_t *pending)
{
	bool unowned = slab_is_unowned(s);
	size_t taken = 0;
	unsigned groups = load_relaxed(&s->groups), g;
	const uint64_t *others = load_relaxed(&s->remote);

	if (!slab_words_valid(s))
		return 0;
	for (g = 0; g < groups; g++) {
		/* The remote word first, by acquire: as in slot_is_taken. */
		uint64_t remote = unowned ? 0 : load_acquire(&others[g]);
		uint64_t word = load_relaxed(&s->free[g]);

		taken += bits_count(slab_group_mask(s, g) & ~(word | remote));
		*pending += bits_count(remote & ~word);
	}
	return slab_words_valid(s) ? taken : 0;
}

static void stats_slab(struct ash_stats *out, const struct slab *s)
{
	size_t taken = stats_taken(s, &out->pending);

	out->slabs += (size_t)load_relaxed(&s->units) << UNIT_SHIFT;
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

			/* See walk_next. */
			if (!bits_all(r->free, i, 1))
				stats_chunk(out, region_chunk(r, i));
			else if (!region_is_clean(run, 1))
				out->dirty += CHUNK_SIZE;
		}
	}
	for (o = load_acquire(&h->owners); o != NULL; o = o->next)
		out->owners++;
}

#ifdef ASHLAR_MALLOC
/*
 * For core/malloc, which declares these functions itself (core/malloc/facade.h), as it
 * includes only public headers.
 */
HIDDEN void ash_stats_rows(void (*row)(void *to, size_t size, size_t slots, size_t taken,
				       size_t bytes),
			   void *to);
HIDDEN void ash_say(const char *text, size_t length);

/* Sums for a size class: slots, taken slots, bytes of the slabs. */
struct stats_row {
	size_t slots, taken, bytes;
};

static void stats_add(struct stats_row *r, size_t slots, size_t taken, size_t bytes)
{
	r->slots += slots;
	r->taken += taken;
	r->bytes += bytes;
}

/* Adds the chunk's slabs to the rows of their classes, or its span to the last row. */
static void stats_sort(struct stats_row *rows, struct chunk *c)
{
	size_t pending = 0;
	unsigned u;

	if (chunk_is(c, CHUNK_SPAN)) {
		stats_add(&rows[CLASSES], 1, 1, (size_t)load_relaxed(&c->span_chunks) << CHUNK_SHIFT);
	} else if (chunk_is(c, CHUNK_SLABS)) {
		for (u = 0; u < CHUNK_UNITS; u++) {
			const struct slab *s = slab_beginning(c, u);
			size_t size;

			if (s == NULL)
				continue;
			size = load_relaxed(&s->slot_size);
			/* The record may be reused meanwhile, so the size is checked. */
			if (size - 1 < SLOT_MAX)
				stats_add(&rows[class_of(size)], load_relaxed(&s->slots),
					  stats_taken(s, &pending),
					  (size_t)load_relaxed(&s->units) << UNIT_SHIFT);
		}
	}
}

void ash_stats_rows(void (*row)(void *to, size_t size, size_t slots, size_t taken, size_t bytes),
		    void *to)
{
	struct stats_row rows[CLASSES + 1];
	struct region *r;
	size_t i;

	memset(rows, 0, sizeof rows);
	for (r = load_acquire(&heap_default.regions); r != NULL; r = r->next)
		for (i = 0; load_acquire(&r->state) == REGION_LIVE && i < load_relaxed(&r->chunks); i++)
			stats_sort(rows, region_chunk(r, i));
	for (i = 0; i <= CLASSES; i++)
		row(to, i < CLASSES ? class_size((unsigned)i) : 0, rows[i].slots, rows[i].taken,
		    rows[i].bytes);
}

void ash_say(const char *text, size_t length)
{
	text_say(text, length);
}
#endif
