/* SPDX-License-Identifier: MIT */
/* Where addresses are short a span is alone, with just its bytes: it is resized and moved byte for byte. */
/* promises: ash_expand, ash_resize, ash_aligned_resize */
#include "backend/map.h"
#include "backend/region.h"
#include "kernel.h"
#include "pages.h"
#include "program/faults.h"
#include "support/handler_at_step.h"
#include "support/pattern.h"
#include "syscall.h"

#define ODD(mib) ((mib) * MIB + PAGE_MOST)

const struct ash_defaults ash_defaults = {.initial = CHUNK_SIZE, .retain = 10 * MIB};

enum { IN_USE = 4096 * CHUNK_UNITS };

static struct heap *const d = &heap_default;
static char *area; /* addresses that nothing has */

/* So much is in use, by the counter, that the system is not asked: addresses are short, and stay so. */
static void addresses_are_short(void)
{
	char *p = NOT_NULL(pages_reserve(CHUNK_SIZE, CHUNK_SIZE, PAGES_PRIVATE));

	area = p - 16 * 1024 * MIB - (uintptr_t)p % (32 * MIB);
	d->used += IN_USE;
	region_addresses_short = 1;
}

static char *span_at(char *place, size_t bytes)
{
	char *p;

	faults.place = place;
	p = ash_alloc(bytes);
	CHECK(p == place && faults.place == NULL);
	fill(p, bytes, 1);
	return p;
}

static char *theirs_at(char *place)
{
	CHECK_EQ(arch_mmap(place, 4 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | 0x100000, -1, 0),
		 (long)place);
	memset(place, 7, 4 * MIB);
	return place;
}

static void theirs_stays(char *place)
{
	for (size_t i = 0; i < 4 * MIB; i++)
		CHECK_EQ(place[i], 7);
	CHECK_EQ(arch_munmap(place, 4 * MIB), 0);
}

/* What the region and the counters say of a span of these bytes, whose region has `mapped`. */
static void is_span(char *p, size_t bytes, size_t mapped)
{
	struct region *r = map_around(p)->region;

	CHECK(region_alone(r) == mapped && r->base == p);
	CHECK_EQ(ash_usable_size(p), bytes);
	CHECK_EQ(d->used - IN_USE, (mapped + UNIT_SIZE - 1) / UNIT_SIZE);
	CHECK_EQ(d->reserved, (mapped + CHUNK_SIZE - 1) / CHUNK_SIZE);
	CHECK_EQ(d->dirty, 0);
	CHECK_EQ(ash_check(), 0);
}

static void is_gone(char *p)
{
	ash_release(p);
	CHECK(d->used == IN_USE && d->reserved == 0 && d->dirty == 0 && map_around(p) == NULL);
}

TEST(alone_short_grows_and_shrinks, 10)
{
	static const struct {
		size_t bytes, mapped;
	} steps[] = {
		{ODD(5), ODD(5)}, {5 * MIB, ODD(5)}, /* within its last chunk it gives nothing back */
		{ODD(5), ODD(5)}, {ODD(3), ODD(3)}, {ODD(7), ODD(7)}, {10 * MIB, 10 * MIB}, {ODD(2), ODD(2)},
	};
	size_t had = ODD(11), peak;
	char *p, *theirs;

	addresses_are_short();
	p = span_at(area, had);
	is_span(p, had, had);
	theirs = theirs_at(p + 12 * MIB);
	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		size_t bytes = steps[i].bytes;

		CHECK_EQ(ash_expand(p, bytes), bytes);
		is_span(p, bytes, steps[i].mapped);
		CHECK(rt_under_qemu() || !pages_mapped(p + steps[i].mapped));
		holds(p, bytes < had ? bytes : had, 1);
		fill(p, bytes, 1);
		had = bytes;
	}
	/* What is in the way, and what no address has. */
	peak = d->peak.reserved;
	CHECK_EQ(ash_expand(p, (size_t)1 << CPU_ADDRESS_BITS), 0);
	CHECK_EQ(d->peak.reserved, peak);
	CHECK_EQ(ash_expand(p, 13 * MIB), 0);
	is_span(p, had, had);
	holds(p, had, 1);
	theirs_stays(theirs);
	is_gone(p);
}

/* A long tail of the last chunk is kept mapped, but not resident. */
TEST(alone_short_tail_is_purged, 10)
{
	char *p;

	addresses_are_short();
	p = span_at(area, ODD(3));
	CHECK_EQ(ash_expand(p, ODD(2)), ODD(2));
	is_span(p, ODD(2), ODD(3));
	CHECK(rt_under_qemu() || pages_count(p + ODD(2), MIB) == 0);
	holds(p, ODD(2), 1);
	is_gone(p);
}

/* Its end cannot be unmapped: it is not resident at least, and the span may have it again. */
TEST(alone_short_that_cannot_be_cut, 10)
{
	char *p, *theirs;

	addresses_are_short();
	p = span_at(area, ODD(11));
	theirs = theirs_at(p + ODD(11));
	faults.munmap_error = -FAULT_ENOMEM;
	faults.mremap_error = -FAULT_ENOMEM;
	CHECK_EQ(ash_expand(p, ODD(5)), ODD(5));
	is_span(p, ODD(5), ODD(11));
	CHECK(rt_under_qemu() || pages_count(p + ODD(5), 6 * MIB) == 0);
	holds(p, ODD(5), 1);
	CHECK_EQ(ash_expand(p, ODD(9)), ODD(9));
	is_span(p, ODD(9), ODD(11));
	holds(p, ODD(5), 1);
	faults.munmap_error = faults.mremap_error = 0;
	theirs_stays(theirs);
	is_gone(p);
}

