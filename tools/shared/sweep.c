/* SPDX-License-Identifier: MIT */
#include "sweep.h"

enum { LOST = 4096 };

struct sweep {
	const long *living;
	bool all;
	/* Reachable addresses, by hash: a power of two of places, at most half of them used. */
	uintptr_t *reachable;
	size_t places;
};

/* What is lost, and the epoch from which on nobody can find it. */
static struct {
	void *block[LOST];
	size_t count;
	uint64_t epoch;
} lost;

static uintptr_t *place_of(const struct sweep *s, const void *p)
{
	size_t i = ((uintptr_t)p * 0x9e3779b97f4a7c15u >> 20) % s->places;

	while (s->reachable[i] != 0 && s->reachable[i] != (uintptr_t)p)
		i = (i + 1) % s->places;
	return &s->reachable[i];
}

static void mark(struct sweep *s, const void *p)
{
	*place_of(s, p) = (uintptr_t)p;
}

/* Counts, or marks, what is in the table. */
static size_t table_entries(const struct table *t, struct sweep *mark_in)
{
	const struct entry *e;
	size_t n = 0;
	unsigned i;

	for (i = 0; i < BUCKETS; i++)
		for (e = table_chain(t, i); e != NULL; e = e->next, n++)
			if (mark_in != NULL && n < mark_in->places / 2)
				mark(mark_in, e);
	return n;
}

static void limbo_entries(const struct table *t, struct sweep *s)
{
	unsigned i, k;

	for (i = 0; i < SLOTS; i++)
		for (k = 0; k < LIMBO; k++) {
			/* Pairs with limbo_add; after the loads of the table, see above. */
			const struct entry *e =
				__atomic_load_n(&t->slot[i].limbo[k], __ATOMIC_ACQUIRE);

			if (e != NULL)
				mark(s, e);
		}
}

static bool may_live(const struct sweep *s, const struct ash_heap_owner *owner)
{
	unsigned i;

	if (owner->live)
		return true;
	/* Nobody knows whose: perhaps one that is being handed out. */
	if (owner->pid == 0)
		return !s->all;
	/* It died since the sweep began. */
	for (i = 0; i < WORKERS; i++)
		if (s->living[i] == owner->pid)
			return true;
	return false;
}

static int look(void *context, void *block, size_t size, const struct ash_heap_owner *owner)
{
	struct sweep *s = context;

	(void)size;
	if (!may_live(s, owner) && *place_of(s, block) == 0)
		lost.block[lost.count++] = block;
	return lost.count == LOST;
}

/* Steps 5 and 6, for what was found lost.  False: somebody may still be reading it. */
static bool release_lost(struct session *parent, struct swept *sum)
{
	if (lost.count > 0 && table_has_readers(parent->table, lost.epoch))
		return false;
	for (; lost.count > 0; sum->blocks++)
		ash_heap_release(parent->heap, lost.block[--lost.count]);
	return true;
}

void sweep(struct session *parent, const long *living, bool all, struct swept *sum)
{
	struct sweep s = {.living = living, .all = all};
	size_t entries;

	sum->records += ash_heap_recover(parent->heap);
	if (!release_lost(parent, sum))
		return;
	session_read(parent);
	/* Room for what comes meanwhile; should it not do, the next sweep will. */
	for (s.places = 1024;
	     s.places < 4 * table_entries(parent->table, NULL) + 4 * SLOTS * LIMBO;)
		s.places *= 2;
	s.reachable = ash_zalloc(s.places, sizeof *s.reachable);
	entries = s.reachable == NULL ? s.places : table_entries(parent->table, &s);
	session_rest(parent);
	if (entries < s.places / 2 - SLOTS * LIMBO) {
		limbo_entries(parent->table, &s);
		(void)ash_heap_walk(parent->heap, look, &s);
		lost.epoch = __atomic_fetch_add(&parent->table->epoch, 1, __ATOMIC_SEQ_CST);
		(void)release_lost(parent, sum);
	}
	ash_release(s.reachable);
}
