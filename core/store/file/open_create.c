/* SPDX-License-Identifier: MIT */
#include "store/allocator.h"
#include "store/file/open.h"

#include "atomic.h"
#include "store/process/life.h"
#include "memory.h"
#include "pages.h"
#include "store/process/share.h"
#include "store/file/store.h"
#include "store/recover/builders.h"
#include "store/process/world.h"

/*
 * Returns an id that no other heap of this process and no shared heap of another process has.  Other processes attach
 * to shared heaps.  Number and life have separate factors, because the lives of successive processes differ by 1,
 * like numbers.
 */
static uint64_t shared_id(void)
{
	return heap_id(heap_number() * UINT64_C(0xd1342543de82ef95) + life_of_process() * UINT64_C(0x9e3779b97f4a7c15),
		       SEATS_SHARED);
}

/* Sets up the store in memory that is zero except for magic and claim.  Returns false if there is no memory for the map. */
static bool set_up(struct store *s, struct store_size n, uint64_t file,
		   const struct ash_heap_options *options)
{
	struct region *r;

	heap_configure(&s->heap, n.limit << CHUNK_SHIFT, options);
	s->heap.records = options != NULL && options->allocate ? RECORDS_ALLOCATED : 0;
	s->heap.id = shared_id();
	store_relaxed(&s->seal, seal_new()); /* relaxed, like all behind magic */
	store_relaxed(&s->world, world_now()); /* relaxed: claim_take of other processes reads the word */
	(void)layout_of(options, &s->layout); /* checked by store_create_file; no other heap shows it */
	store_relaxed(&s->file, file);
	store_set(s, s, n.limit);
	s->caches = store_caches();
	r = s->heap.regions;
	store_set_region(r, s, n.limit);
	if (!store_enter(s, n.limit))
		return false;
	r->chunks = n.chunks;
	region_open(r);
	if (file != 0)
		(void)renew_enter(s); /* before another build can find the heap */
	/* Pairs with claim_look: all other words are set. */
	store_release(&s->magic, STORE_MAGIC);
	return true;
}

struct store *store_create(struct store_size n, const struct ash_heap_options *options)
{
	enum ash_attach why;
	struct store *s;

	if (!store_may_have(n.limit))
		return NULL;
	s = options != NULL && options->address != 0
		    ? store_map_at(SHARE_NO_FILE, store_bytes(n.limit), options->address, &why)
		    : pages_reserve(store_bytes(n.limit), CHUNK_SIZE, PAGES_SHARED);
	if (s == NULL)
		return NULL;
	s->world = world_now();
	if (set_up(s, n, 0, options))
		return s;
	(void)pages_release(s, store_bytes(n.limit));
	return NULL;
}

/*
 * Allocates the parts that this call and the first call write, so that a full disk is an error and no signal.  The
 * first page exists, because the claim is there.
 */
static bool take_head(int fd, struct store *base, struct store_size n, bool all)
{
	struct region r;

	memset(&r, 0, sizeof r);
	store_set_region(&r, base, n.limit);
	if (all)
		return share_take(fd, PAGE_MOST, RECORDS_AT + store_records(n.limit, true) * RECORD_BYTES - PAGE_MOST, NULL) &&
		       share_take(fd, REGION_AT, store_chunks_at(n.limit) + (n.chunks << CHUNK_SHIFT) - REGION_AT, NULL);
	return share_take(fd, PAGE_MOST, STORE_HEAD_BYTES - PAGE_MOST, NULL) &&
	       share_take(fd, CENSUS_AT, PAGE_MOST, NULL) && share_take(fd, RECORDS_AT, RECORD_BYTES, NULL) &&
	       share_take(fd, REGION_AT, (size_t)(r.records - (char *)base) - REGION_AT, NULL);
}

/* Discards the remains of an earlier maker, and makes the heap.  The caller has the claim. */
static bool make_in(int fd, struct store *s, struct store_size n,
		    const struct ash_heap_options *options)
{
	bool all = options != NULL && options->allocate;
	struct share_file file;

	/* No process looks beyond the first page now, and the first page stays. */
	return share_set_length(fd, PAGE_MOST) && share_set_length(fd, store_bytes(n.limit)) &&
	       take_head(fd, s, n, all) && share_status(fd, &file) && set_up(s, n, file.identity, options);
}

/* Makes the heap in a file that seemed free.  Maps the file before any change. */
static struct store *make_at(int fd, struct store_size n, const struct ash_heap_options *options,
			     enum ash_attach *why, enum claim *found)
{
	uintptr_t address = options == NULL ? 0 : options->address;
	struct share_file file = {0, 0, 0};
	struct store *s;

	*why = ASH_ATTACH_NO_MEMORY;
	if (!store_may_have(n.limit) || !share_status(fd, &file))
		return NULL;
	s = address != 0 ? store_map_at(fd, store_bytes(n.limit), address, why)
			 : store_map_anywhere(fd, store_bytes(n.limit),
					file.chance ^ (uintptr_t)&file ^ shared_id(), why);
	if (s == NULL)
		return NULL;
	if (share_grow(fd, PAGE_MOST) && share_take(fd, 0, PAGE_MOST, s)) {
		*found = claim_take(s);
		if (*found == CLAIM_FREE) {
			claim_clear(s);
			if (make_in(fd, s, n, options))
				return s;
			(void)share_set_length(fd, PAGE_MOST);
			claim_give(s);
			*why = ASH_ATTACH_NO_MEMORY;
		}
	} else {
		*why = ASH_ATTACH_NO_MEMORY;
	}
	(void)pages_release(s, store_bytes(n.limit));
	return NULL;
}

struct store *store_create_file(int fd, struct store_size n,
				const struct ash_heap_options *options, enum ash_attach *why)
{
	struct layout layout;
	bool half;
	enum claim found = claim_look(fd, &half);
	struct store *s = NULL;

	*why = ASH_ATTACH_LAYOUT;
	if (!layout_of(options, &layout))
		return NULL;
	*why = ASH_ATTACH_NO_MEMORY;
	if (found == CLAIM_FREE)
		s = make_at(fd, n, options, why, &found);
	if (s != NULL)
		*why = ASH_ATTACHED;
	else if (found == CLAIM_BUSY)
		*why = ASH_ATTACH_UNFINISHED;
	else if (found != CLAIM_FREE)
		*why = ASH_ATTACH_NO_HEAP;
	return s;
}
