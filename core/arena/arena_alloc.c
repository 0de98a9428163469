/* SPDX-License-Identifier: MIT */
/*
 * Taking and releasing blocks of an arena.
 *
 * A run is a sequence of granules; a part of a run lies in one word, so one compare-and-swap changes it.
 */
#include "arena/arena.h"

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

/* Sets the bits `as` if all granules of the part are free; otherwise returns false. */
static bool run_part_take(struct run_part part, uintptr_t as)
{
	uintptr_t word = load_relaxed(part.word);

	/*
	 * Acquire pairs with run_give and arena_release: the thread that released the memory no longer uses
	 * it.  Release: a thread that sees this word also sees the granules below it as taken.
	 */
	do {
		if ((arena_free(word) & part.run) != part.run)
			return false;
	} while (!cas_seq_cst(part.word, &word, word | as));
	return true;
}

void run_give(struct arena *a, size_t first, size_t n)
{
	const size_t end = first + n;

	summary_enter(a);
	while (n > 0) {
		size_t last = first + n - 1, from = last - last % ARENA_WORD;
		uintptr_t run;

		if (from < first)
			from = first;
		run = arena_run((unsigned)(from % ARENA_WORD), (unsigned)(last - from + 1));
		/* Pairs with run_part_take. */
		(void)fetch_and_seq_cst(&a->words[from / ARENA_WORD], ~(run | run << ARENA_WORD));
		n = from - first;
	}
	summary_released(a, first, end);
	summary_leave(a);
}

bool run_extend(struct arena *a, size_t first, size_t n)
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
 * Returns the lowest run of free granules that satisfies the request and begins (before alignment) in the
 * words [*from, to), or behind them in the last word that was read.  Returns BITS_NONE if there is no such
 * run; *from is then where the next search begins.
 */
