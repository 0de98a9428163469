/* SPDX-License-Identifier: MIT */
#include "thread/bin.h"

#include "thread/spare.h"
#include "thread/watch.h"

/* Group g of the current slab becomes the bin's. */
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
	 * Round robin among groups in use: by the time it comes round, a group
	 * has gathered slots.  Memory never used before is touched only when
	 * there is nothing else, not even what others released.
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

void bin_rest(struct owner *o, unsigned class)
{
	struct bin *b = &o->bins[class];
	struct slab *s = b->slab;
	unsigned g;

	if (s == NULL)
		return;
	/* Nothing was released into its group, so it is the last one: its other slots stay clean. */
	g = (unsigned)(bin_word(o, b) - s->free);
	if (((s->dirty >> g) & 1) == 0)
		s->opened = g;
	store_relaxed(&b->slab, (struct slab *)NULL); /* looked at by watch_tell */
	b->word = 0;
	slab_let_go(s);
	if (!s->spare) /* spares are not watched */
		(void)slab_watch(s);
	slab_refresh(s);
	slabs_append(slab_is_ready(s) ? &o->lists[class].partial : &o->lists[class].full,
		     s);
}

void bin_take(struct owner *o, unsigned class, struct slab *s)
{
	struct bin *b = &o->bins[class];

	store_relaxed(&b->slab, s);
	b->size = s->slot_size;
	b->word = (uintptr_t)s->free - (uintptr_t)o;
	(void)bin_next_group(o, b); /* should there be none, owner_slot asks again */
	/* Small blocks: their current slab may get empty without more ado. */
	if (b->size <= SPARE_FREE || s->spare)
		s->all_free = 0;
	else
		(void)slab_watch(s);
}

/* The current slab has no free slot left. */
void bin_full(struct owner *o, unsigned class)
{
	struct bin *b = &o->bins[class];
	struct slab *s = b->slab;

	store_relaxed(&b->slab, (struct slab *)NULL); /* looked at by watch_tell */
	b->word = 0;
	slab_let_go(s);
	if (s->spare)
		spares_forget(o, s);
	(void)slab_watch(s);
	slabs_append(&o->lists[class].full, s);
}
