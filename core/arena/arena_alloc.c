/* SPDX-License-Identifier: MIT */
/*
 * Taking and releasing blocks of an arena.
 *
 * A run is a sequence of granules; its part is what lies in one word and so is
 * changed by one compare-and-swap.
 */
#include "arena/arena_alloc.h"

#include "arena/arenas.h"
#include "memory.h"

/* The part of the granules [first, first + n) that lies in their first word. */
struct run_part {
	uintptr_t *word;
	uintptr_t run; /* its granules, as body bits */
	size_t granules;
};

static struct run_part run_part_of(struct arena *a, size_t first, size_t n)
{
	unsigned low = (unsigned)(first % ARENA_WORD);
	size_t granules = ARENA_WORD - low < n ? ARENA_WORD - low : n;

	return (struct run_part){&a->words[first / ARENA_WORD], arena_run(low, (unsigned)granules),
			     granules};
}

/* Sets the bits `as` if all granules of the part are free; false: some are not. */
static bool run_part_take(struct run_part part, uintptr_t as)
{
	uintptr_t word = load_relaxed(part.word);

	/*
	 * Acquire pairs with run_give and arena_release: the thread that released the
	 * memory no longer uses it.  Release: a thread that sees this word also sees
	 * the granules below it as taken.
	 */
	do {
		if ((arena_free(word) & part.run) != part.run)
			return false;
	} while (!cas_acq_rel(part.word, &word, word | as));
	return true;
}

/*
 * Frees a run that the caller holds, from its upper end downwards, so that a FURTHER
 * granule never follows a free one.
 */
static void run_give(struct arena *a, size_t first, size_t n)
{
	while (n > 0) {
		size_t last = first + n - 1, from = last - last % ARENA_WORD;
		uintptr_t run;

		if (from < first)
			from = first;
		run = arena_run((unsigned)(from % ARENA_WORD), (unsigned)(last - from + 1));
		/* Pairs with run_part_take. */
		(void)fetch_and_acq_rel(&a->words[from / ARENA_WORD], ~(run | run << ARENA_WORD));
		n = from - first;
	}
}

/* Takes n granules as FURTHERs of the block that ends before them; all or nothing. */
static bool run_extend(struct arena *a, size_t first, size_t n)
{
	size_t done = 0;

	if (n > a->granules - first)
		return false;
	while (done < n) {
		struct run_part part = run_part_of(a, first + done, n - done);

		if (!run_part_take(part, part.run)) {
			run_give(a, first, done);
			return false;
		}
		done += part.granules;
	}
	return true;
}

/* Takes n granules as one block; all or nothing. */
static bool run_take(struct arena *a, size_t first, size_t n)
{
	struct run_part part = run_part_of(a, first, n);
	uintptr_t start = part.run & -part.run;

	if (part.granules == n)
		return run_part_take(part, part.run | start << ARENA_WORD);
	if (!run_part_take(part, (part.run ^ start) | start << ARENA_WORD))
		return false;
	if (!run_extend(a, first + part.granules, n - part.granules)) {
		run_give(a, first, part.granules);
		return false;
	}
	/* HELD becomes FIRST.  Pairs with arena_length: all FURTHERs are set. */
	(void)fetch_or_acq_rel(part.word, start);
	return true;
}

/* The run that an allocation needs. */
struct request {
	size_t n;
	size_t alignment, offset; /* in granules: starts are `offset` modulo `alignment` */
};

/*
 * The lowest run of free granules that satisfies the request and begins (before
 * alignment) in the words [from, to); BITS_NONE: there is none.
 */
static size_t granules_find(const struct arena *a, const struct request *request, size_t from,
			    size_t to)
{
	size_t w, start = from * ARENA_WORD; /* of the current free run */

	for (w = from; w < a->word_count && start < to * ARENA_WORD; w++) {
		uintptr_t rest = arena_free(load_relaxed(&a->words[w]));
		unsigned at = 0;

		if (rest == 0) {
			start = (w + 1) * ARENA_WORD;
			continue;
		}
		while (at < ARENA_WORD) {
			size_t skip = (request->offset - start) & (request->alignment - 1);
			size_t first = start + skip;

			/* The upper half of `rest` is 0, so every run ends within the word. */
			at += bits_lowest(~(rest >> at));
			if (first + request->n <= w * ARENA_WORD + at)
				return first;
			if (at >= ARENA_WORD)
				break;
			at = rest >> at == 0 ? ARENA_WORD : at + bits_lowest(rest >> at);
			start = w * ARENA_WORD + at;
		}
	}
	return BITS_NONE;
}

static struct arena_hint *hint_of(struct arena *a, size_t n)
{
	unsigned kind = bits_highest(n);

	return &a->hints[kind < ARENA_KINDS ? kind : ARENA_KINDS - 1];
}

/*
 * The word where the search begins.  A search from 0 keeps the arena dense; one from
 * where the last search ended is fast.  Each release pays for searching eight words, so
 * the search restarts from 0 once enough blocks were released.
 */