static size_t granules_find(const struct arena *a, const struct request *request, size_t *from,
			    size_t to)
{
	size_t w, start = *from * ARENA_WORD; /* of the current free run */

	for (w = *from; w < a->word_count && start < to * ARENA_WORD; w++) {
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
	*from = w < a->word_count ? start / ARENA_WORD : w;
	return BITS_NONE;
}

/* If the process dies in here, a part of the run stays free without a promise in the summary. */
bool arena_take(struct arena *a, size_t first, size_t n)
{
	bool taken;

	summary_enter(a);
	summary_taking(a, first + n);
	taken = run_take(a, first, n);
	summary_leave(a);
	if (taken)
		summary_lower(a, first / ARENA_WORD);
	return taken;
}

/* Runs within a word have steps of their own, unless a word has only 16 granules. */
#define SHORT_RUNS (ARENA_WORD > 16)

/*
 * Takes n granules of word w, fewer than a word has, as one step.  Returns BITS_NONE if they are not free, or
 * only at the word's end, which is left to summary_run.  Does not lower the promise.
 */
static ALWAYS_INLINE size_t run_take_short(struct arena *a, size_t w, size_t n)
{
	uintptr_t word = load_relaxed(&a->words[w]), starts = arena_free(word) & ARENA_BODY >> 1, start;
	size_t k;

	for (k = n; k > 1; k -= k / 2)
		starts &= starts >> k / 2;
	start = starts & -starts;
	if (starts == 0 ||
	    !cas_seq_cst(&a->words[w], &word, word | ((start << n) - start) | start << ARENA_WORD))
		return BITS_NONE;
	return w * ARENA_WORD + bits_lowest(start);
}

size_t arena_take_near(struct arena *a, size_t w, size_t n)
{
	return SHORT_RUNS && n < ARENA_WORD ? run_take_short(a, w, n) : BITS_NONE;
}

/* Takes a run that is aligned, longer than leaves can promise, or hidden by the summary. */
static SLOW size_t run_take_any(struct arena *a, size_t n, size_t alignment)
{
	const struct request request = {n, alignment <= GRANULE ? 1 : alignment / GRANULE,
					0 - (uintptr_t)a->base / GRANULE};
	size_t i = 0, w, first;

	while ((w = summary_find(a, i, n < SUMMARY_MOST ? n : SUMMARY_MOST)) != BITS_NONE) {
		first = granules_find(a, &request, &w, w + 1);
		if (first != BITS_NONE && arena_take(a, first, n))
			return first;
		if (w >= a->word_count)
			break;
		i = a->leaves + w;
	}
	/* The summary may miss memory that an interrupted or killed call released. */
	if (load_acquire(&a->changing) == 0) /* pairs with summary_leave */
		return BITS_NONE;
	for (w = 0; (first = granules_find(a, &request, &w, a->word_count)) != BITS_NONE; w = first / ARENA_WORD)
		if (arena_take(a, first, n))
			break;
	return first;
}

void *arena_alloc(struct arena *a, size_t size, size_t alignment)
{
	size_t n = granules_for(size), i = 0, w, first;

	if (size > a->granules * GRANULE)
		return NULL;
	while (alignment <= GRANULE && n <= SUMMARY_MOST) {
		w = summary_find(a, i, n);
		if (w == BITS_NONE)
			break;
		first = SHORT_RUNS && n < ARENA_WORD ? run_take_short(a, w, n) : BITS_NONE;
		if (first != BITS_NONE) {
			summary_lower(a, w);
			return a->base + first * GRANULE;
		}
		first = summary_run(a, w, n);
		if (first == BITS_NONE)
			summary_lower(a, w);
		else if (arena_take(a, first, n))
			return a->base + first * GRANULE;
		/* The run was shorter than promised, or another thread took it (and made progress). */
		i = a->leaves + w;
	}
	first = run_take_any(a, n, alignment);
	return first == BITS_NONE ? NULL : a->base + first * GRANULE;
}

/* Completes a release after the block's first word became `word`: of a long block the rest is still taken. */
static ALWAYS_INLINE void block_released(struct arena *a, size_t first, size_t n, uintptr_t word, bool is_long)
{
	unsigned low = first % ARENA_WORD, begin, end;
	uintptr_t taken = ~arena_free(word), below = taken & (((uintptr_t)1 << low) - 1);

	if (is_long) {
		run_give(a, first, n);
		return;
	}
	end = low + (unsigned)n;
	end += bits_lowest(taken >> end);
	if (SHORT_RUNS && below != 0 && end < ARENA_WORD) {
		begin = bits_highest(below) + 1;
		summary_raise(a, first / ARENA_WORD, end - begin);
	} else {
		summary_released(a, first, first + n);
	}
}

size_t arena_release(struct arena *a, void *p)
{
	size_t first = arena_index(a, p), n;
	uintptr_t *at = &a->words[first / ARENA_WORD], word = load_acquire(at), run;
	const uintptr_t start = (uintptr_t)1 << first % ARENA_WORD;

	if ((uintptr_t)p % GRANULE != 0)
		return 0;
	summary_enter(a);
	/*
	 * One thread wins the compare-and-swap.  If the block lies in one word, that frees the whole block;
	 * otherwise it frees the first granule, which is the right to free the rest.
	 */
	do {
		run = start;
		if ((arena_first(word) & start) == 0) {
			summary_leave(a);
			return 0;
		}
		n = arena_length(a, first);
		/* First, because other threads may take the memory afterwards. */
		if (unlikely(n >= ARENA_MIN / GRANULE))
			arenas_gone(p, n * GRANULE);
		if (first % ARENA_WORD + n <= ARENA_WORD) {
			run = (start << n) - start;
			run |= run << ARENA_WORD;
		}
	} while (!cas_seq_cst(at, &word, word & ~run)); /* pairs with run_part_take */
	block_released(a, first, n, word & ~run, run == start);
	summary_leave(a);
	return n;
}
