/* SPDX-License-Identifier: MIT */
#include "thread/settle.h"

#include "thread/bin.h"

/* Enters the slab, whose pending bit the caller has set. */
static void inbox_enter(struct owner *o, struct slab *s)
{
	unsigned at = (unsigned)((uintptr_t)s / CPU_LINE), end = at + 4 * 7;

	do {
		uint64_t *slot = &o->pending_slabs[at % INBOX_SLABS];
		uint64_t there = load_seq_cst(slot);

		/*
		 * Pairs with the exchanges in collect_inbox and in owner_vacate.  An entry
		 * of this slab that is still there will be collected after this load, so it
		 * serves for our remote bit, too.
		 */
		if (there == (uint64_t)(uintptr_t)s ||
		    (there == 0 && cas_seq_cst(slot, &there, (uint64_t)(uintptr_t)s)))
			goto entered;
	} while ((at += 7) != end);
	/*
	 * pending_classes pairs with the exchange in collect_inbox.  If the record has been reused,
	 * this sets the bit of a wrong class: harmless.
	 */
	(void)set_bit_seq_cst(o->pending_classes, load_relaxed(&s->class));
entered:
	/*
	 * Pairs with the exchange in collect_inbox, which then finds the entry.  And with visit_slab,
	 * which vacates the record and then reads `notified`: this thread reads the state afterwards,
	 * so one of the two sees the other.  Mostly the flag is set already: then the line stays
	 * with those who read it.
	 */
	if ((load_seq_cst(&o->notified) & INBOX_ENTRY) == 0)
		fetch_or_seq_cst(&o->notified, INBOX_ENTRY);
}

void inbox_notify(struct slab *s)
{
	uint64_t owner;

	if (set_bit_seq_cst(&s->owner, OWNER_PENDING_BIT))
		return; /* who set it enters the slab */
	/*
	 * If the slab changes owners before this load, its new one collects what was released before, as
	 * the exchange of the word takes our bit away (refill.c), and gets an entry too many.
	 */
	owner = load_seq_cst(&s->owner) & ~OWNER_PENDING;
	if (owner > OWNER_FLAGS) /* else it has no owner by now */
		inbox_enter((struct owner *)(uintptr_t)owner, s);
}

void collect_slab(struct owner *o, struct slab *s)
{
	bool full;

	/* First, as what named the slab is a hint: another holder may be at its plain members. */
	if (!owner_has(o, s))
		return;
	full = !slab_is_ready(s);
	if (!slab_collect(s, false))
		return;
	/* What was purged is no spare: it goes back clean, and so is seen to be taken again (heap_cleaned). */
	if (!SMALL && unlikely(load_relaxed(&s->purged) != 0)) {
		bool no_spares = o->no_spares;

		o->no_spares = true;
		settle_slab(o, s, full);
		o->no_spares = no_spares;
		return;
	}
	settle_slab(o, s, full);
}

static void collect_list(struct owner *o, struct slabs *l)
{
	struct slab *s, *next;

	for (s = l->head; s != NULL; s = next) {
		next = s->next; /* s may move to the other list, or be unmade */
		if ((load_relaxed(&s->owner) & OWNER_PENDING) != 0)
			collect_slab(o, s);
	}
}

static void collect_class(struct owner *o, unsigned class)
{
	bool no_spares = o->no_spares;

	bin_detach(o, class); /* for its slab */
	/* Caching an empty slab here could evict the slab that the walk visits next. */
	o->no_spares = true;
	/* The partial list first: slabs that then move to it from the full list are done. */
	collect_list(o, &o->bins[class].partial);
	collect_list(o, &o->bins[class].full);
	o->no_spares = no_spares;
}

void collect_inbox(struct owner *o)
{
	unsigned i;

	/* Relaxed: what is missed now is found the next time. */
	if (likely(load_relaxed(&o->notified) == 0))
		return;
	/* Clear it before the entries are read: a later entry sets it again. */
	(void)exchange_seq_cst(&o->notified, 0);
	for (i = 0; i < INBOX_WORDS; i++) {
		/*
		 * seq_cst pairs with inbox_enter, which makes its entry, then reads `notified` and
		 * leaves it if it is set.
		 */
		uint64_t word = load_seq_cst(&o->inbox[i]);

		if (word == 0)
			continue;
		/* seq_cst pairs with inbox_notify, which adds none if the slab still has one. */
		word = exchange_seq_cst(&o->inbox[i], 0);
		if (i < INBOX_CLASSES) {
			for (; word != 0; word = bits_without_lowest(word))
				collect_class(o, i * 64 + bits_lowest(word));
			continue;
		}
		collect_slab(o, (struct slab *)(uintptr_t)word);
	}
}

