/* SPDX-License-Identifier: MIT */
#include "census.h"

#include "ashlar_heap.h"
#include "field.h"
#include "instance.h"
#include "process.h"
#include "recover.h"
#include "seats.h"

/* The tag 0 and the unknown have no place. */
#define PLACES (CENSUS_PLACES - 2)

/* In a place: its process was found to be over, which is asked of the system only once. */
#define OVER ((uint64_t)1 << 63)
_Static_assert(LIFE_BITS < 63, "a bit is left");

/* True: the process in the place is over.  word: what stands there. */
static bool is_over(struct store *s, unsigned i, uint64_t word)
{
	if ((word & OVER) != 0 || word == 0)
		return word != 0;
	if (!recover_process_is_over(s, word))
		return false;
	(void)swap_acq_rel(&s->census[i], &word, word | OVER);
	return true;
}

/* ---- joining ---- */

/* Tags of places that may be free, a bit each. */
struct tags {
	uint64_t word[CENSUS_PLACES / 64];
};

static uint64_t *tags_at(struct tags *t, uint64_t tag, uint64_t *bit)
{
	*bit = (uint64_t)1 << (tag % 64);
	return &t->word[tag / 64 % (CENSUS_PLACES / 64)];
}

static void tags_drop(struct tags *t, uint64_t tag)
{
	uint64_t bit, *word = tags_at(t, tag, &bit);

	*word &= ~bit;
}

/* A block speaks of its owner's place. */
static int drop_named(void *tags, void *block, size_t size, const struct ash_heap_owner *owner)
{
	(void)block;
	(void)size;
	tags_drop(tags, owner->id);
	return 0;
}

/* True: a record that is somebody's, or a dead one's, still speaks of this place. */
static bool is_held(struct store *s, uint64_t tag)
{
	const struct owner *o;

	for (o = load_acquire(&s->heap.owners); o != NULL; o = o->next)
		if (load_acquire(&o->state) != OWNER_VACANT && load_relaxed(&o->census) == tag)
			return true;
	return false;
}

static int walk(struct heap *h, bool ask,
		int (*see)(void *, void *, size_t, const struct ash_heap_owner *), void *context);

static void drop_held(struct store *s, struct tags *t)
{
	const struct owner *o;

	for (o = load_acquire(&s->heap.owners); o != NULL; o = o->next)
		if (load_acquire(&o->state) != OWNER_VACANT)
			tags_drop(t, load_relaxed(&o->census));
}

/*
 * Frees the places of all processes that are over and left no block, nor
 * anything in flight; the first of them becomes the caller's.  In this order:
 * first the deaths, then the names, of which the dead make no new ones.
 */
static uint16_t reuse(struct store *s, uint64_t me)
{
	uint16_t tag, mine = TAG_UNKNOWN;
	struct tags over = {{0}};
	uint64_t *at, bit, word;

	for (tag = 1; tag <= PLACES; tag++)
		if (is_over(s, tag - 1u, load_acquire(&s->census[tag - 1]))) {
			at = tags_at(&over, tag, &bit);
			*at |= bit;
		}
	(void)walk(&s->heap, false, drop_named, &over);
	drop_held(s, &over);
	for (tag = 1; tag <= PLACES; tag++) {
		at = tags_at(&over, tag, &bit);
		word = load_acquire(&s->census[tag - 1]);
		/* A place that is another process's by now has another word, without the bit. */
		if ((*at & bit) != 0 && (word & OVER) != 0 &&
		    swap_acq_rel(&s->census[tag - 1], &word, mine == TAG_UNKNOWN ? me : 0) &&
		    mine == TAG_UNKNOWN)
			mine = tag;
	}
	return mine;
}

/* The walk is for one newcomer in so many: else each would pay for it. */
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

/* A newcomer asks about who came before: so few are left to be asked about when the census is full. */
static void ask_about(struct store *s, unsigned i)
{
	(void)is_over(s, i, load_acquire(&s->census[i]));
}

uint16_t census_join(struct store *s)
{
	uint64_t me = seats_process(&s->heap);
	unsigned i;

	if (me == 0)
		return TAG_UNKNOWN;
	for (i = 0; i < PLACES; i++) {
		uint64_t life = load_acquire(&s->census[i]);

		if (life == 0 && swap_acq_rel(&s->census[i], &life, me)) {
			ask_about(s, (i + PLACES - 1) % PLACES);
			return (uint16_t)(i + 1);
		}
		if (life == me)
			return (uint16_t)(i + 1);
	}
	return join_full(s, me);
}

/* True: the tag is an answer that this process was given. */
static bool is_mine(struct store *s, uint64_t tag)
{
	return tag == TAG_UNKNOWN || (tag != TAG_NONE && tag <= PLACES &&
				      load_acquire(&s->census[tag - 1]) == seats_process(&s->heap));
}

uint16_t census_mine(struct store *s, const struct owner *o)
{
	uint64_t tag = o == NULL ? TAG_NONE : load_relaxed(&o->census), *kept;

	/* A handler may find a record that has been taken, and not yet been given its place. */
	if (is_mine(s, tag))
		return (uint16_t)tag;
	kept = seats_census(&s->heap);
	if (kept != NULL && is_mine(s, load_relaxed(kept)))
		return (uint16_t)load_relaxed(kept);
	tag = census_join(s);
	if (kept != NULL)
		store_relaxed(kept, tag);
	return (uint16_t)tag;
}

