/* SPDX-License-Identifier: MIT */
/* What the code of the default heap asks the other heaps: mostly, whose a pointer is. */
#include "shm/building.h"
#include "shm/census.h"
#include "arena/arena.h"
#include "heaps/instance.h"
#include "backend/map.h"
#include "memory.h"
#include "shm/recover.h"
#include "shm/seats.h"

/*
 * Fields first: their memory may be a block of any heap, and then both know
 * the address.
 */
static bool release(struct chunk *c, void *p)
{
	struct arena *f = arenas_find(p);

	if (f != NULL) {
		if (!arena_release(f, p))
			arena_misuse(f, CALL_RELEASE, p);
		return true;
	}
	if (c == NULL)
		return false;
	if (c->region->heap == &heap_default) {
		arenas_gone_with(c, p);
		return false;
	}
	instance_release(c, p);
	return true;
}

static bool resize(struct chunk *c, void **p, size_t size)
{
	struct arena *f = arenas_find(*p);

	if (f != NULL)
		*p = arena_resize(f, *p, size);
	else if (c == NULL)
		return false;
	else if (c->region->heap == &heap_default) {
		arenas_gone_with(c, *p);
		return false;
	} else
		*p = instance_resize(c, *p, size);
	return true;
}

static size_t bytes(const void *p)
{
	struct arena *f = arenas_find(p);

	return f == NULL ? 0 : arena_bytes(f, p);
}

static void report(enum call call, const void *p)
{
	struct arena *f = arenas_find(p);

	/* Records of a arena may lie in a block of a chunk, which then tells more. */
	if (f == NULL && map_find(p) == NULL)
		f = arenas_around(p);
	if (f != NULL)
		arena_misuse(f, call, p);
}

static void tags_clear(struct slab *s)
{
	/*
	 * Of a file on a tmpfs also a look takes memory.  So we look here: who takes
	 * the slab over must not be ended by a disk that is full.
	 */
	(void)*(volatile uint64_t *)s->remote;
	memset(census_tag(s, 0), 0, s->slots * sizeof(uint16_t));
}

static bool is_quiet(struct heap *h)
{
	uint64_t sum;

	return building_quiet(store_of(h), &sum);
}

INTERNAL const struct heap_hooks instance_hooks = {
	.release = release,
	.resize = resize,
	.bytes = bytes,
	.gone = arenas_gone,
	.misuse = report,
	.slab_made = tags_clear,
	.owner_memory = store_owner,
	.holder = recover_holder,
	.is_dead = recover_is_dead,
	.settle = recover_settle,
	.is_quiet = is_quiet,
	.thread_ends = seats_end,
};