void slab_retire(struct owner *o, struct slab *s)
{
	struct bin *b = &o->bins[s->class];
	struct slabs *l = &b->full;
	struct units u;

	if (s == b->slab)
		bin_detach(o, s->class); /* to the partial list */
	if (slab_is_ready(s)) { /* otherwise it is large, and not held: see is_purgeable */
		if (!slab_take(s))
			return; /* another thread purges it: it stays on the list */
		if (!slab_fence(s, false)) {
			slab_let_go(s);
			return;
		}
		l = &b->partial;
	}
	slabs_remove(l, s);
	u = slab_close(s);
	/* Held, and no slot was taken since: what was purged still reads zero. */
	u.clean = !SMALL && load_relaxed(&s->purged) == SLAB_CLEAN && l == &b->partial;
	if (l == &b->partial)
		slab_let_go(s);
	units_give(o->heap, u);
	o->other_events = 0; /* see watch_event */
	watch_check(o);
}

void spares_reduce(struct owner *o, unsigned units)
{
	unsigned place = o->spare_next;

	do {
		struct slab *s = o->spares[place];

		if (++place == SPARES)
			place = 0;
		if (s == NULL)
			continue;
		spares_remove(o, s);
		/* A current slab may have been allocated from since it became a spare. */
		if (slab_arm(s))
			slab_retire(o, s);
	} while (o->spare_units > units && place != o->spare_next);
}

/* The weight that all spares of a record may have. */
static unsigned spares_limit(const struct heap *h)
{
	uint64_t used;

	if (is_crowd(h))
		return SPARE_UNITS / 2;
	used = load_relaxed(&h->used);
	/* `hand`: what is due is being purged, a part by each slab that is evicted (retain.h). */
	if ((used / SPARE_FROM | load_relaxed(&h->hand)) == 0)
		return SPARE_UNITS;
	used = used / SPARE_SHARE >> bits_highest((unsigned long)load_relaxed(&h->owner_count));
	return used > SPARE_MOST ? (unsigned)used : SPARE_MOST;
}

void spares_add(struct owner *o, struct slab *s)
{
	unsigned place;

	/* The new spare is kept, however large it is: it is not in its place yet. */
	o->spare_units = (uint16_t)(o->spare_units + SPARE_WEIGHT(s->units));
	spares_reduce(o, spares_limit(o->heap));
	place = o->spare_next;
	o->spares[place++] = s;
	s->spare = (uint8_t)place;
	if (s->class > CLASS_ONE && s->ready == 0)
		o->large[s->units] |= (uint32_t)1 << place;
	o->spare_next = place == SPARES ? 0 : (uint8_t)place;
	s->all_free = 0; /* disarms slab_arm: a spare may be used and become empty again */
}

/*
 * After a slot of s was freed.  If the bin has none left, it goes on at once, so that the next
 * allocation is on its fast path: to a group of its slab, or else to s, if that was full.
 * So where all slabs are just full, a release and an allocation move no slab but these two.
 * True: s was on the full list and is current now.
 */
static bool bin_follow(struct owner *o, struct bin *b, struct slab *s, bool full)
{
	if (b->slab == NULL || load_relaxed(bin_word(o, b)) != 0 || bin_next_group(o, b) || !full ||
	    !slab_take(s))
		return false;
	slabs_remove(&b->full, s);
	bin_detach(o, s->class); /* it is full: no group was found */
	bin_take(o, s->class, s);
	return true;
}

void settle_freed(struct owner *o, struct slab *s, uint64_t group, uint64_t word)
{
	/* The current slab is on no list, and armed, if at all, since bin_take. */
	struct bin *b = &o->bins[s->class];
	bool full = s != b->slab && !slab_is_ready(s);

	slab_make_ready(s, (uint32_t)1 << group);
	s->found |= (uint32_t)1 << group; /* bin_turn need not look for it */
	store_release(&s->free[group], word);
	if (bin_follow(o, b, s, full))
		full = false;
	if (full || word == s->all_free)
		settle_slab(o, s, full);
	/* From time to time also if the clock does not run: it may be due. */
	if (unlikely(o->watch || owner_is_counted(o)))
		watch_event(o, s, (unsigned)group);
}

void settle_slab(struct owner *o, struct slab *s, bool was_full)
{
	struct bin *b = &o->bins[s->class];
	bool moves = was_full && s != b->slab;

	if (moves) {
		slabs_remove(&b->full, s);
		slabs_append(&b->partial, s);
		/* All groups: further releases are no events until the slab is full again. */
		slab_make_ready(s, (uint32_t)bits_below(s->groups));
	}
	if ((moves || s->all_free != 0) && slab_arm(s)) {
		if (o->no_spares)
			slab_retire(o, s);
		else
			spares_add(o, s);
	}
}
