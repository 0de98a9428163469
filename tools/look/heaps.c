/* SPDX-License-Identifier: MIT */
/*
 * Heaps and their regions: the default heap by the descriptor; heaps that the program
 * created by the chunk map, which has the chunks of all.  Each region is found once,
 * and regions never overlap: so a forged list ends.
 */
#include <ashlar.h>

#include "picture.h"

enum { REGIONS_MAX = 1 << 16, HEAPS_MAX = 1 << 16, STRANGE_MAX = 1 << 17, TRIES = 4 };

static bool addresses_hold(const struct layout *l, uint64_t from, uint64_t bytes)
{
	uint64_t end = UINT64_C(1) << l->field[ASH_address_bits];

	return from < end && bytes <= end - from;
}

/* The heap at the address, which is added; UINT32_MAX: it cannot be read. */
static uint32_t heap_add(struct picture *p, unsigned module, uint64_t at)
{
	const struct layout *l = &p->modules[module].layout;
	static char record[65536], options[RECORD_MAX];
	uint64_t options_at;
	struct heap *h;
	size_t i;

	for (i = 0; i < p->heap_count; i++)
		if (p->heaps[i].at == at)
			return (uint32_t)i;
	if (p->heap_count == HEAPS_MAX || !source_read(p->source, at, record, l->field[ASH_heap_bytes]) ||
	    !ROOM(p, heap, 1))
		return UINT32_MAX;
	h = &p->heaps[p->heap_count++];
	memset(h, 0, sizeof *h);
	h->at = at;
	h->layout = module;
	h->id = member(l, record, ASH_heap_id);
	h->shared = member(l, record, ASH_heap_sharing) == l->field[ASH_sharing_shared];
	h->is_default = at == l->heap && l->map != 0;
	h->hint_dirty = member(l, record, ASH_heap_dirty);
	h->reserved = member(l, record, ASH_heap_reserved);
	h->regions_at = member(l, record, ASH_heap_regions);
	h->owners_at = member(l, record, ASH_heap_owners);
	options_at = member(l, record, ASH_heap_options);
	if (source_read(p->source, options_at, options, l->field[ASH_ash_defaults_bytes])) {
		h->cap = member(l, options, ASH_ash_defaults_cap);
		h->retain = member(l, options, ASH_ash_defaults_retain);
	} else {
		picture_damaged(p, "a heap's options cannot be read,", options_at);
	}
	return (uint32_t)(p->heap_count - 1);
}

static const char *region_fault(const struct layout *l, const struct region *r, uint64_t capacity)
{
	uint64_t most = UINT64_C(1) << (l->field[ASH_address_bits] - l->field[ASH_chunk_shift]);

	if (r->chunks == 0 || r->chunks > most || r->chunks > capacity || r->all > most ||
	    (r->all != r->chunks && r->chunks != 1))
		return "a region's size";
	if (r->base % l->chunk != 0 || !addresses_hold(l, r->base, r->all * l->chunk))
		return "a region's address";
	if (r->stride < l->field[ASH_chunk_bytes] || r->stride > 1 << 24 ||
	    (r->remote != 0 &&
	     r->stride < l->field[ASH_record_unowned] + UNITS * (uint64_t)l->field[ASH_slab_bytes]))
		return "a region's records";
	if (!addresses_hold(l, r->records, r->chunks * r->stride))
		return "the address of a region's records";
	if (r->remote != 0 && (r->remote_stride < l->field[ASH_groups_max] * sizeof(uint64_t) ||
			       r->remote_stride > 1 << 24 ||
			       !addresses_hold(l, r->remote, r->chunks * UNITS * r->remote_stride)))
		return "the address of a region's remote words";
	return NULL;
}

/* Where the region belongs by its address; false: it overlaps another. */
static bool region_place(const struct picture *p, const struct region *r, size_t bytes, size_t *at)
{
	size_t i = p->region_count;

	while (i > 0 && p->regions[i - 1].base > r->base)
		i--;
	*at = i;
	return (i == 0 || p->regions[i - 1].base + p->regions[i - 1].all * bytes <= r->base) &&
	       (i == p->region_count || r->base + r->all * bytes <= p->regions[i].base);
}

