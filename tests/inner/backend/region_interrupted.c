/* SPDX-License-Identifier: MIT */
/*
 * A region that is given back, and a span that shrinks, while at each instruction a handler uses or looks at
 * what the call works on.
 */
#include "backend/map.h"
#include "backend/region.h"
#include "pages.h"
#include "support/handler_at_step.h"

enum { FEW = 3, MANY = 6 };

static size_t trimmed;
static struct run again;

/* For spans, so that the region has just so many chunks as are asked for, and half of them more. */
static struct run claim(size_t n)
{
	return region_claim(&heap_default, n, 2, false);
}

DOES(do_trim, trimmed = region_trim(&heap_default, false));

/* The region is retired, and its record used for a larger one, all of which is free. */
static void trim_and_reserve(void)
{
	(void)region_trim(&heap_default, false);
	again = claim(MANY);
	CHECK(again.region != NULL);
	region_give(again, MANY, false);
}

/* Each chunk of a live region is mapped, entered in the map, and counted. */
static void regions_are_whole(void)
{
	uint64_t reserved = 0;
	struct region *r;
	size_t i;

	for (r = region_first(&heap_default); r != NULL; r = region_next(r)) {
		if (r->state != REGION_LIVE) {
			CHECK_EQ(r->state, REGION_VACANT); /* no thread is at work on it */
			CHECK(r->chunks == 0 && r->base == NULL);
			continue;
		}
		reserved += r->chunks;
		for (i = 0; i < r->chunks; i++) {
			CHECK(map_guess(r->base + (i << CHUNK_SHIFT)) == region_chunk(r, i));
			*(volatile char *)(r->base + (i << CHUNK_SHIFT)) = 1;
		}
	}
	CHECK_EQ(heap_default.reserved, reserved);
}

TEST(region_retired_and_used_again_meanwhile, 30)
{
	struct region *record;
	struct run run = claim(MANY);
	bool more = true;
	size_t k, grown = 0;

	record = run.region;
	CHECK(record != NULL && heap_default.sharing == PAGES_PRIVATE);
	region_give(run, MANY, false);
	step_begin(trim_and_reserve);
	for (k = rt_test_seed() % 3; more; k += rt_in_full() ? 1 : 3) {
		(void)region_trim(&heap_default, false);
		CHECK_EQ(heap_default.reserved, 0);
		run = claim(FEW);
		CHECK(run.region == record && record->chunks < MANY);
		region_give(run, FEW, false);
		more = with_act_at(k, do_trim);
		regions_are_whole();
		/* Neither call thinks that it gave back a region that the other has. */
		CHECK_EQ(trimmed % CHUNK_SIZE, 0);
		grown += record->state == REGION_LIVE;
		CHECK_EQ(ash_check(), 0);
	}
	CHECK(k > 20 && grown > 0);
}

/* The first chunk is taken when the call looks; then the region is retired, and is a larger one, whose end is free. */
static struct run head, behind;
static struct region *cut_record;

static void free_first_and_reserve(void)
{
	region_give(head, 1, false);
	trim_and_reserve();
	CHECK(region_claim_at(again, 1));
	head = again;
	behind = (struct run){again.region, FEW + 1};
	CHECK(region_claim_at(behind, 1));
}

DOES(do_cut, (void)region_cut(&heap_default, cut_record));

TEST(region_cut_retired_and_used_again_meanwhile, 30)
{
	bool more = true;
	size_t k, same = 0;

	region_give(claim(MANY), MANY, false); /* its record serves smaller regions as well */
	step_begin(free_first_and_reserve);
	for (k = rt_test_seed() % 3; more; k += rt_in_full() ? 1 : 3) {
		(void)region_trim(&heap_default, false);
		head = claim(FEW);
		cut_record = head.region;
		CHECK(cut_record->chunks > FEW && cut_record->chunks < MANY);
		region_give((struct run){cut_record, 1}, FEW - 1, false);
		more = with_act_at(k, do_cut);
		regions_are_whole();
		if (more) {
			CHECK_EQ(bits_unset(behind.region->free, behind.first, 1), 1);
			region_give(behind, 1, false);
		}
		same += head.region == cut_record;
		region_give(head, 1, false);
	}
	CHECK(same > 5);
}

