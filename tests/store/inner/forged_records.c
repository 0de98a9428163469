/* SPDX-License-Identifier: MIT */
/*
 * Files that lie, in what only some of them have: several records, slabs of several units, many
 * chunks.
 */
#include "store/inner/forged_words.h"

/* A child makes a second record, which has no slab. */
static struct owner *second_record(ash_heap *h)
{
	IN_CHILD {
		ash_heap_release(h, ash_heap_alloc(h, 300));
		ash_heap_thread_detach(h);
	}
	ash_heap_thread_detach(h);
	ash_heap_destroy(h);
	get(s, &image, sizeof image);
	CHECK_EQ(image.records_used, 2);
	CHECK(!is_refused());
	return (struct owner *)(void *)(image.records + RECORD_BYTES);
}

/* Lies in the second owner record. */
TEST(sound_second_record, 10)
{
	struct owner *second;
	ash_heap *h;

	make();
	h = NOT_NULL(ash_heap_attach_file(fd, NULL));
	ash_heap_release(h, ash_heap_alloc(h, 300));
	second = second_record(h);
	LIE(second->no_slots, 1);
	LIE(truth_of(second)->flight, (uintptr_t)&fd);
	IDLE(second->inbox[3], (uintptr_t)&fd);
}

/* A slab's owner is always compared. */
TEST(sound_owner_of_a_held_record, 10)
{
	uint64_t held = (uint64_t)77 << OWNER_THREAD | OWNER_HELD;
	struct owner *o;
	struct slab *b;

	make();
	o = image.heap.owners;
	b = slab_of_block();
	put(&o->state, &held, sizeof held);
	LIE(b->owner, (uintptr_t)&fd);
	LIE(b->owner, image.records + RECORD_BYTES);
}

/* The numbers of a slab are words that all of it is read by: no bit of them is left out. */
TEST(sound_numbers_of_a_slab, 10)
{
	struct slab *b, now;

	make();
	b = slab_of_block();
	get(b, &now, sizeof now);
	for (unsigned bit = 0; bit < 64; bit++)
		LIE(b->slots, now.slots ^ (uint64_t)1 << bit);
	for (unsigned bit = 0; bit < 32; bit++) {
		LIE(b->slot_size, now.slot_size ^ (uint32_t)1 << bit);
		LIE(b->groups, now.groups ^ (uint32_t)1 << bit);
	}
	for (unsigned bit = 0; bit < 8; bit++) {
		LIE(b->class, now.class ^ (uint8_t)(1 << bit));
		LIE(b->units, now.units ^ (uint8_t)(1 << bit));
	}
}

/* Each unit of a slab has its record, and is not free. */
TEST(sound_units_of_a_slab, 10)
{
	struct chunk *c;
	unsigned u, several = 0;
	uint64_t units;
	ash_heap *h;

	make();
	h = NOT_NULL(ash_heap_attach_file(fd, NULL));
	block = NOT_NULL(ash_heap_alloc(h, 200000));
	ash_heap_thread_detach(h);
	slabs_at = (size_t)((char *)block - s->heap.regions->base) >> CHUNK_SHIFT;
	ash_heap_destroy(h);
	c = region_chunk(&region, slabs_at);
	get(c, &slabs_chunk, sizeof slabs_chunk);
	units = slabs_chunk.units;
	for (u = 0; u < CHUNK_UNITS; u++) {
		if (slabs_chunk.head[u] == 0)
			continue;
		LIE(c->units, units | (uint64_t)1 << u);
		if (record_unit(slabs_chunk.head[u]) != u) {
			LIE(c->head[u], 0);
			several++;
		}
	}
	CHECK(several > 0);
}

/* A unit without a slab: its unowned record has no free slot. */
TEST(sound_unit_without_a_slab, 10)
{
	struct chunk *c;
	struct slab *none;
	unsigned u;

	make();
	c = region_chunk(&region, slabs_at);
	for (u = 0; u < CHUNK_UNITS && slabs_chunk.head[u] != 0; u++)
		;
	CHECK(u < CHUNK_UNITS && ((slabs_chunk.units >> u) & 1) != 0);
	none = record_at(c, record_offset_unowned(u));
	LIE(none->free[0], 1);
	LIE(none->free[SLAB_GROUPS - 1], (uint64_t)1 << 63);
}

/* Whether it is refused with the records of two units without a slab as they are given. */
static bool refused_with(unsigned u, uint64_t taken, uint32_t first, uint32_t second, const struct slab *record)
{
	struct chunk *c = region_chunk(&region, slabs_at), was;
	struct slab before;
	bool refused;

	get(c, &was, sizeof was);
	get(record_at(c, record_offset(u)), &before, sizeof before);
	was.units &= ~(taken << u);
	was.head[u] = first;
	was.head[u + 1] = second;
	put(c, &was, sizeof was);
	put(record_at(c, record_offset(u)), record, sizeof *record);
	refused = is_refused();
	put(c, &slabs_chunk, sizeof slabs_chunk);
	put(record_at(c, record_offset(u)), &before, sizeof before);
	return refused;
}