/* ---- walking ---- */

#define SEEN 64

/* One walk for the public calls. */
struct visit {
	struct heap *heap;
	int (*see)(void *context, void *block, size_t size, const struct ash_heap_owner *owner);
	void *context;
	bool ask;		     /* whether owners live                */
	struct ash_heap_owner owner; /* of the block that is looked at */
	/*
	 * Whether a process lives is a question to the system: asked once a walk.
	 * Kept by life and not by tag, which may be another process's meanwhile.
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

	if (v->heap->sharing != PAGES_SHARED)
		return;
	tag &= (uint16_t)~TAG_LEAVING;
	v->owner = (struct ash_heap_owner){tag, 0, false};
	if (tag == TAG_NONE || tag == TAG_UNKNOWN)
		return;
	if (!v->ask)
		return;
	life = load_acquire(&store_of(v->heap)->census[tag - 1]);
	v->owner.pid = (int)LIFE_ID(life);
	if (life == 0 || (life & OVER) != 0)
		return;
	if (seen->life != life)
		*seen = (struct seen){life, !is_over(store_of(v->heap), tag - 1u, life)};
	v->owner.live = seen->live;
}

static int visit_slab(struct visit *v, const struct slab *s)
{
	bool nobodys = (load_acquire(&s->owner) & OWNER_SHARED) != 0;
	size_t size = load_relaxed(&s->slot_size);
	unsigned g;

	if ((load_acquire(&s->owner) & OWNER_CLOSING) != 0)
		return 0; /* as in stats_slab */
	for (g = 0; g < load_relaxed(&s->groups); g++) {
		uint64_t taken = slab_group_mask(s, g) & ~load_acquire(&s->free[g]);

		if (!nobodys)
			taken &= ~load_relaxed(&load_relaxed(&s->remote)[g]);
		for (; taken != 0; taken = bits_without_lowest(taken)) {
			size_t index = g * GROUP_SLOTS + bits_lowest(taken);
			int answer;

			visit_owner(v, v->heap->sharing == PAGES_SHARED
					       ? load_relaxed(census_tag(s, index))
					       : TAG_NONE);
			answer = v->see(v->context, load_relaxed(&s->base) + index * size, size,
					&v->owner);
			if (answer != 0)
				return answer;
		}
	}
	return 0;
}

static int visit_region(struct visit *v, struct region *r)
{
	size_t chunks = load_relaxed(&r->chunks), i;
	const struct slab *s;
	unsigned u;
	int answer = 0;

	for (i = 0; i < chunks && answer == 0; i++) {
		struct chunk *c = region_chunk(r, i);

		if (chunk_is(c, CHUNK_SPAN)) {
			visit_owner(v, (uint16_t)load_relaxed(&c->clean));
			answer = v->see(v->context, load_relaxed(&c->base),
					load_relaxed(&c->span_bytes), &v->owner);
		} else if (chunk_is(c, CHUNK_SLABS)) {
			for (u = 0; u < CHUNK_UNITS && answer == 0; u++)
				if ((s = slab_beginning(c, u)) != NULL)
					answer = visit_slab(v, s);
		}
	}
	return answer;
}

static int walk(struct heap *h, bool ask,
		int (*see)(void *, void *, size_t, const struct ash_heap_owner *), void *context)
{
	struct visit v = {.heap = h, .see = see, .context = context, .ask = ask};
	struct region *r;
	int answer = 0;

	v.owner = (struct ash_heap_owner){1, (int)process_number(), true};
	for (r = load_acquire(&v.heap->regions); r != NULL && answer == 0; r = r->next)
		if (load_acquire(&r->state) == REGION_LIVE)
			answer = visit_region(&v, r);
	return answer;
}

int ash_heap_walk(ash_heap *heap,
		  int (*see)(void *, void *, size_t, const struct ash_heap_owner *), void *context)
{
	if (field_of(heap) != NULL)
		return field_walk(field_of(heap), see, context);
	return walk(heap_of(heap), true, see, context);
}

struct leavings {
	ash_heap *heap;
	uint64_t owner;
	size_t released;
};

static int release_if_left(void *context, void *block, size_t size,
			   const struct ash_heap_owner *owner)
{
	struct leavings *l = context;

	(void)size;
	if (owner->id == l->owner && !owner->live) {
		ash_heap_release(l->heap, block);
		l->released++;
	}
	return 0;
}

size_t ash_heap_release_owner(ash_heap *heap, uint64_t owner)
{
	struct heap *h = heap_of(heap);
	struct leavings l = {heap, owner, 0};
	struct store *s;
	uint64_t word;

	if (h->sharing != PAGES_SHARED || owner == 0 || owner > PLACES)
		return 0;
	s = store_of(h);
	if (!is_over(s, (unsigned)owner - 1, load_acquire(&s->census[owner - 1])))
		return 0;
	/* What it was in the middle of is settled first. */
	(void)ash_heap_recover(heap);
	(void)ash_heap_walk(heap, release_if_left, &l);
	/* The place is free for another process. */
	word = load_acquire(&s->census[owner - 1]);
	if (!is_held(s, owner) && (word & OVER) != 0 &&
	    swap_acq_rel(&s->census[owner - 1], &word, 0))
		store_relaxed(&s->full, (uint64_t)0);
	return l.released;
}