/* A span's own region, which its holder has freed and is about to cut. */
static void free_alone(size_t bytes)
{
	const struct region_plan plan = {bytes / CHUNK_SIZE, 1, bytes / CHUNK_SIZE, false, bytes};
	struct region *r = region_create(&heap_default, &plan);

	if (r == NULL)
		rt_skip("the kernel does not promise a GiB");
	bits_release(r->free, 0, 1);
}

static void trim_and_free_a_larger_one(void)
{
	(void)region_trim(&heap_default, false);
	free_alone(((size_t)1 << 30) + CHUNK_SIZE);
}

TEST(region_alone_retired_and_used_again_meanwhile, 30)
{
	bool more = true;
	size_t k, space = 0;

	step_begin(trim_and_free_a_larger_one);
	for (k = rt_test_seed() % 3; more; k += rt_in_full() ? 1 : 3) {
		free_alone((size_t)1 << 30);
		more = with_act_at(k, do_trim);
		CHECK_EQ(trimmed % CHUNK_SIZE, 0);
		(void)region_trim(&heap_default, false);
		CHECK_EQ(heap_default.reserved, 0);
		if (space == 0)
			space = rt_address_space();
		CHECK(rt_under_qemu() || rt_address_space() < space + CHUNK_SIZE);
	}
	CHECK(k > 20);
}

/* The region is retired, and comes again at an address that is aligned otherwise. */
enum { EIGHT = 8 };
static struct run aligned;

DOES(do_claim_aligned, aligned = region_claim(&heap_default, 1, EIGHT, false));

static void trim_and_move(void)
{
	(void)region_trim(&heap_default, false);
	CHECK(pages_reserve(CHUNK_SIZE, CHUNK_SIZE, PAGES_PRIVATE) != NULL); /* where it was, mostly */
	again = region_claim(&heap_default, SPAN_REGION, 1, false);
	CHECK(again.region != NULL);
	region_give(again, SPAN_REGION, false);
}

TEST(region_moved_while_it_is_searched, 30)
{
	bool more = true;
	struct run run;
	size_t k;

	step_begin(trim_and_move);
	for (k = rt_test_seed() % 2; more; k += k < 200 ? 1 + !rt_in_full() : 50) {
		(void)region_trim(&heap_default, false);
		/* Mostly one that begins elsewhere, so that the chunk that is found is not its first. */
		run = region_claim(&heap_default, SPAN_REGION, k % 3 == 0 ? EIGHT : 1, false);
		CHECK(run.region != NULL);
		region_give(run, SPAN_REGION, false);
		more = with_act_at(k, do_claim_aligned);
		CHECK(aligned.region != NULL && (uintptr_t)run_base(aligned) % (EIGHT * CHUNK_SIZE) == 0);
		region_give(aligned, 1, false);
		(void)region_trim(&heap_default, false);
		CHECK_EQ(heap_default.reserved, 0); /* no chunk is still claimed */
	}
	CHECK(k > 20);
}

/* A cap within a chunk's bytes: the heap has the chunks below it. */
TEST(region_cap_is_not_exceeded, 10)
{
	static struct ash_defaults options;
	void *p;

	options = ash_defaults;
	options.cap = 2 * CHUNK_SIZE - 1;
	heap_default.options = &options;
	CHECK(ash_alloc(CHUNK_SIZE + 1) == NULL);
	CHECK((p = ash_alloc(CHUNK_SIZE)) != NULL);
	CHECK(ash_alloc(1) == NULL);
	ash_release(p);
	CHECK((p = ash_alloc(1)) != NULL);
	ash_release(p);
	options.cap = 2 * CHUNK_SIZE;
	CHECK((p = ash_alloc(CHUNK_SIZE + 1)) != NULL || ash_trim(0) != 0);
	CHECK(p != NULL || (p = ash_alloc(CHUNK_SIZE + 1)) != NULL);
	ash_release(p);
	CHECK(ash_trim(0) != 0 && load_relaxed(&heap_default.reserved) == 0);
	/* Less than a chunk counts as a chunk: without a chunk there would be no block. */
	options.cap = 1;
	CHECK((p = ash_alloc(CHUNK_SIZE)) != NULL);
	CHECK(ash_alloc(1) == NULL);
	ash_release(p);
	CHECK(ash_alloc(CHUNK_SIZE + 1) == NULL);
}

