/* SPDX-License-Identifier: MIT */
/*
 * What core/malloc needs of the core beside the public calls: of malloc's products alone.  core/malloc includes
 * only public headers, and declares these functions itself (core/malloc/facade.h).
 */
#include "ashlar.h"
#include "backend/heap.h"
#include "diagnostics/blocks.h"
#include "panic.h"
#include "say.h"

HIDDEN void ash_stats_rows(void (*row)(void *to, const struct ash_class *class), void *to);
HIDDEN void ash_say(const char *text, size_t length);
HIDDEN bool ash_may_say(void);
HIDDEN struct ash_defaults *ash_own_settings(void);
INTERNAL size_t ash_object_size(const void *p);

void ash_stats_rows(void (*row)(void *to, const struct ash_class *class), void *to)
{
	struct ash_class rows[CLASSES + 1];
	struct class_rows all = {0, CLASSES, rows};
	unsigned i;

	class_count(&all);
	for (i = 0; i <= CLASSES; i++)
		row(to, &rows[i]);
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