/* The region at the address.  Returns the next one's address; *heap: its heap's address. */
static uint64_t region_read(struct picture *p, unsigned module, uint64_t at, uint64_t *heap)
{
	const struct layout *l = &p->modules[module].layout;
	char record[RECORD_MAX];
	struct region r;
	const char *fault;
	size_t words, place, i;
	unsigned tries = 0;
	uint64_t next, live;

again:
	memset(&r, 0, sizeof r);
	*heap = 0;
	if (!source_read(p->source, at, record, l->field[ASH_region_bytes])) {
		picture_damaged(p, "a region cannot be read,", at);
		return 0;
	}
	next = member(l, record, ASH_region_next);
	*heap = member(l, record, ASH_region_heap);
	live = member(l, record, ASH_region_state);
	for (i = 0; i < p->region_count; i++)
		if (p->regions[i].at == at)
			return next;
	if (live != l->field[ASH_region_live])
		return next; /* vacant, or another thread is making it */
	r.at = at;
	r.base = member(l, record, ASH_region_base);
	r.chunks = member(l, record, ASH_region_chunks);
	r.stride = member(l, record, ASH_region_stride);
	r.records = member(l, record, ASH_region_records);
	r.remote = member(l, record, ASH_region_remote);
	r.remote_stride = member(l, record, ASH_region_remote_stride);
	r.metadata = member(l, record, ASH_region_metadata);
	/* core/backend/heap.h: without remote words that member says how many bytes a span's own region has. */
	r.all = r.remote == 0 && r.remote_stride != 0 ? (r.remote_stride - 1) / l->chunk + 1 : r.chunks;
	fault = region_fault(l, &r, member(l, record, ASH_region_capacity));
	if (fault == NULL && !region_place(p, &r, l->chunk, &place))
		fault = "two regions overlap";
	/* A thread may be giving it back, or making it at another address. */
	if (fault != NULL && tries++ < TRIES)
		goto again;
	if (fault != NULL) {
		picture_damaged(p, fault, at);
		return next;
	}
	r.heap = heap_add(p, module, *heap);
	words = (r.chunks + 63) / 64;
	r.free = ash_alloc(words * sizeof(uint64_t));
	r.clean = ash_alloc(words * sizeof(uint64_t));
	if (r.heap == UINT32_MAX || r.free == NULL || r.clean == NULL || !ROOM(p, region, 1) ||
	    !source_read(p->source, member(l, record, ASH_region_free), r.free, words * sizeof(uint64_t)) ||
	    !source_read(p->source, member(l, record, ASH_region_clean), r.clean, words * sizeof(uint64_t))) {
		picture_damaged(p, "a region's bitmaps cannot be read,", at);
		ash_release(r.free);
		ash_release(r.clean);
		return next;
	}
	for (i = p->region_count++; i > place; i--)
		p->regions[i] = p->regions[i - 1];
	p->regions[place] = r;
	return next;
}

static void heap_regions(struct picture *p, uint32_t heap)
{
	const struct heap *h = &p->heaps[heap];
	unsigned module = h->layout;
	uint64_t at = h->regions_at, owner, mine = h->at;
	size_t n;

	for (n = 0; at != 0 && n < REGIONS_MAX && !p->no_memory; n++) {
		uint64_t next = region_read(p, module, at, &owner);

		if (owner != mine)
			picture_damaged(p, "a region of another heap is in the list,", at);
		if (owner != mine || next == at)
			break;
		at = next;
	}
	if (n == REGIONS_MAX)
		picture_damaged(p, "a list of regions has no end,", at);
}

static bool chunk_is_known(const struct picture *p, uint64_t at)
{
	size_t i;

	for (i = 0; i < p->region_count; i++)
		if (at - p->regions[i].records < p->regions[i].chunks * p->regions[i].stride)
			return true;
	return false;
}

/* A chunk of the map in no region that is known: the region, its heap, and all of that. */
static void chunk_follow(struct picture *p, unsigned module, uint64_t at)
{
	const struct layout *l = &p->modules[module].layout;
	char record[RECORD_MAX], region[RECORD_MAX];
	uint64_t region_at, heap_at;
	uint32_t heap;

	if (!source_read(p->source, at, record, l->field[ASH_chunk_bytes]))
		return;
	region_at = member(l, record, ASH_chunk_region);
	/* A chunk that was never used does not know its region; another one of it will. */
	if (region_at == 0 || !source_read(p->source, region_at, region, l->field[ASH_region_bytes]))
		return;
	heap_at = member(l, region, ASH_region_heap);
	heap = heap_at == 0 ? UINT32_MAX : heap_add(p, module, heap_at);
	if (heap != UINT32_MAX)
		heap_regions(p, heap);
}

static void map_follow(struct picture *p, unsigned module)
{
	const struct layout *l = &p->modules[module].layout;
	size_t n = (size_t)1 << l->field[ASH_map_bits], roots = map_roots(l), i, j, strange = 0;
	uint64_t *root = ash_alloc(roots * sizeof *root), *leaf = ash_alloc(n * sizeof *leaf);

	if (root == NULL || leaf == NULL) {
		p->no_memory = true;
	} else if (!source_read(p->source, l->map + ASH_MEMBER_OFFSET(l->field[ASH_map_root]), root,
				roots * sizeof *root)) {
		picture_damaged(p, "the chunk map cannot be read,", l->map);
	} else {
		for (i = 0; i < roots && strange < STRANGE_MAX && !p->no_memory; i++) {
			if (root[i] == 0)
				continue;
			if (!source_read(p->source,
					 root[i] + ASH_MEMBER_OFFSET(l->field[ASH_map_leaf_chunk]),
					 leaf, n * sizeof *leaf)) {
				picture_damaged(p, "a part of the chunk map cannot be read,", root[i]);
				continue;
			}
			for (j = 0; j < n && strange < STRANGE_MAX; j++)
				if (leaf[j] != 0 && !chunk_is_known(p, leaf[j])) {
					chunk_follow(p, module, leaf[j]);
					strange++;
				}
		}
		if (strange == STRANGE_MAX)
			picture_damaged(p, "the chunk map has too many chunks without a region,", l->map);
	}
	ash_release(root);
	ash_release(leaf);
}

void heaps_find(struct picture *p, unsigned module)
{
	const struct layout *l = &p->modules[module].layout;
	uint32_t heap = heap_add(p, module, l->heap);

	if (heap == UINT32_MAX)
		picture_damaged(p, "the heap cannot be read,", l->heap);
	else
		heap_regions(p, heap);
	if (l->map != 0)
		map_follow(p, module);
}