/* A region that the system refuses is not counted. */
TEST(region_refused_is_not_counted, 10)
{
	uint64_t before;

	CHECK(ash_alloc(1) != NULL);
	before = heap_default.reserved;
	CHECK(ash_alloc(((size_t)1 << 47) - 32 * MIB) == NULL); /* more than has room beside a stack */
	CHECK_EQ(heap_default.reserved, before);
	regions_are_whole();
}

/* ---- the map of addresses ---- */

/* Of a region whose last chunk is the first of another leaf, all chunks are found. */
TEST(region_over_the_end_of_a_leaf, 10)
{
	static struct region far;

	CHECK(ash_alloc(100) != NULL); /* the first leaf is not mapped */
	far.records = (char *)&far;
	far.stride = 8;
	far.base = (char *)((uintptr_t)1 << 45) - CHUNK_SIZE;
	far.chunks = 2;
	CHECK(map_index(far.base + CHUNK_SIZE) == 0);
	CHECK(map_enter(&far));
	CHECK(map_guess(far.base) == region_chunk(&far, 0));
	CHECK(map_guess(far.base + CHUNK_SIZE) == region_chunk(&far, 1));
	CHECK(map_guess(far.base + 2 * CHUNK_SIZE) == NULL);
	map_leave(&far, 0, 2);
	CHECK(map_guess(far.base) == NULL && map_guess(far.base + CHUNK_SIZE) == NULL);
}

/* ---- spans ---- */

static char *span;
static struct chunk *first;
static size_t wanted;

DOES(do_resize, span = ash_resize(span, wanted));

/* A walk now, or a takeover from a thread that dies now, reads no byte behind the span's chunks. */
DOES(look, CHECK(first->span_bytes <= (size_t)first->span_chunks << CHUNK_SHIFT));

TEST(span_never_exceeds_its_chunks, 20)
{
	static const size_t sizes[][2] = {{9 * MIB, 3 * MIB}, {4 * MIB, 2 * MIB + 1}, {3 * MIB, 9 * MIB}};

	step_begin(look);
	act_again = 1; /* the call is looked at before each of its instructions */
	for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		wanted = sizes[i][1];
		span = NOT_NULL(ash_alloc(sizes[i][0]));
		first = NOT_NULL(map_find(span));
		CHECK(with_act_at(0, do_resize) && acted > 100);
		CHECK_EQ(ash_usable_size(span), ash_good_size(wanted));
		ash_release(span);
	}
	CHECK_EQ(ash_check(), 0);
}

/* A walk has read how many chunks there are, and the region is cut: the walk comes to its end. */
TEST(region_cut_during_a_walk, 10)
{
	size_t chunks, i, visited = 0;
	struct region *r;

	ash_release(ash_alloc(100));
	r = region_first(&heap_default);
	chunks = r->chunks + 3;
	for (i = 0; (i = region_next_known(r, i)) < chunks && visited < 10; i++)
		visited++;
	CHECK_EQ(visited, 1);
}

static struct run got;

DOES(do_claim, got = region_claim(&heap_default, 1, 2, false));

/* The region is retired, and its record is one span's own, which could not be unmapped when it was released. */
static void trim_and_leave_alone(void)
{
	static const struct region_plan plan = {1, 2, 1, false, 8 * PAGE_MOST};
	struct region *r;

	if (region_trim(&heap_default, false) == 0)
		return; /* a chunk of it is claimed by now */
	r = region_create(&heap_default, &plan);
	CHECK(r != NULL);
	bits_release(r->free, 0, 1);
}

/* A search that began in the region as it was does not get that chunk, which has fewer bytes. */
TEST(region_alone_before_it_is_claimed, 30)
{
	bool more = true;
	size_t k, alone = 0;

	step_begin(trim_and_leave_alone);
	for (k = 0; more; k++) {
		got = claim(FEW);
		CHECK(got.region != NULL);
		region_give(got, FEW, false);
		more = with_act_at(k, do_claim);
		CHECK(got.region != NULL && region_alone(got.region) == 0);
		for (struct region *r = region_first(&heap_default); r != NULL; r = region_next(r))
			alone += region_alone(r) != 0;
		region_give(got, 1, false);
		(void)region_trim(&heap_default, false);
		CHECK_EQ(heap_default.reserved, 0);
	}
	rt_print("     %zu boundaries, %zu with such a region\n", k, alone);
	CHECK(k > 20 && alone > 0);
}