static size_t search_from(struct arena *a, struct arena_hint *hint)
{
	uintptr_t next = load_relaxed(&hint->next), released = load_relaxed(&a->released);

	if ((released - load_relaxed(&hint->since)) * 8 < next && next < a->word_count)
		return next;
	store_relaxed(&hint->since, released);
	return 0;
}

/* Takes the first run in the words [from, to) that satisfies the request; BITS_NONE: none. */
static size_t run_take_between(struct arena *a, const struct request *request, size_t from,
			       size_t to)
{
	for (;;) {
		size_t first = granules_find(a, request, from, to);

		if (first == BITS_NONE || run_take(a, first, request->n))
			return first;
		/*
		 * Another thread took it (and made progress); nothing below satisfies the
		 * request.
		 */
		if (from < first / ARENA_WORD)
			from = first / ARENA_WORD;
	}
}

static size_t granules_for(size_t size)
{
	return size <= GRANULE ? 1 : (size + GRANULE - 1) / GRANULE;
}

void *arena_alloc(struct arena *a, size_t size, size_t alignment)
{
	size_t from, first = BITS_NONE;
	struct arena_hint *hint;
	struct request request;
	uintptr_t recent;

	if (size > a->granules * GRANULE)
		return NULL;
	request.n = granules_for(size);
	request.alignment = alignment <= GRANULE ? 1 : alignment / GRANULE;
	request.offset = 0 - (uintptr_t)a->base / GRANULE;
	hint = hint_of(a, request.n);
	recent = load_relaxed(&hint->recent);
	if (recent != 0) {
		first = run_take_between(a, &request, recent - 1, recent);
		if (first == BITS_NONE)
			store_relaxed(&hint->recent, 0);
	}
	if (first == BITS_NONE) {
		from = search_from(a, hint);
		first = run_take_between(a, &request, from, a->word_count);
		/* A run that begins below `from` may extend beyond it: search all starts below. */
		if (first == BITS_NONE && from > 0)
			first = run_take_between(a, &request, 0, from);
		if (first == BITS_NONE)
			return NULL;
		store_relaxed(&hint->next, first / ARENA_WORD);
	}
	return a->base + first * GRANULE;
}

/* Hints for the next search. */
static void hints_update(struct arena *a, size_t first, size_t n)
{
	store_relaxed(&hint_of(a, n)->recent, first / ARENA_WORD + 1);
	/* Inexact under a race, which is harmless: it only paces the search. */
	store_relaxed(&a->released, load_relaxed(&a->released) + 1);
}

bool arena_release(struct arena *a, void *p)
{
	size_t first = arena_index(a, p), n;
	struct run_part part = run_part_of(a, first, 1);
	uintptr_t word = load_acquire(part.word), start = part.run, left;

	if ((uintptr_t)p % GRANULE != 0)
		return false;
	/*
	 * One thread wins the compare-and-swap: it frees the whole block, if that lies in one
	 * word, and otherwise the first granule, which is the right to free the rest.
	 */
	do {
		if ((arena_first(word) & start) == 0)
			return false;
		n = arena_length(a, first);
		part = run_part_of(a, first, n);
		/* First, as other threads may take the memory afterwards. */
		if (ARENA_LISTED && unlikely(n >= ARENA_MIN / GRANULE))
			arenas_gone(p, n * GRANULE);
		left = word & ~(part.granules == n ? part.run | part.run << ARENA_WORD : start);
	} while (!cas_acq_rel(part.word, &word, left)); /* pairs with run_part_take */
	if (part.granules < n)
		run_give(a, first, n);
	hints_update(a, first, n);
	return true;
}

/* The block at granule `first`, of `have` granules, gets n.  False: the next ones are not free. */
static bool block_fit(struct arena *a, size_t first, size_t have, size_t n)
{
	if (n < have) {
		/* First, as other threads may take the memory afterwards. */
		if (ARENA_LISTED && have >= ARENA_MIN / GRANULE)
			arenas_gone(a->base + first * GRANULE, have * GRANULE);
		run_give(a, first + n, have - n);
		hints_update(a, first + n, have - n);
	}
	return n <= have || run_extend(a, first + have, n - have);
}

bool arena_fit(struct arena *a, void *p, size_t size)
{
	size_t first = arena_index(a, p);

	return block_fit(a, first, arena_length(a, first), granules_for(size));
}

void *arena_resize(struct arena *a, void *p, size_t size, size_t alignment)
{
	size_t first = arena_index(a, p), have = arena_length(a, first), n = granules_for(size);
	bool stays = ((uintptr_t)p & (alignment - 1)) == 0;
	void *moved;

	if (ARENA_LISTED && have >= ARENA_MIN / GRANULE && (n > have || !stays))
		arenas_gone(p, have * GRANULE);
	if (stays && block_fit(a, first, have, n))
		return p;
	moved = arena_alloc(a, size, alignment);
	if (moved == NULL)
		return NULL;
	memcpy(moved, p, (have < n ? have : n) * GRANULE);
	(void)arena_release(a, p);
	return moved;
}
