/* SPDX-License-Identifier: MIT */
/*
 * Functions of the core that core/malloc needs beside the public calls, only in malloc's products.  core/malloc
 * includes only public headers, and declares these functions itself (core/malloc/facade.h).
 */
#include "ashlar.h"
#include "backend/heap.h"
#include "diagnostics/blocks.h"
#include "panic.h"
#include "say.h"

typedef void stats_row(void *to, const struct ash_class *class);
HIDDEN void ash_stats_rows(stats_row *row, void *to);
HIDDEN void ash_stats_rows_few(stats_row *row, void *to);
HIDDEN size_t ash_stats_parts(stats_row *part, size_t *runs, void *to);
HIDDEN void ash_say(const char *text, size_t length);
HIDDEN bool ash_may_say(void);
HIDDEN struct ash_defaults *ash_own_settings(void);
INTERNAL size_t ash_object_size(const void *p);

/* Counts the rows in parts of `room` rows, the size of the table. */
static void rows_see(struct ash_class *table, unsigned room, stats_row *row, void *to)
{
	struct class_rows some = {0, 0, table};
	unsigned i;

	for (; some.first <= CLASSES; some.first = some.last + 1) {
		some.last = some.first + room - 1 < CLASSES ? some.first + room - 1 : CLASSES;
		class_count(&some);
		for (i = some.first; i <= some.last; i++)
			row(to, &table[i - some.first]);
	}
}

void ash_stats_rows(stats_row *row, void *to)
{
	struct ash_class table[CLASSES + 1];

	rows_see(table, CLASSES + 1, row, to);
}

void ash_stats_rows_few(stats_row *row, void *to)
{
	struct ash_class table[8];

	rows_see(table, sizeof table / sizeof *table, row, to);
}

struct parts {
	stats_row *part;
	void *to;
};

static int part_see(void *context, const struct block_place *at, size_t chunks)
{
	const struct parts *all = context;
	struct ash_class one = {.slabs = 1, .bytes = at->size, .slots = 1, .taken = 1};
	struct stats_slab slab;

	if (chunks == 0) {
		slab = stats_of_slab(at->slab);
		one = (struct ash_class){slab.size, 1, slab.bytes, slab.slots, slab.taken, slab.pending};
	}
	all->part(all->to, &one);
	return 0;
}

size_t ash_stats_parts(stats_row *part, size_t *runs, void *to)
{
	struct parts all = {part, to};
	struct stats_dirty dirty;

	quarantine_empty(); /* as in ash_stats */
	stats_of_dirty(&heap_default, &dirty);
	(void)blocks_parts(&heap_default, part_see, &all);
	*runs = dirty.runs;
	return dirty.bytes;
}

void ash_say(const char *text, size_t length)
{
	text_say(text, length);
}

bool ash_may_say(void)
{
	return panic_may_write();
}

size_t ash_object_size(const void *p)
{
	struct block_place at;
	struct ash_block b;

	blocks_look(p, true, &b, &at);
	if (b.place == ASH_TAKEN)
		return b.size - b.offset;
	return b.place == ASH_FOREIGN && p != NULL ? SIZE_MAX : 0;
}

struct ash_defaults *ash_own_settings(void)
{
	if (heap_default.options != &heap_default.own) {
		heap_default.own = ash_defaults;
		heap_default.options = &heap_default.own;
	}
	return &heap_default.own;
}
