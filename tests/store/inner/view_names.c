/* SPDX-License-Identifier: MIT */
/* Views: tags, names, and a slot that is being changed. */
/* promises: ash_heap_view_bound, ash_heap_view_load, ash_heap_view_names, ash_heap_view_root */
#include "store/inner/view_subject.h"
#include "store/data/view.h"
#include "store/recover/intent.h"
#include "heaps/seats.h"

struct tags {
	uint64_t sum;
	unsigned blocks;
};

static int sum_tags(void *context, UNUSED const void *p, size_t size, const struct ash_heap_owner *owner)
{
	struct tags *t = context;

	t->blocks++;
	t->sum = (t->sum * 31 + owner->tag) * 31 + size;
	return 0;
}

static int sum_own(void *context, void *p, size_t size, const struct ash_heap_owner *owner)
{
	return sum_tags(context, p, size, owner);
}

static unsigned names;

static int visit_name(UNUSED void *context, const char *name, const void *p)
{
	CHECK(p == ash_heap_view_at(viewed, ash_heap_find(viewed_heap, name)));
	names++;
	return 0;
}

static int visit_any(UNUSED void *context, UNUSED const char *name, const void *p)
{
	CHECK(ash_heap_view_offset(viewed, p) != 0);
	return 0;
}

TEST(view_of_tags_and_names, 10)
{
	char name[32];
	struct tags own = {0, 0}, seen = {0, 0};
	struct intent *change;
	struct owner *o;
	struct store *s;
	uint64_t *root;
	unsigned i;

	viewed_make();
	s = store_of(heap_of(viewed_heap));
	for (i = 1; i < 40; i++)
		CHECK(ash_heap_alloc_tagged(viewed_heap, i == 20 ? (size_t)2 << 20 : i * 50,
					    (unsigned char)i) != NULL);
	CHECK_EQ(ash_heap_bind(viewed_heap, "first", ash_heap_alloc(viewed_heap, 10)), ASH_SLOT_DONE);
	for (i = 0; i < 300; i++) {
		rt_format(name, sizeof name, "name %u", i);
		CHECK_EQ(ash_heap_bind(viewed_heap, name, ash_heap_alloc(viewed_heap, 10)), ASH_SLOT_DONE);
	}
	ash_heap_release(viewed_heap, ash_heap_unbind(viewed_heap, "name 7"));
	CHECK(ash_heap_draft(viewed_heap, 33) != NULL);
	viewed = NOT_NULL(ash_heap_view_file(viewed_fd, NULL));
	(void)ash_heap_walk(viewed_heap, sum_own, &own);
	(void)ash_heap_view_walk(viewed, sum_tags, &seen);
	CHECK(own.blocks > VIEWED / 2 && own.blocks == seen.blocks);
	CHECK_EQ(own.sum, seen.sum);
	CHECK_EQ(ash_heap_view_names(viewed, visit_name, NULL), 0);
	CHECK_EQ(names, 300);
	CHECK(ash_heap_view_bound(viewed, "first") == ash_heap_view_at(viewed, ash_heap_find(viewed_heap, "first")));
	CHECK(ash_heap_view_bound(viewed, "name 299") ==
	      ash_heap_view_at(viewed, ash_heap_find(viewed_heap, "name 299")));
	CHECK(ash_heap_view_bound(viewed, "name 7") == NULL && ash_heap_view_bound(viewed, "name") == NULL);
	CHECK(ash_heap_view_bound(viewed, "") == ash_heap_view_root(viewed));
	CHECK(ash_heap_view_load(viewed, ash_heap_view_at(viewed, &s->heap.root)) == ash_heap_view_root(viewed));
	/* The root has a mark: the change has happened, though no thread has completed it. */
	o = seats_self(heap_of(viewed_heap));
	change = NOT_NULL(intent_claim(o));
	change->slot = (uint64_t)(uintptr_t)&s->heap.root;
	change->fresh = (uint64_t)(uintptr_t)viewed_block[2].p;
	intent_set(change, INTENT_ARMED);
	root = &s->heap.root;
	*root = intent_mark(s, change);
	CHECK(ash_heap_view_root(viewed) == ash_heap_view_at(viewed, viewed_block[2].p));
	*root += (uint64_t)1 << MARK_USE; /* of another use: not known */
	CHECK(ash_heap_view_root(viewed) == NULL);
	*root = ~UINT64_C(0);
	CHECK(ash_heap_view_root(viewed) == NULL);
	/* Forged: a directory, and names, that are none. */
	root = &s->names;
	for (i = 0; i < 6; i++) {
		static const uint64_t at_end[] = {8, 64, 4096, 8192, 1 << 20, 3};

		*root = (uint64_t)(uintptr_t)s + s->bytes - at_end[i];
		CHECK_EQ(ash_heap_view_names(viewed, visit_any, NULL), 0);
	}
	/* In each bucket a name that is its own next; its text would end behind the mapping. */
	*root = (uint64_t)(uintptr_t)viewed_block[499].p;
	CHECK(viewed_block[499].size > 1100 * 8);
	for (i = 0; i < 1024; i++)
		((uint64_t *)(void *)viewed_block[499].p)[i] = 0;
	((uint64_t *)(void *)viewed_block[499].p)[700] = (uint64_t)(uintptr_t)viewed_block[499].p + 8192;
	((uint64_t *)(void *)viewed_block[499].p)[6] = (uint64_t)(uintptr_t)s + s->bytes - sizeof(struct name) - 8;
	memset((char *)s + s->bytes - sizeof(struct name) - 8, 0, sizeof(struct name) + 8);
	((uint64_t *)(void *)((char *)s + s->bytes - sizeof(struct name) - 8))[1] =
		(uint64_t)(uintptr_t)viewed_block[2].p;
	((uint64_t *)(void *)((char *)s + s->bytes - sizeof(struct name) - 8))[3] = 200;
	((uint64_t *)(void *)viewed_block[499].p)[1024] = (uint64_t)(uintptr_t)viewed_block[499].p + 8192;
	((uint64_t *)(void *)viewed_block[499].p)[1027] = ~UINT64_C(0);
	names = 0;
	(void)ash_heap_view_names(viewed, visit_name, NULL);
	CHECK_EQ(names, 0);
}
