/* SPDX-License-Identifier: MIT */
#include "backend/region.h"

#include "pages.h"

#define HUGE_FROM   ((size_t)32 << 20) /* a huge page is a sixteenth of a span of this size */
#define PLAIN_FROM  ((size_t)4 << 20)
#define HUGE_CHUNKS 24 /* chunks of slabs: a huge page adds a 24th at most */

enum advice huge_policy(const struct heap *h, enum huge_use use, size_t bytes)
{
	enum ash_huge option = h->options->huge;

	if (option != ASH_HUGE_DEFAULT)
		return option == ASH_HUGE_NEVER ? ADVICE_PLAIN : ADVICE_HUGE;
	/* With larger pages a huge page has 32 MiB or more: leave it to the kernel. */
	if (PAGE_SIZE > PAGE_LEAST)
		return ADVICE_NONE;
	if (use == HUGE_SLABS && load_relaxed(&h->slab_chunks) >= HUGE_CHUNKS)
		return ADVICE_HUGE;
	if (use == HUGE_FILLED && bytes >= HUGE_FROM)
		return ADVICE_HUGE;
	if (use == HUGE_ZEROED && bytes >= PLAIN_FROM) /* also if the kernel would give no huge pages unasked */
		return ADVICE_PLAIN;
	return ADVICE_NONE;
}

static enum advice advice_at(const struct region *r, size_t i)
{
	return load_relaxed(&r->advice[i]) & ~ADVICE_FLAGS;
}

/* Returns the number of chunks from `first` to `last` whose advice differs from that of the chunk before. */
static size_t borders(const struct region *r, size_t first, size_t last)
{
	size_t i, n = 0;

	for (i = first > 0 ? first : 1; i <= last && i < load_relaxed(&r->chunks); i++)
		n += advice_at(r, i) != advice_at(r, i - 1);
	return n;
}

/* Keeps the flags that are in `flags`. */
static void advice_set(struct run run, size_t n, enum advice advice, unsigned flags)
{
	size_t i, before = borders(run.region, run.first, run.first + n);
	uint8_t *at = &run.region->advice[run.first];

	for (i = 0; i < n; i++)
		store_relaxed(&at[i], (uint8_t)(advice | (load_relaxed(&at[i]) & flags)));
	fetch_add_relaxed(&run.region->heap->borders,
			  borders(run.region, run.first, run.first + n) - before);
}

void region_advised(struct run run, size_t n, enum advice advice)
{
	advice_set(run, n, advice, 0);
}

void region_unadvised(struct run run, size_t n)
{
	region_advised(run, n, ADVICE_NONE);
	/* The border to the chunk before goes, too. */
	if (run.first > 0 && advice_at(run.region, run.first - 1) != ADVICE_NONE)
		fetch_add_relaxed(&run.region->heap->borders, ~(uint64_t)0);
}

void region_advise(struct run run, size_t n, enum advice advice)
{
	struct region *r = run.region;
	uint64_t *all = &r->heap->borders;
	size_t i = 0, before, end = run.first + n;
	/* ADVICE_NONE accepts ADVICE_PLAIN, but must drop an earlier ADVICE_HUGE: madvise cannot restore it. */
	enum advice given = advice == ADVICE_NONE ? ADVICE_PLAIN : advice, has;

	if (region_alone(r) != 0)
		n = end = 1;
	while (has = advice_at(r, run.first + i), has == advice || has == given)
		if (++i >= n)
			return;
	before = borders(r, run.first, end);
	i = run.first > 0 && advice_at(r, run.first - 1) != given;
	i += end < load_relaxed(&r->chunks) && advice_at(r, end) != given;
	if ((i > before && (int64_t)(load_relaxed(all) + i - before) > HUGE_BORDERS) ||
	    /*
	     * A kernel without huge pages refuses both kinds of advice.  Record ADVICE_PLAIN then, too, so
	     * that the next call does not ask again.
	     */
	    (!pages_huge(run_base(run), run_bytes(run, n), given == ADVICE_HUGE) && given == ADVICE_HUGE))
		return;
	advice_set(run, n, given, ADVICE_FLAGS);
}

void region_moved(struct run from, struct run to, size_t n)
{
	for (; n-- > 0; from.first += region_alone(from.region) == 0) {
		if (advice_at(from.region, from.first) != advice_at(to.region, to.first))
			region_advised(to, 1, ADVICE_UNKNOWN);
		to.first += region_alone(to.region) == 0;
	}
}

void region_tells(struct run run, size_t n, bool tells)
{
	uint8_t *advice = &run.region->advice[run.first], now;

	for (n = region_alone(run.region) != 0 ? 1 : n; n-- > 0; advice++) {
		now = load_relaxed(advice);
		if (((now & ADVICE_TELLS) != 0) != tells)
			store_relaxed(advice, (uint8_t)(now ^ ADVICE_TELLS));
	}
}

bool region_is_lost(const struct region *r)
{
	size_t i = 0, n = load_relaxed(&r->chunks);

	while (i < n && advice_at(r, i) != ADVICE_LOST)
		i++;
	return i < n;
}
