/* SPDX-License-Identifier: MIT */
/*
 * Files that lie (see store/program/forged.h), one lie after the other: each is refused, or is told in what
 * the next process rebuilds (store/file/open.h).
 */
#include "store/recover/intent.h" /* first: sound.h has a variable s */
#include "store/inner/forged_words.h"

TEST(sound_truth, 10)
{
	uint32_t word = 0x5b;

	make();
	CHECK(!is_refused());
	CHECK(!is_refused());
	/* Behind the last chunk's record begin words that others set: no record is read there. */
	put(&region_chunk(&region, CAPACITY / CHUNK_SIZE)->index, &word, sizeof word);
	CHECK(!is_refused());
}

TEST(sound_store, 10)
{
	make();
	LIE(s->format, STORE_FORMAT ^ 1);
	LIE(s->base, (uintptr_t)s + CHUNK_SIZE);
	LIE(s->base, 0);
	LIE(s->bytes, image.bytes + CHUNK_SIZE);
	LIE(s->records, image.records + 4096);
	LIE(s->census, (uintptr_t)image.census + 4096);
	LIE(s->records_used, STORE_RECORDS + 1);
	LIE(s->records_used, (uint64_t)1 << 63);
	LIE(s->heap.regions, (uintptr_t)image.heap.regions + 64);
	LIE(s->heap.options, (uintptr_t)&fd);
	LIE(s->heap.id, image.heap.id - 1);
	LIE(s->heap.id, ~(uint64_t)0);
	LIE(s->heap.sharing, PAGES_PRIVATE);
	LIE(s->heap.settled, 77);
	LIE(s->heap.reserved, 1);
	LIE(s->heap.own.cap, CAPACITY * 2);
	LIE(s->heap.own.huge, 77);
	IDLE(s->heap.owners, 0);
	IDLE(s->heap.owners, (uintptr_t)&fd);
	IDLE(s->heap.owners, (uintptr_t)image.heap.owners + 8);
	IDLE(s->heap.owners, image.records + RECORD_BYTES);
	/* A slab's record is not made; or one is made that is not reserved. */
	LIE(s->made[0], 0);
	LIE(s->made[0], image.made[0] | (uint64_t)1 << image.records_used);
	LIE(s->made[0], image.made[0] | (uint64_t)1 << 63);
	LIE(s->made[1], 1);
	LIE(s->made[STORE_RECORDS / 64 - 1], (uint64_t)1 << 63);
	IDLE(s->heap.unowned[7], (uintptr_t)&fd);
	IDLE(s->heap.unowned[7], (uintptr_t)slab_of_block() + 8);
	IDLE(s->heap.adopt_next, (uintptr_t)&fd);
	IDLE(s->heap.reap_next, (uintptr_t)image.heap.owners + 8);
}

TEST(sound_region, 10)
{
	struct region *r;
	uint64_t room;
	size_t i;

	make();
	r = image.heap.regions;
	for (i = 0; i < sizeof *r; i += 8) {
		uint64_t word;

		get((char *)r + i, &word, 8);
		if (i == offsetof(struct region, part)) /* a hint: a smaller one is as good */
			word = CHUNK_UNITS;
		with_lie((char *)r + i, word ^ 1, 8, must_be_refused, __LINE__);
	}
	LIE(region.free[0], 1u << (CAPACITY / CHUNK_SIZE));
	LIE(region.room[0], ~(uint64_t)0);
	LIE(region.room[0], CHUNK_UNITS + 1);
	LIE(region.room[CAPACITY / CHUNK_SIZE / 8], (uint64_t)1 << CAPACITY / CHUNK_SIZE % 8 * 8);
	/* A chunk that was never open has no record yet: no search may be led to it. */
	get(&region.room[0], &room, sizeof room);
	CHECK_EQ(room >> 8 * (CAPACITY / CHUNK_SIZE - 1), 0);
	LIE(region.room[0], room | (uint64_t)1 << 8 * (CAPACITY / CHUNK_SIZE - 1));
	LIE(region.free[0], (uint64_t)1 << slabs_at);
	LIE(region.free[0], (uint64_t)1 << span_at);
	LIE(region.free[0], (uint64_t)1 << (span_at + 1));
}

