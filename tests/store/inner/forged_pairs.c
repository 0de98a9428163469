/* SPDX-License-Identifier: MIT */
/* Files that lie in two words, of which either alone does no harm. */
#include "store/inner/forged_words.h"

/*
 * The list of owner records lacks some, or all, and memory is said to be lost: the search for it took a record that no
 * list had for one that was never made, and emptied it.  Now no list of the file is followed.
 */
TEST(sound_owner_list_and_lost_memory, 20)
{
	uint64_t lost = 1;
	struct owner *o;

	make();
	o = image.heap.owners;
	put(&s->deaths, &lost, sizeof lost);
	works(__LINE__);
	IDLE(s->heap.owners, 0);
	IDLE(s->heap.owners, image.records + RECORD_BYTES);
	IDLE(s->heap.owners, (uintptr_t)&fd);
	IDLE(o->next, (uintptr_t)o);
	IDLE(o->next, (uintptr_t)slab_of_block());
	/* Nor is a record taken for one that was never made while slabs have it as their owner. */
	LIE(s->made[0], 0);
}

/* What a death leaves of a span that is being made or released: chunks without a tag.  They are lost, and come back. */
TEST(sound_span_of_the_dead, 20)
{
	uint64_t none = 0, kind = CHUNK_FREE;
	struct chunk *c;

	make();
	c = region_chunk(&region, span_at);
	put(&c->clean, &none, sizeof none);
	CHECK(!is_refused());
	put(&c->kind, &kind, sizeof kind);
	CHECK(!is_refused());
	/* A chunk of slabs is never a span's as well. */
	LIE(c->kind, CHUNK_SLABS);
	c = region_chunk(&region, slabs_at);
	LIE(c->span_chunks, 1);
}
