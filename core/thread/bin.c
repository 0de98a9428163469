/* SPDX-License-Identifier: MIT */
#include "thread/bin.h"

#include "thread/watch.h"

/* Moves the bin to group g of its slab; true. */
static bool bin_point(struct owner *o, struct bin *b, unsigned g)
{
	watch_group(o, b->slab, g);
	b->word = (uintptr_t)&b->slab->free[g] - (uintptr_t)o;
	b->base = b->slab->base + (size_t)g * GROUP_SLOTS * b->slab->slot_size;
	return true;
}

/*
 * Moves the bin to the next ready group that has a free slot, round robin, so that slots have
 * been released into a group by the time it is next.  False: none has; then
 * no group is ready.
 */
static bool bin_turn(struct owner *o, struct bin *b)
{
	struct slab *s = b->slab;
	unsigned next = (unsigned)(bin_word(o, b) - s->free) + 1;
	/* Bit i: group next + i, modulo 32. */
	uint32_t turn = bits_rotated(s->ready, next);

	for (; turn != 0; turn &= turn - 1) {
		unsigned g = (next + bits_lowest(turn)) % SLAB_GROUPS;

		if (load_relaxed(&s->free[g]) != 0)
			return bin_point(o, b, g);
	}
	store_relaxed(&s->ready, (uint32_t)0);
	return false;
}

bool bin_step(struct owner *o, struct bin *b)
{
	bool found;

	/* One in 64 goes the long way, which starts the clock if it is due. */
	if (b->slab == NULL || o->watch || owner_is_counted(o))
		return false;
	owner_begin(o);
	found = bin_turn(o, b);
	owner_end(o);
	return found;
}

bool bin_next_group(struct owner *o, struct bin *b)
{
	struct slab *s = b->slab;
	uint64_t *at = bin_word(o, b);

	/*
	 * A slab that is just full comes to have one ready group, the bin's: then each release
	 * into another one is an event, and the bin follows it (settle_freed).  Not at each
	 * step: that would be an event more for nearly each.
	 */
	if (load_relaxed(at) == 0)
		group_unready(s, (unsigned)(at - s->free));
	/*
	 * Untouched groups come last, after remote bits: memory is first touched only if
	 * there is nothing else.
	 */
	do
		if (bin_turn(o, b))
			return true;
	while ((load_relaxed(&s->owner) & OWNER_PENDING) != 0 && slab_collect(s, false));
	if (s->opened == s->groups)
		return false;
	return bin_point(o, b, s->opened++);
}

void bin_detach(struct owner *o, unsigned class)
{
	struct bin *b = &o->bins[class];
	struct slabs *l = &b->full;
	struct slab *s = b->slab;
	uint64_t *at = bin_word(o, b);

	if (s == NULL)
		return;
	/*
	 * If slots are left in the bin's group, and nothing was released into it, it is the last
	 * one opened.  It becomes untouched again, so that these slots stay clean.
	 */
	if (load_relaxed(at) != 0) {
		unsigned g = (unsigned)(at - s->free);

		if (((s->dirty >> g) & 1) == 0)
			s->opened = g;
		else
			store_relaxed(&s->ready, s->ready | (uint32_t)1 << g);
	}
	b->slab = NULL;
	b->word = 0;
	slab_let_go(s);
	if (slab_is_ready(s)) {
		l = &b->partial;
		if (!s->spare) /* slab_arm is not for spares; a full slab waits for settle_slab */
			(void)slab_arm(s);
	} else if (s->spare) {
		spares_remove(o, s);
	}
	slabs_append(l, s);
}

void bin_take(struct owner *o, unsigned class, struct slab *s)
{
	struct bin *b = &o->bins[class];

	if (!SMALL)
		store_relaxed(&s->purged, (uint8_t)0); /* before a slot is taken */
	b->slab = s;
	b->size = s->slot_size;
	b->word = (uintptr_t)s->free - (uintptr_t)o;
	(void)bin_next_group(o, b); /* if it finds no slot, refill_slot calls refill_bin again */
	bin_watch(o, b);
}

/* Not inlined, as slab_open: four callers, and pages of code count. */
__attribute__((noinline)) void spares_remove(struct owner *o, struct slab *s)
{
	size_t place = s->spare;

	s->spare = 0;
	o->spare_units = (uint8_t)(o->spare_units - SPARE_WEIGHT(s->units));
	o->spares[place - 1] = NULL;
	if (o->large[s->units] >> place & 1) /* mostly not, and then its page is not written */
		o->large[s->units] -= (uint32_t)1 << place;
}