TEST(sound_chunks, 10)
{
	struct chunk *c, *p, *n;
	struct slab *b;
	unsigned unit;

	make();
	c = region_chunk(&region, slabs_at);
	p = region_chunk(&region, span_at);
	n = region_chunk(&region, span_at + 1);
	b = slab_of_block();
	unit = record_unit((uint32_t)((char *)b - (char *)c));
	LIE(c->kind, 3);
	LIE(c->kind, CHUNK_FREE);
	LIE(c->kind, CHUNK_SPAN);
	LIE(c->base, (uintptr_t)slabs_chunk.base + CHUNK_SIZE);
	LIE(c->no_reciprocal, 1);
	LIE(c->region, (uintptr_t)&fd);
	LIE(c->index, slabs_at + 1);
	LIE(c->units, ~(uint64_t)0);
	LIE(c->head[unit], 0);
	LIE(c->head[unit], 8);
	LIE(c->head[unit], record_offset(63));
	LIE(c->head[63], record_offset(unit));
	/* Its length and its tag still say that it is a span. */
	LIE(p->kind, CHUNK_FREE);
	LIE(p->kind, CHUNK_SLABS);
	LIE(p->units, 1);
	LIE(p->span_chunks, 0);
	LIE(p->span_chunks, 1);
	LIE(p->span_chunks, CAPACITY / CHUNK_SIZE);
	LIE(p->span_bytes, 0);
	LIE(p->span_bytes, (size_t)4 << 21);
	LIE(p->span_bytes, span_chunk.span_bytes + 1);
	LIE(p->head[5], record_offset(5));
	LIE(n->kind, CHUNK_SPAN);
	LIE(n->head[0], record_offset(0));
	LIE(n->no_reciprocal, 1);
	/* Of a chunk without a use of its own too. */
	LIE(n->base, (uintptr_t)slabs_chunk.base);
	LIE(n->region, (uintptr_t)&fd);
	LIE(n->index, CAPACITY / CHUNK_SIZE + 1);
	LIE(n->units, 1);
}

TEST(sound_slabs, 10)
{
	static const uint64_t far = (uint64_t)1 << 40;
	struct slab *b, was;

	make();
	b = slab_of_block();
	get(b, &was, sizeof was);
	LIE(b->owner, 0);
	LIE(b->owner, (uintptr_t)&fd);
	LIE(b->owner, was.owner + 64);
	LIE(b->owner, image.records + RECORD_BYTES);
	LIE(b->base, (uintptr_t)was.base + UNIT_SIZE);
	LIE(b->reciprocal, was.reciprocal + 1);
	LIE(b->slots, was.slots + 1);
	LIE(b->remote, (uintptr_t)was.remote + 64);
	LIE(b->chunk, (uintptr_t)&fd);
	LIE(b->slot_size, was.slot_size - 16);
	LIE(b->groups, was.groups + 1);
	LIE(b->class, was.class + 1);
	LIE(b->class, 255);
	LIE(b->unit, was.unit + 1);
	LIE(b->units, was.units + 1);
	LIE(b->ready, (uint64_t)1 << was.groups);
	/* No group is ready: it would have no place among the partial slabs.  Others are than those with a free slot. */
	IDLE(b->ready, 0);
	IDLE(b->ready, was.ready ^ 1);
	IDLE(b->next, (uintptr_t)&fd);
	IDLE(b->next, (uintptr_t)b);
	IDLE(b->next, (uintptr_t)b + far);
	IDLE(b->previous, 0);
	LIE(b->free[was.groups - 1], ~(uint64_t)0);
	LIE(was.remote[was.groups - 1], ~(uint64_t)0);
}