static char *shrinking;

static void do_shrink(void)
{
	CHECK_EQ(ash_expand(shrinking, ODD(5)), ODD(5));
}

static void is_mapped(void)
{
	CHECK(pages_mapped(shrinking + ash_usable_size(shrinking) - 1));
}

/* At no moment the span is said to have what is unmapped. */
TEST(alone_short_shrinks_step_by_step, 20)
{
	addresses_are_short();
	step_begin(is_mapped);
	faults.place = area;
	shrinking = ash_alloc(ODD(11));
	CHECK(shrinking == area);
	act_again = 1;
	CHECK(with_act_at(0, do_shrink));
	is_span(shrinking, ODD(5), ODD(5));
	is_gone(shrinking);
}

/* All chunks behind the span, in a region that has more of them. */
static struct run hem(char *p)
{
	const struct chunk *c = map_find(p);
	struct run rest = {c->region, c->index + c->span_chunks};

	CHECK(region_claim_at(rest, rest.region->chunks - rest.first));
	return rest;
}

/* What lies behind the old place and the new one, and is another's, stays as it is. */
TEST(alone_short_moves_its_own_bytes_alone, 20)
{
	static const struct {
		size_t from, to, alignment;
	} moves[] = {
		{ODD(4), ODD(9), 1},
		{ODD(4), 6 * MIB, 1},
		{6 * MIB, ODD(9), 1},
		{ODD(9), ODD(4), 32 * MIB},
		{6 * MIB, ODD(4), 32 * MIB},
		{ODD(1), ODD(9), 1},
	};

	addresses_are_short();
	for (size_t i = 0; i < sizeof moves / sizeof *moves; i++) {
		size_t from = moves[i].from, to = moves[i].to, both = from < to ? from : to;
		char *at = area + 16 * MIB * (128 * i + 1), *target = at + 1024 * MIB - 16 * MIB, *p, *behind[2] = {NULL, NULL};
		struct run rest = {NULL, 0};

		p = span_at(at, from);
		if (from % (2 * MIB) != 0)
			behind[0] = theirs_at(p + from);
		else
			rest = hem(p);
		if (to % (2 * MIB) != 0)
			behind[1] = theirs_at(target + to);
		faults.place = target;
		p = ash_aligned_resize(p, moves[i].alignment, to);
		CHECK(p == target && faults.place == NULL);
		CHECK_EQ(region_alone(map_around(p)->region), to % (2 * MIB) != 0 ? to : 0);
		CHECK_EQ(ash_usable_size(p), to);
		holds(p, both, 1);
		fill(p, to, 2);
		for (unsigned k = 0; k < 2; k++)
			if (behind[k] != NULL)
				theirs_stays(behind[k]);
		holds(p, to, 2);
		CHECK_EQ(ash_check(), 0);
		ash_release(p);
		if (rest.region != NULL)
			region_give(rest, rest.region->chunks - rest.first, LEFT_CLEAN);
		CHECK_EQ(d->reserved, 0);
	}
}

static void need_moves(void)
{
	if (rt_under_qemu())
		rt_skip("the emulator moves no pages");
	addresses_are_short();
}

/*
 * The kernel unmaps the target of a move and refuses then.  These addresses are left alone, whatever the
 * region was to be; once they are a span's again, the check knows whose they are.
 */
static void is_lost(char *p, size_t bytes, const struct region *r, size_t next)
{
	char *lost = area + 1024 * MIB, *theirs = theirs_at(p + ODD(4)), *again;

	faults.mremap_error = -FAULT_ENOMEM;
	faults.mremap_unmaps = true;
	faults.place = r == NULL ? lost : NULL;
	p = ash_resize(p, bytes);
	CHECK(p != NULL && p != lost && faults.place == NULL);
	holds(p, ODD(4), 1);
	if (region_alone(map_around(p)->region) == 0)
		(void)hem(p);
	r = region_of(d, lost);
	CHECK(r->base == lost && region_is_lost(r));
	for (size_t i = r->chunks; i < 32; i++) /* a region has as many as chunks */
		CHECK_EQ(r->advice[i], 0);
	CHECK(rt_under_qemu() || !pages_mapped(lost));
	theirs_stays(theirs);
	faults.again = 16; /* larger regions do not fit there */
	faults.place = lost;
	again = ash_alloc(next);
	faults.place = NULL;
	CHECK(again == lost);
	fill(again, next, 2);
	CHECK_EQ(ash_check(), 0);
	ash_release(p);
	holds(again, next, 2);
	ash_release(again);
	CHECK_EQ(ash_check(), 0);
}

TEST(alone_short_target_is_lost, 10)
{
	need_moves();
	is_lost(span_at(area, ODD(4)), ODD(9), NULL, ODD(2));
}

/* Chunks that the check has known. */
TEST(alone_short_target_is_lost_in_a_usual_region, 10)
{
	char *p[5], *from;

	need_moves();
	from = span_at(area, ODD(4));
	p[0] = span_at(area + 1024 * MIB, 2 * MIB);
	for (unsigned i = 1; i < 5; i++) {
		p[i] = ash_alloc(2 * MIB);
		CHECK(p[i] == p[0] + 2 * MIB * i);
	}
	(void)hem(p[4]);
	for (unsigned i = 0; i < 4; i++)
		ash_release(p[i]);
	is_lost(from, 8 * MIB, region_of(d, p[4]), 4 * MIB);
}
