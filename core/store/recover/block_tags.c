/* SPDX-License-Identifier: MIT */
#include "store/recover/block_tags.h"

#include "ashlar_heap.h"
#include "store/allocator.h"
#include "store/recover/census.h"
#include "store/recover/intent.h"

bool kinds_block(struct heap *h, uint64_t p, size_t bytes)
{
	const void *block = (const void *)p; /* NOLINT: an address */
	struct chunk *c = region_find(h, block);
	struct slab *s;
	uint64_t index;

	if (c == NULL)
		return false;
	if (slab_find(c, block, &s))
		return look_at_slot(s, block, &index) >= bytes; /* others may release the block at any time */
	return span_is(c, block) && load_relaxed(&c->span_bytes) >= bytes;
}

uint8_t *kinds_byte(struct heap *h, const struct slab *s, size_t index)
{
	uint64_t leaf = intent_read(h, kinds_slot(s));

	/* In a forged file the word may be anything. */
	return kinds_block(h, leaf, SLAB_SLOTS) ? (uint8_t *)leaf + index : NULL; /* NOLINT: an address */
}

unsigned char kind_of(struct heap *h, const struct block_place *at)
{
	/* Pairs with intent_tag_block: the byte is no older than the flag. */
	uint64_t tag = at->slab != NULL ? load_acquire(census_tag(at->slab, at->index))
					: load_relaxed(&at->chunk->clean);
	const uint8_t *byte;

	if ((tag & TAG_INTENT) != TAG_KIND)
		return 0;
	if (at->slab == NULL)
		return (unsigned char)(tag >> KIND_SHIFT);
	byte = kinds_byte(h, at->slab, at->index);
	return byte == NULL ? 0 : load_relaxed(byte);
}

unsigned char kind_at(struct chunk *c, const void *p)
{
	struct block_place at = {.chunk = c};
	struct slot_ref slot;

	if (slot_find(c, p, &slot)) {
		at.slab = slot.slab;
		at.index = slot.index;
	}
	return kind_of(chunk_heap(c), &at);
}

/* ---- all blocks, and the process that allocated each ---- */

#define SEEN 64

/* A walk over all blocks. */
struct visit {
	struct heap *heap;
	int (*see)(void *context, void *block, size_t size, const struct ash_heap_owner *owner);
	void *context;
	bool ask;		     /* whether to ask which owners live */
	struct ash_heap_owner owner; /* of the current block             */
	/*
	 * The kernel is asked once a walk whether a process lives.  The answer is kept by life and not by tag,
	 * because the tag may be reused during the walk.
	 */
	struct seen {
		uint64_t life;
		bool live;
	} seen[SEEN];
};

static void visit_owner(struct visit *v, uint16_t tag)
{
	struct seen *seen = &v->seen[tag % SEEN];
	uint64_t life;

	v->owner = (struct ash_heap_owner){tag, 0, false, 0};
	if (tag == TAG_NONE || tag == TAG_UNKNOWN)
		return;
	if (!v->ask)
		return;
	life = load_acquire(&store_of(v->heap)->census[tag - 1]);
	v->owner.pid = (int)LIFE_ID(life);
	if (life == 0 || (life & CENSUS_OVER) != 0)
		return;
	if (seen->life != life)
		*seen = (struct seen){life, !census_is_over(store_of(v->heap), tag - 1u, life)};
	v->owner.live = seen->live;
}

static uint16_t tag_of(const struct chunk *c, const struct slab *s, size_t index)
{
	return s != NULL ? load_relaxed(census_tag(s, index)) : (uint16_t)load_relaxed(&c->clean);
}

/* Returns whether the block belongs to the heap itself, so that the program has never seen it. */
static bool block_is_own(const struct chunk *c, const struct slab *s, size_t index)
{
	return tag_of(c, s, index) == TAG_OWN;
}

uint64_t block_owner(const struct chunk *c, const struct slab *s, size_t index)
{
	uint16_t tag = tag_of(c, s, index);

	if ((tag & TAG_LEAVING) != 0)
		return intent_owner(store_of(chunk_heap(c)), tag);
	return tag & TAG_PROCESS;
}

static int visit_block(void *context, const struct block_place *at)
{
	struct visit *v = context;

	if (block_is_own(at->chunk, at->slab, at->index))
		return 0;
	visit_owner(v, (uint16_t)block_owner(at->chunk, at->slab, at->index));
	v->owner.tag = kind_of(v->heap, at);
	return v->see(v->context, at->start, at->size, &v->owner);
}

int block_walk(struct heap *h, bool ask,
	       int (*see)(void *, void *, size_t, const struct ash_heap_owner *), void *context)
{
	struct visit v = {.heap = h, .see = see, .context = context, .ask = ask};

	return blocks_walk(h, visit_block, &v);
}

/* Tags whose entries may be unused, with a bit for each. */
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

/* Removes the tag of a block from the set. */
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

	for (o = store_owner_after(&s->heap, NULL); o != NULL; o = store_owner_after(&s->heap, o))
		if (load_acquire(&o->state) != OWNER_VACANT)
			tags_drop(t, load_relaxed(&truth_of(o)->census));
}

/*
 * Frees the entries of all processes that are over and left neither a block nor anything in flight.  The first of
 * these entries becomes the caller's.  The deaths are found first, then the tags in use, because a dead process
 * writes no further tags.
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
		/* An entry that was reused since has another word, without CENSUS_OVER. */
		if ((*at & bit) != 0 && (word & CENSUS_OVER) != 0 &&
		    cas_acq_rel(&s->census[tag - 1], &word, mine == TAG_UNKNOWN ? me : 0) &&
		    mine == TAG_UNKNOWN)
			mine = tag;
	}
	return mine;
}

/* Only one in REUSE_EACH processes that join a full census pays for the walk. */
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
 * Asks about the previous entry.  Each process that joins does so, so that few entries remain to be asked about when
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

/* Returns whether the tag was given to this process. */
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
	if (e != NULL && is_mine(s, load_relaxed(&e->word)))
		return (uint16_t)load_relaxed(&e->word);
	tag = census_join(s);
	if (e != NULL)
		store_relaxed(&e->word, tag);
	return (uint16_t)tag;
}
