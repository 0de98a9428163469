/* SPDX-License-Identifier: MIT */
#include "census.h"

#include "ashlar_heap.h"
#include "field.h"
#include "instance.h"
#include "process.h"
#include "seats.h"

/* The tag 0 and the unknown have no place. */
#define PLACES (CENSUS_PLACES - 2)

static int note_tag(void *used, void *block, size_t size, const struct ash_heap_owner *owner)
{
	(void)block;
	(void)size;
	((uint64_t *)used)[owner->id / 64] |= (uint64_t)1 << (owner->id % 64);
	return 0;
}

/* True: a record that is somebody's, or a dead one's, still speaks of this place. */
static bool is_held(struct store *s, uint16_t tag)
{
	const struct owner *o;

	for (o = load_acquire(&s->heap.owners); o != NULL; o = o->next)
		if (load_acquire(&o->state) != OWNER_VACANT && o->census == tag)
			return true;
	return false;
}

/* The place of a process that died and left no block, nor anything in flight. */
static uint16_t census_reuse(struct store *s, uint64_t me)
{
	uint64_t used[CENSUS_PLACES / 64] = {0};
	uint16_t tag;

	(void)ash_heap_walk(heap_public(&s->heap), note_tag, used);
	for (tag = 1; tag <= PLACES; tag++) {
		uint64_t life = load_acquire(&s->census[tag - 1]);

		if (((used[tag / 64] >> (tag % 64)) & 1) == 0 && life_process_is_over(life) &&
		    !is_held(s, tag) && swap_acq_rel(&s->census[tag - 1], &life, me))
			return tag;
	}
	return TAG_UNKNOWN;
}

uint16_t census_join(struct store *s)
{
	uint64_t me = seats_process(), life;
	unsigned i;

	for (i = 0; i < PLACES; i++) {
		life = load_acquire(&s->census[i]);
		if (life == me || (life == 0 && swap_acq_rel(&s->census[i], &life, me)) ||
		    life == me)
			return (uint16_t)(i + 1);
	}
	return census_reuse(s, me);
}

uint16_t census_mine(struct store *s, const struct owner *o)
{
	uint64_t tag = o == NULL ? TAG_NONE : o->census;

	/* A handler may find a record that has been taken, and not yet been given its place. */
	if (tag != TAG_NONE && tag <= PLACES && load_acquire(&s->census[tag - 1]) == seats_process())
		return (uint16_t)tag;
	return census_join(s);
}

#define SEEN 32

/* One walk for the public calls. */
struct visit {
	struct heap *heap;
	int (*see)(void *context, void *block, size_t size, const struct ash_heap_owner *owner);
	void *context;
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
	life = load_acquire(&store_of(v->heap)->census[tag - 1]);
	if (life != 0 && seen->life != life)
		*seen = (struct seen){life, !life_process_is_over(life)};
	v->owner.pid = (int)LIFE_ID(life);
	v->owner.live = life != 0 && seen->live;
}

static int visit_slab(struct visit *v, const struct slab *s)
{
	bool nobodys = slab_is_nobodys(s);
	size_t size = load_relaxed(&s->slot_size);
	unsigned g;

	for (g = 0; g < load_relaxed(&s->groups); g++) {
		uint64_t taken = slab_group_mask(s, g) & ~load_acquire(&s->free[g]);

		if (!nobodys)
			taken &= ~load_relaxed(&load_relaxed(&s->remote)[g]);
		/* Who is told of a block may release it, and so unmake the slab. */
		if (!slab_tells(s))
			return 0;
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

int ash_heap_walk(ash_heap *heap,
		  int (*see)(void *, void *, size_t, const struct ash_heap_owner *), void *context)
{
	struct visit v = {.heap = heap_of(heap), .see = see, .context = context};
	struct region *r;
	int answer = 0;

	if (field_of(heap) != NULL)
		return field_walk(field_of(heap), see, context);
	v.owner = (struct ash_heap_owner){1, (int)process_number(), true};
	for (r = load_acquire(&v.heap->regions); r != NULL && answer == 0; r = r->next)
		if (load_acquire(&r->state) == REGION_LIVE)
			answer = visit_region(&v, r);
	return answer;
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
	uint64_t life;

	if (h->sharing != PAGES_SHARED || owner == 0 || owner > PLACES)
		return 0;
	life = load_acquire(&store_of(h)->census[owner - 1]);
	if (life == 0 || !life_process_is_over(life))
		return 0;
	/* What it was in the middle of is settled first. */
	(void)ash_heap_recover(heap);
	(void)ash_heap_walk(heap, release_if_left, &l);
	/* The place is free for another process. */
	if (!is_held(store_of(h), (uint16_t)owner))
		(void)swap_acq_rel(&store_of(h)->census[owner - 1], &life, 0);
	return l.released;
}
