/* SPDX-License-Identifier: MIT */
#include "thread/bin.h"

#include "thread/spare.h"
#include "thread/watch.h"

/* Moves the bin to group g of its slab. */
static void bin_point(struct owner *o, struct bin *b, unsigned g)
{
	watch_group(o, b->slab, g);
	b->word = (uintptr_t)&b->slab->free[g] - (uintptr_t)o;
	b->base = b->slab->base + (size_t)g * GROUP_SLOTS * b->slab->slot_size;
}

bool bin_next_group(struct owner *o, struct bin *b)
{
	struct slab *s = b->slab;
	unsigned g = (unsigned)(bin_word(o, b) - s->free);

	/*
	 * Round robin among the groups in use, so that slots have been released into a
	 * group by the time it is next.  Untouched groups come last, after remote bits:
	 * memory is first touched only if there is nothing else.
	 */
	do
		while (s->ready != 0) {
			uint64_t after = s->ready & ~bits_run(0, g + 1);

			g = bits_lowest(after != 0 ? after : s->ready);
			if (load_relaxed(&s->free[g]) != 0) {
				bin_point(o, b, g);
				return true;
			}
			store_relaxed(&s->ready, s->ready & ~((uint32_t)1 << g));
		}
	while ((load_relaxed(&s->owner) & OWNER_PENDING) != 0 && slab_collect(s, false));
	if (s->opened == s->groups)
		return false;
	bin_point(o, b, s->opened++);
	return true;
}

void bin_detach(struct owner *o, unsigned class)
{
	struct bin *b = &o->bins[class];
	struct slab *s = b->slab;
	unsigned g;

	if (s == NULL)
		return;
	/*
	 * If nothing was released into the bin's group, the group is the last one opened.
	 * It becomes untouched again, so that its remaining slots stay clean.
	 */
	g = (unsigned)(bin_word(o, b) - s->free);
	if (((s->dirty >> g) & 1) == 0)
		s->opened = g;
	store_relaxed(&b->slab, (struct slab *)NULL); /* read by watch_notify */
	b->word = 0;
	slab_let_go(s);
	if (!s->spare) /* slab_watch is not for spares */
		(void)slab_watch(s);
	slab_refresh(s);
	slabs_append(slab_is_ready(s) ? &o->lists[class].partial : &o->lists[class].full, s);
}

void bin_take(struct owner *o, unsigned class, struct slab *s)
{
	struct bin *b = &o->bins[class];

	store_relaxed(&b->slab, s);
	b->size = s->slot_size;
	b->word = (uintptr_t)s->free - (uintptr_t)o;
	(void)bin_next_group(o, b); /* if it finds no slot, refill_slot calls refill_bin again */
	/* Small classes do not react when their current slab becomes empty. */
	if (b->size <= SPARE_FREE || s->spare)
		s->all_free = 0;
	else
		(void)slab_watch(s);
}

void bin_full(struct owner *o, unsigned class)
{
	struct bin *b = &o->bins[class];
	struct slab *s = b->slab;

	store_relaxed(&b->slab, (struct slab *)NULL); /* read by watch_notify */
	b->word = 0;
	slab_let_go(s);
	if (s->spare)
		spares_remove(o, s);
	(void)slab_watch(s);
	slabs_append(&o->lists[class].full, s);
}