TEST(sound_owners, 10)
{
	struct owner *o, was;
	unsigned class;

	make();
	o = image.heap.owners;
	get(o, &was, sizeof was);
	for (class = 0; was.bins[class].partial.head == NULL; class++)
		;
	LIE(o->no_slots, 1);
	IDLE(o->next, (uintptr_t)o);
	IDLE(o->next, (uintptr_t)&fd);
	LIE(o->heap, (uintptr_t)&fd);
	IDLE(o->inbox[3], (uintptr_t)&fd);
	IDLE(o->inbox[3], (uintptr_t)slab_of_block() + 8);
	LIE(truth_of(o)->flight, (uintptr_t)&fd);
	LIE(truth_of(o)->flight, (uintptr_t)s);
	LIE(truth_of(o)->intents[1].state, INTENT_USE | INTENT_KINDS);
	IDLE(o->turn, ~(uint64_t)0);
	IDLE(o->spare_units, 1);
	IDLE(o->spare_next, SPARES);
	IDLE(o->spares[3], (uintptr_t)slab_of_block());
	IDLE(o->large[CLASS_ONE + 1], 1u << 4);
	IDLE(o->bins[5].slab, (uintptr_t)slab_of_block());
	IDLE(o->bins[5].slab, 8);
	IDLE(o->bins[5].slabs, 8);
	IDLE(o->bins[class].partial.head, 0);
	IDLE(o->bins[class].partial.head, (uintptr_t)&fd);
	IDLE(o->bins[class + 1].partial.head, (uintptr_t)slab_of_block());
}

/* A hint may be old: of a unowned slab that is gone it is not followed. */
TEST(sound_hint_of_a_slab, 10)
{
	struct slab *b;

	make();
	b = slab_of_block();
	IDLE(s->heap.unowned[7], (uintptr_t)b); /* that slab has an owner */
	b += CHUNK_UNITS; /* its unit's other record */
	put(&s->heap.unowned[7], &b, sizeof b);
	CHECK(ash_heap_attach_file(fd, NULL) != NULL);
	CHECK(s->heap.unowned[7] == NULL);
}

/* A record that was never used, and what it says: it is set up again. */
TEST(sound_unused_record, 10)
{
	char garbage[4096];
	ash_heap *h;
	unsigned i;

	make();
	memset(garbage, 0x5b, sizeof garbage);
	for (i = 0; i < 4 * RECORD_BYTES / sizeof garbage; i++)
		put(image.records + RECORD_BYTES + i * sizeof garbage, garbage, sizeof garbage);
	CHECK(!is_refused());
	h = ash_heap_attach_file(fd, NULL);
	CHECK(h != NULL && ash_heap_alloc(h, 300) != NULL);
	IN_CHILD {
		for (i = 0; i < 2000; i++) {
			char *p = ash_heap_alloc(h, 8 + i);

			CHECK((size_t)(p - (char *)s) < image.bytes);
			ash_heap_release(h, p);
		}
		CHECK_EQ(ash_heap_check(h), 0);
	}
}

/* ---- lists that lie otherwise than a word at a time: refused, or not believed ---- */

/*
 * A slab on a list is of another class than the list: refused, or not believed, so that no block of the list's
 * class is smaller than it was asked for.
 */
TEST(sound_class_of_a_listed_slab, 10)
{
	static char *p[2000];
	struct slab *at, now;
	unsigned i, n, class;
	ash_heap *h;

	make();
	at = slab_of_block();
	get(at, &now, sizeof now);
	/* A smaller one in as many units: all bits that are set are of its slots. */
	for (class = now.class; class_units(--class, true) != now.units;)
		CHECK(class > 0);
	n = now.class;
	now.class = (uint8_t)class;
	now.slot_size = (uint32_t)class_size(class);
	now.slots = class_slots(class, now.units);
	now.groups = (uint32_t)(now.slots + GROUP_SLOTS - 1) / GROUP_SLOTS;
	now.reciprocal = class_reciprocal(now.slot_size);
	CHECK(now.groups <= SLAB_GROUPS && class_size(n) >= 300 && now.slot_size < class_size(n));
	put(at, &now, sizeof now);
	h = ash_heap_attach_file(fd, NULL);
	if (h == NULL)
		return;
	CHECK_EQ(ash_heap_check(h), 0);
	for (i = 0; i < 2000; i++) {
		p[i] = ash_heap_alloc(h, class_size(n));
		CHECK(p[i] != NULL && ash_heap_usable_size(h, p[i]) >= class_size(n));
		memset(p[i], (int)i, class_size(n));
	}
	for (i = 0; i < 2000; i++) {
		CHECK_EQ((unsigned char)p[i][0], (unsigned char)i);
		CHECK_EQ((unsigned char)p[i][class_size(n) - 1], (unsigned char)i);
	}
	CHECK_EQ(ash_heap_check(h), 0);
}
