/* SPDX-License-Identifier: MIT */
/* Figures of a heap and of its size classes, counted from the bitmaps at each call. */
#include "diagnostics/blocks.h"

#include "ashlar.h"
#include "backend/region.h"
#include "memory.h"
#include "slab/look.h"
#include "slab/slab.h"
#include "thread/seat.h"

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

static int stats_part(void *statistics, const struct block_place *at, size_t chunks)
{
	struct ash_statistics *out = statistics;
	struct stats_slab slab;

	if (chunks != 0) {
		out->spans += chunks << CHUNK_SHIFT;
		out->blocks++;
		out->block_bytes += at->size;
		return 0;
	}
	slab = stats_of_slab(at->slab);
	out->slabs += slab.bytes;
	out->blocks += slab.taken;
	out->block_bytes += slab.taken * slab.size;
	out->pending += slab.pending;
	return 0;
}

static void dirty_add(struct stats_dirty *sum, uint64_t word, unsigned shift)
{
	sum->bytes += (size_t)bits_count(word) << shift;
	sum->runs += bits_count(word & ~(word << 1));
}

void stats_of_dirty(struct heap *h, struct stats_dirty *out)
{
	struct region *r;
	size_t chunks, i;

	*out = (struct stats_dirty){0, 0};
	for (r = region_first(h); r != NULL; r = region_next(r)) {
		if (load_acquire(&r->state) != REGION_LIVE)
			continue;
		chunks = load_relaxed(&r->chunks);
		for (i = 0; i < chunks; i += 64)
			dirty_add(out, load_acquire(&r->free[i / 64]) & ~load_relaxed(&r->clean[i / 64]), CHUNK_SHIFT);
		for (i = 0; (i = region_next_known(r, i)) < chunks; i++) {
			const struct chunk *c = region_chunk(r, i);

			/* Pairs with chunk_put.  The kind is tested because `clean` of a span is another word. */
			if (chunk_is(c, CHUNK_SLABS))
				dirty_add(out, load_acquire(&c->units) & ~load_relaxed(&c->clean), UNIT_SHIFT);
		}
	}
}

void ash_stats(struct ash_statistics *out)
{
	quarantine_empty(); /* its blocks count as taken in the bitmaps; those of other threads do count */
	heap_stats(&heap_default, out);
}

void heap_stats(struct heap *h, struct ash_statistics *out)
{
	struct stats_dirty dirty;
	struct region *r;
	struct owner *o;

	memset(out, 0, sizeof *out);
	for (r = region_first(h); r != NULL; r = region_next(r))
		if (load_acquire(&r->state) == REGION_LIVE)
			out->reserved += region_all(r) << CHUNK_SHIFT;
	stats_of_dirty(h, &dirty);
	out->dirty = dirty.bytes;
	(void)blocks_parts(h, stats_part, out);
	for (o = owner_after(h, NULL); o != NULL; o = owner_after(h, o))
		out->owners++;
	out->peak_used = load_relaxed(&h->peak.used) * UNIT_SIZE;
	out->peak_kept = load_relaxed(&h->peak.kept) * UNIT_SIZE;
	out->peak_reserved = load_relaxed(&h->peak.reserved) << CHUNK_SHIFT;
}

static int class_part(void *rows, const struct block_place *at, size_t chunks)
{
	const struct class_rows *to = rows;
	struct stats_slab slab = {.class = CLASSES, .bytes = chunks << CHUNK_SHIFT, .slots = 1, .taken = 1};
	struct ash_class *row;

	if (chunks == 0) {
		slab.class = load_relaxed(&at->slab->class);
		/* The slab belongs to no wanted row: its bits need not be counted. */
		if (slab.class >= to->first && slab.class <= to->last)
			slab = stats_of_slab(at->slab);
	}
	if (slab.class < to->first || slab.class > to->last)
		return 0;
	row = &to->rows[slab.class - to->first];
	row->slabs++;
	row->bytes += slab.bytes;
	row->slots += slab.slots;
	row->taken += slab.taken;
	row->pending += slab.pending;
	return 0;
}

void class_count(struct class_rows *to)
{
	unsigned class;

	memset(to->rows, 0, (to->last - to->first + 1) * sizeof to->rows[0]);
	for (class = to->first; class <= to->last && class < CLASSES; class++)
		to->rows[class - to->first].size = class_size(class);
	(void)blocks_parts(&heap_default, class_part, to);
}

int ash_stats_class(unsigned row, struct ash_class *out)
{
	struct class_rows one = {row, row, out};

	if (row > CLASSES)
		return 0;
	class_count(&one);
	return 1;
}

/*
 * Records that one walk over the slabs counts.  The table is small and on the stack, because a handler may call this
 * on a small stack.
 */
#define RECORDS 16
struct records {
	const struct owner *record[RECORDS]; /* NULL for unowned slabs */
	struct ash_thread_stats sum[RECORDS];
	unsigned count;
};

static int records_part(void *context, const struct block_place *at, size_t chunks)
{
	struct records *all = context;
	const struct owner *o;
	struct stats_slab slab;
	unsigned i;

	if (chunks != 0)
		return 0;
	/* The owner is only compared: a slab that changes its owner now is in one of the rows or in no row. */
	o = (const struct owner *)(uintptr_t)(load_relaxed(&at->slab->owner) & ~OWNER_FLAGS);
	for (i = 0; i < all->count; i++)
		if (all->record[i] == o) {
			slab = stats_of_slab(at->slab);
			all->sum[i].slabs += slab.bytes;
			all->sum[i].blocks += slab.taken;
			all->sum[i].block_bytes += slab.taken * slab.size;
			all->sum[i].pending += slab.pending;
		}
	return 0;
}

/*
 * Returns the thread pointer of a record's holder without a system call: each thread's seat is equally far from its
 * thread pointer.
 */
static const void *record_thread(const struct owner *o)
{
	uint64_t state = o == NULL ? OWNER_VACANT : load_relaxed(&o->state), number = holder_number(state);
	const char *other = state & OWNER_HELD ? roll_seat(number) : NULL;

	/* A child of fork has records of the parent's threads. */
	if (other == NULL || roll_has_left(number) ||
	    (holder_generation(state) != generation_now() && number != holder_number(holder_here())))
		return NULL;
	return other + (cpu_thread_pointer() - (const char *)&seat);
}

void ash_stats_threads(void (*row)(void *context, const struct ash_thread_stats *figures), void *context)
{
	/* Pairs with owner_publish. */
	const struct owner *o = load_acquire(&heap_default.owners);
	struct records all = {.count = 1};
	unsigned i;

	quarantine_empty(); /* as in ash_stats */
	do {
		for (; o != NULL && all.count < RECORDS; o = o->next)
			all.record[all.count++] = o;
		(void)blocks_parts(&heap_default, records_part, &all);
		for (i = 0; i < all.count; i++) {
			if (all.sum[i].slabs == 0)
				continue;
			all.sum[i].thread = record_thread(all.record[i]);
			row(context, &all.sum[i]);
		}
		all = (struct records){.count = 0};
	} while (o != NULL);
}
