/* SPDX-License-Identifier: MIT */
/*
 * What core/malloc needs of the core beside the public calls: of malloc's products alone.  core/malloc includes
 * only public headers, and declares these functions itself (core/malloc/facade.h).
 */
#include "ashlar.h"
#include "backend/heap.h"
#include "diagnostics/blocks.h"
#include "diagnostics/stats.h"
#include "panic.h"
#include "say.h"
#include "thread/seat.h"

HIDDEN void ash_stats_rows(void (*row)(void *to, const struct ash_class *class), void *to);
INTERNAL void ash_stats_threads(void (*row)(uintptr_t thread, const struct ash_class *sum));
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

/* Records that one walk over the slabs counts: a table on the stack, as a handler may ask. */
#define RECORDS 64
struct records {
	const struct owner *record[RECORDS]; /* NULL: unowned slabs */
	struct ash_class sum[RECORDS];
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
	/* Only compared: a slab that changes its owner now is in one of its rows, or in none. */
	o = (const struct owner *)(uintptr_t)(load_relaxed(&at->slab->owner) & ~OWNER_FLAGS);
	for (i = 0; i < all->count; i++)
		if (all->record[i] == o) {
			slab = stats_of_slab(at->slab);
			all->sum[i].slabs++;
			all->sum[i].bytes += slab.bytes;
			all->sum[i].size += slab.taken * slab.size;
			all->sum[i].taken += slab.taken;
			all->sum[i].pending += slab.pending;
		}
	return 0;
}

/*
 * The thread pointer of a record's holder, without a system call: its seat is as far from it as the caller's is.
 * roll_seat has no low bits: thread pointers are equal modulo 16, as in each libc.  0: a vacant record, or a thread
 * that has no number.
 */
static uintptr_t record_thread(const struct owner *o)
{
	uint64_t state = o == NULL ? OWNER_VACANT : load_relaxed(&o->state);
	const void *other = state & OWNER_HELD ? roll_seat(holder_number(state)) : NULL;

	return other == NULL ? 0 : (uintptr_t)__builtin_thread_pointer() - ((uintptr_t)&seat & ~(uintptr_t)15) + (uintptr_t)other;
}

void ash_stats_threads(void (*row)(uintptr_t thread, const struct ash_class *sum))
{
	const struct owner *o = load_acquire(&heap_default.owners); /* pairs with owner_publish */
	struct records all = {.count = 1};
	unsigned i;

	do {
		for (; o != NULL && all.count < RECORDS; o = o->next)
			all.record[all.count++] = o;
		(void)blocks_parts(&heap_default, records_part, &all);
		for (i = 0; i < all.count; i++)
			if (all.sum[i].slabs != 0)
				row(record_thread(all.record[i]), &all.sum[i]);
		all = (struct records){.count = 0};
	} while (o != NULL);
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