/* Who died while a slab was made or unmade leaves units that are taken, and what their records say is not followed. */
TEST(sound_units_of_no_slab, 10)
{
	struct chunk *c;
	struct slab real, half;
	uint32_t offset;
	unsigned u;

	make();
	c = region_chunk(&region, slabs_at);
	for (u = 1; u + 1 < CHUNK_UNITS && (slabs_chunk.head[u] != 0 || slabs_chunk.head[u + 1] != 0); u++)
		;
	CHECK(u + 1 < CHUNK_UNITS && !is_refused());
	get(slab_of_block(), &real, sizeof real);
	offset = record_offset(u);
	memset(&half, 0, sizeof half);
	CHECK(!refused_with(u, 3, 0, 0, &half));
	/* Another chunk's, or of more groups than there are: it was never a slab of this unit. */
	half.owner = real.owner;
	half.chunk = c;
	half.groups = SLAB_GROUPS + 1;
	CHECK(!refused_with(u, 3, 0, 0, &half));
	half.groups = 1;
	half.chunk = NULL;
	CHECK(!refused_with(u, 3, 0, 0, &half));
	/* Some of its slots are taken: the slab existed, and its unit was erased; but not if the unit is free. */
	half.chunk = c;
	half.slots = 8;
	CHECK(refused_with(u, 3, 0, 0, &half));
	CHECK(!refused_with(u, 0, 0, 0, &half));
	/* Its second unit has the record, which is wrong; or it is right, and of another unit. */
	half.owner = 0;
	half.units = 2;
	CHECK(refused_with(u, 3, 0, offset, &half));
	CHECK(refused_with(u, 3, 0, record_offset(record_unit((uint32_t)((char *)slab_of_block() - (char *)c))), &half));
}

/* The bits of chunks that lie beyond the first word. */
TEST(sound_many_chunks, 10)
{
	enum { CHUNKS = 140 };
	size_t i, at[3];
	ash_heap *h;

	fd = (int)arch_memfd_create("sound", 0);
	h = NOT_NULL(ash_heap_create_file(fd, (size_t)CHUNKS << CHUNK_SHIFT, NULL));
	s = store_of(heap_of(h));
	for (i = 0; i < 3; i++) {
		char *p = ash_heap_alloc(h, (size_t)(i == 1 ? 64 : 2) << CHUNK_SHIFT);

		CHECK(p != NULL);
		at[i] = (size_t)(p - s->heap.regions->base) >> CHUNK_SHIFT;
	}
	CHECK(at[0] < at[1] && at[1] < 64 && at[2] > 64);
	ash_heap_thread_detach(h);
	ash_heap_destroy(h);
	get(s, &image, sizeof image);
	get(image.heap.regions, &region, sizeof region);
	CHECK(!is_refused());
	/* Of spans, and in the midst of one. */
	for (i = at[0]; i < at[2] + 2; i++) {
		uint64_t word;

		get(&region.free[i / 64], &word, sizeof word);
		if (((word >> (i % 64)) & 1) == 0)
			LIE(region.free[i / 64], word | (uint64_t)1 << (i % 64));
	}
}

/* A record's list of one slab, of which some slots are free. */
static unsigned list_of_one(const struct owner *o, unsigned from)
{
	unsigned class = from;
	struct slab head;

	for (; class < CLASSES; class++) {
		if (o->bins[class].partial.head == NULL)
			continue;
		get(o->bins[class].partial.head, &head, sizeof head);
		if (head.next == NULL)
			break;
	}
	CHECK(class < CLASSES);
	return class;
}

static void lists_of_others(struct owner *at)
{
	static struct owner o;
	struct slabs one, two;
	unsigned a, b;
	struct slab copy;

	get(at, &o, sizeof o);
	a = list_of_one(&o, 0);
	b = list_of_one(&o, a + 1);
	one = o.bins[a].partial;
	two = o.bins[b].partial;
	/* Two lists change places. */
	put(&at->bins[a].partial, &two, sizeof two);
	put(&at->bins[b].partial, &one, sizeof one);
	works(__LINE__);
	put(&at->bins[b].partial, &two, sizeof two);
	/* A slab's likeness in a block, where the program may write what it likes. */
	get(one.head, &copy, sizeof copy);
	put(block, &copy, sizeof copy);
	one.head = block;
	put(&at->bins[a].partial, &one, sizeof one);
	works(__LINE__);
	put(&at->bins[a].partial, &o.bins[a].partial, sizeof one);
	CHECK(!is_refused());
}

/* Whatever is on the lists of a vacant record, its slabs are those that have it as their owner. */
TEST(sound_lists_of_a_vacant_record, 10)
{
	static const struct bin none[CLASSES];
	struct owner *second, *first;
	ash_heap *h;

	make();
	first = image.heap.owners;
	h = ash_heap_attach_file(fd, NULL);
	CHECK(h != NULL && ash_heap_alloc(h, 300) != NULL && ash_heap_alloc(h, 700) != NULL);
	blocks_there += 2;
	second = second_record(h);
	CHECK(first != second);
	IDLE(second->bins[3].partial.head, slab_of_block());
	IDLE(second->bins[CLASSES - 1].partial.head, slab_of_block());
	IDLE(second->bins[0].partial.head, slab_of_block());
	/* The first one has slabs: each is on the list of its class, and lies where slabs lie. */
	lists_of_others(first);
	/* Lists that are all empty would lose them. */
	put(&first->bins, none, sizeof none);
	works(__LINE__);
}
