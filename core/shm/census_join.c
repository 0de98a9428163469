/* SPDX-License-Identifier: MIT */
#include "shm/census_join.h"

#include "ashlar_heap.h"
#include "shm/block_tags.h"
#include "shm/census.h"
#include "shm/lives.h"
#include "shm/thread_bench.h"

/* Tags whose entries may be unused, a bit each. */
struct tags {
	uint64_t word[CENSUS_ENTRIES / 64];
};

static uint64_t *tags_at(struct tags *t, uint64_t tag, uint64_t *bit)
{
	*bit = (uint64_t)1 << (tag % 64);
	return &t->word[tag / 64 % (CENSUS_ENTRIES / 64)];
}

static void tags_drop(struct tags *t, uint64_t tag)
{
	uint64_t bit, *word = tags_at(t, tag, &bit);

	*word &= ~bit;
}

/* A block has this tag. */
static int drop_named(void *tags, void *block, size_t size, const struct ash_heap_owner *owner)
{
	(void)block;
	(void)size;
	tags_drop(tags, owner->id);
	return 0;
}

static void drop_held(struct store *s, struct tags *t)
{
	const struct owner *o;

	for (o = load_acquire(&s->heap.owners); o != NULL; o = o->next)
		if (load_acquire(&o->state) != OWNER_VACANT)
			tags_drop(t, load_relaxed(&truth_of(o)->census));
}

/*
 * Frees the entries of all processes that are over and left neither a block nor anything
 * in flight; the first of them becomes the caller's.  In this order: first the deaths are
 * found, then the tags in use, since a dead process writes no further tags.
 */
static uint16_t reuse(struct store *s, uint64_t me)
{
	uint16_t tag, mine = TAG_UNKNOWN;
	struct tags over = {{0}};
	uint64_t *at, bit, word;

	for (tag = 1; tag <= CENSUS_LAST; tag++)
		if (census_is_over(s, tag - 1u, load_acquire(&s->census[tag - 1]))) {
			at = tags_at(&over, tag, &bit);
			*at |= bit;
		}
	(void)block_walk(&s->heap, false, drop_named, &over);
	drop_held(s, &over);
	for (tag = 1; tag <= CENSUS_LAST; tag++) {
		at = tags_at(&over, tag, &bit);
		word = load_acquire(&s->census[tag - 1]);
		/* An entry that was reused meanwhile has another word, without CENSUS_OVER. */
		if ((*at & bit) != 0 && (word & CENSUS_OVER) != 0 &&
		    cas_acq_rel(&s->census[tag - 1], &word, mine == TAG_UNKNOWN ? me : 0) &&
		    mine == TAG_UNKNOWN)
			mine = tag;
	}
	return mine;
}

/* Only one in so many processes that join a full census pays for the walk. */
enum { REUSE_EACH = 16 };

static uint16_t join_full(struct store *s, uint64_t me)
{
	uint16_t tag = TAG_UNKNOWN;

	if (fetch_add_relaxed(&s->full, 1) % REUSE_EACH == 0)
		tag = reuse(s, me);
	if (tag != TAG_UNKNOWN)
		store_relaxed(&s->full, (uint64_t)0);
	return tag;
}

/*
 * Each process that joins asks about the one before, so that few remain to be asked about when
 * the census is full.
 */
static void ask_about(struct store *s, unsigned i)
{
	(void)census_is_over(s, i, load_acquire(&s->census[i]));
}

uint16_t census_join(struct store *s)
{
	uint64_t me = lives_process(&s->heap);
	unsigned i;

	if (me == 0)
		return TAG_UNKNOWN;
	for (i = 0; i < CENSUS_LAST; i++) {
		uint64_t life = load_acquire(&s->census[i]);

		if (life == 0 && cas_acq_rel(&s->census[i], &life, me)) {
			if (i > 0)
				ask_about(s, i - 1);
			return (uint16_t)(i + 1);
		}
		if (life == me)
			return (uint16_t)(i + 1);
	}
	return join_full(s, me);
}

/* True: the tag is one that this process was given. */
static bool is_mine(struct store *s, uint64_t tag)
{
	return tag == TAG_UNKNOWN || (tag != TAG_NONE && tag <= CENSUS_LAST &&
				      load_acquire(&s->census[tag - 1]) == lives_process(&s->heap));
}

uint16_t census_mine(struct store *s, const struct owner *o)
{
	uint64_t tag = o == NULL ? TAG_NONE : load_relaxed(&truth_of(o)->census);
	struct seat_entry *e;

	/* A signal handler may find a record that was taken, and has no tag yet. */
	if (is_mine(s, tag))
		return (uint16_t)tag;
	e = seat_entry_for(&s->heap);
	if (e != NULL && is_mine(s, load_relaxed(&e->census)))
		return (uint16_t)load_relaxed(&e->census);
	tag = census_join(s);
	if (e != NULL)
		store_relaxed(&e->census, tag);
	return (uint16_t)tag;
}
