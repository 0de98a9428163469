/* SPDX-License-Identifier: MIT */
#include "names.h"

#include "backend/heap.h"
#include "backend/map.h"
#include "backend/region.h"
#include "base/bits.h"
#include "thread/owner.h"

/* A kind of word: members from one to another of a structure. */
struct member {
	const char *name;
	size_t from, to;
};
#define END_OF(structure, member) (offsetof(struct structure, member) + sizeof(((struct structure *)0)->member))
#define MEMBERS(structure, first, last) offsetof(struct structure, first), END_OF(structure, last)
#define MEMBER(structure, name) {#structure "." #name, MEMBERS(structure, name, name)}

static const struct member members[] = {
	{"the program's own", 0, 0},
	{"blocks", 0, 0},
	{"remote words", 0, 0},
	{"region, free bits", 0, 0},
	{"region, clean bits", 0, 0},
	{"region.room bytes", 0, 0},
	{"region, advice", 0, 0},
	{"map, unit hints", 0, 0},
	{"map, leaves and root", 0, 0},
#define HEAP_KINDS 9
	{"heap, links", MEMBERS(heap, regions, sharing)},
	{"heap.settled", MEMBERS(heap, settled, settled)},
	MEMBER(heap, running),
	MEMBER(heap, locked),
	{"heap.root, .records, .own", MEMBERS(heap, root, own)},
	{"heap.dirty and .used", MEMBERS(heap, both, both)},
	MEMBER(heap, reserved),
	MEMBER(heap, refused),
	MEMBER(heap, period_low),
	MEMBER(heap, period_start),
	MEMBER(heap, clock),
	MEMBER(heap, slab_chunks),
	MEMBER(heap, adopt_next),
	MEMBER(heap, reap_next),
	MEMBER(heap, takeovers),
	MEMBER(heap, vacated),
	MEMBER(heap, vacated_seen),
	MEMBER(heap, borders),
	{"heap, unowned slabs", MEMBERS(heap, unowned_made, unowned_next)},
#define OWNER_KINDS 28
	{"owner.turn ... .building", MEMBERS(owner, turn, building)},
	MEMBER(owner, no_slots),
	MEMBER(owner, state),
	{"owner.next, .heap", MEMBERS(owner, next, heap)},
	{"owner.identity, .batch", MEMBERS(owner, identity, batch)},
	MEMBER(owner, notified),
	MEMBER(owner, inbox),
	MEMBER(owner, spares),
	MEMBER(owner, bins),
	MEMBER(owner, large),
#define REGION_KINDS 38
	{"region, constants", MEMBERS(region, next, room)},
	MEMBER(region, part),
	{"region, constants", MEMBERS(region, part_words, metadata)},
#define CHUNK_KINDS 41
	{"chunk.kind ... .region", MEMBERS(chunk, kind, region)},
	MEMBER(chunk, units),
	MEMBER(chunk, clean),
	{"chunk, index and span", MEMBERS(chunk, index, span_bytes)},
	MEMBER(chunk, head),
#define SLAB_KINDS 46
	MEMBER(slab, owner),
	{"slab, constants", MEMBERS(slab, base, made)},
	MEMBER(slab, ready),
	MEMBER(slab, all_free),
	{"slab.next ... .purged", MEMBERS(slab, next, purged)},
	MEMBER(slab, hold),
	MEMBER(slab, free),
#define ALL_KINDS 53
};
_Static_assert(sizeof(members) / sizeof(members[0]) == ALL_KINDS && ALL_KINDS <= KINDS_MOST, "the counts above");

const char *kind_name(unsigned kind)
{
	return members[kind].name;
}

static unsigned in(unsigned first, unsigned end, size_t offset)
{
	for (; first < end; first++)
		if (offset >= members[first].from && offset < members[first].to)
			return first;
	return 0;
}

static bool inside(uint64_t address, const void *p, size_t bytes)
{
	return address - (uintptr_t)p < bytes;
}

static unsigned in_records(const struct region *r, uint64_t address)
{
	size_t at = (address - (uintptr_t)r->records) % r->stride;

	if (at < sizeof(struct chunk))
		return in(CHUNK_KINDS, SLAB_KINDS, at);
	return in(SLAB_KINDS, ALL_KINDS, (at - sizeof(struct chunk)) % sizeof(struct slab));
}

static unsigned in_region(const struct region *r, uint64_t address)
{
	size_t words = bits_words(r->capacity) * sizeof(uint64_t);

	if (inside(address, r->base, r->chunks << CHUNK_SHIFT))
		return 1;
	if (inside(address, r, sizeof *r))
		return in(REGION_KINDS, CHUNK_KINDS, address - (uintptr_t)r);
	if (inside(address, r->free, words))
		return 3;
	if (inside(address, r->clean, words))
		return 4;
	if (inside(address, r->room, (size_t)((char *)r->advice - (char *)r->room)))
		return 5;
	if (inside(address, r->advice, r->capacity))
		return 6;
	if (inside(address, r->records, r->capacity * r->stride))
		return in_records(r, address);
	if (inside(address, r, r->metadata))
		return 2;
	return 0;
}

unsigned kind_at(uint64_t address)
{
	struct heap *h = &heap_default;
	const struct region *r;
	const struct owner *o;
	unsigned kind;

	if (inside(address, h, sizeof *h))
		return in(HEAP_KINDS, OWNER_KINDS, address - (uintptr_t)h);
	if (inside(address, chunk_map.units, sizeof chunk_map.units))
		return 7;
	if (inside(address, &chunk_map, sizeof chunk_map))
		return 8;
	for (o = h->owners; o != NULL; o = o->next)
		if (inside(address, o, sizeof *o))
			return in(OWNER_KINDS, REGION_KINDS, address - (uintptr_t)o);
	for (r = region_first(h); r != NULL; r = region_next(r))
		if ((kind = in_region(r, address)) != 0)
			return kind;
	return 0;
}

uint64_t slabs_changed(void)
{
	const struct region *r;
	uint64_t sum = 0;
	size_t i;

	for (r = region_first(&heap_default); r != NULL; r = region_next(r))
		for (i = 0; r->remote != NULL && i < r->capacity * CHUNK_UNITS; i++) {
			const struct slab *records = (const struct slab *)(const void *)(region_chunk(r, i / CHUNK_UNITS) + 1);
			const struct slab *s = records + i % CHUNK_UNITS;

			/* Each that was made is unmade but for the one that is there. */
			sum += 2 * (uint64_t)s->made - (s->owner > OWNER_FLAGS);
		}
	return sum;
}
