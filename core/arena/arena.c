/* SPDX-License-Identifier: MIT */
/* Heaps inside the caller's memory: taking and giving back. */
#include "arena/arena.h"

#include "memory.h"

/* The part of the run [first, first + n) that lies in its first word. */
struct part {
	uint64_t *word;
	uint64_t run; /* its granules, as body bits */
	size_t granules;
};

static struct part part_of(struct arena *f, size_t first, size_t n)
{
	unsigned low = (unsigned)(first % ARENA_WORD);
	size_t granules = ARENA_WORD - low < n ? ARENA_WORD - low : n;

	return (struct part){&f->words[first / ARENA_WORD], bits_run(low, (unsigned)granules),
			     granules};
}

/* The granules, which must all be free, become `as`. */
static bool turn(struct part part, uint64_t as)
{
	uint64_t word = load_relaxed(part.word);

	/*
	 * Acquire pairs with give and arena_release: who released is done with the
	 * memory.  Release: who sees this word sees what we took below.
	 */
	do {
		if ((arena_free(word) & part.run) != part.run)
			return false;
	} while (!cas_acq_rel(part.word, &word, word | as));
	return true;
}

/* Frees a run of ours from its upper end, so that nothing FURTHER ever follows a free one. */
static void give(struct arena *f, size_t first, size_t n)
{
	while (n > 0) {
		size_t last = first + n - 1, from = last - last % ARENA_WORD;
		uint64_t run;

		if (from < first)
			from = first;
		run = bits_run((unsigned)(from % ARENA_WORD), (unsigned)(last - from + 1));
		/* Pairs with turn. */
		(void)fetch_and_acq_rel(&f->words[from / ARENA_WORD], ~(run | run << ARENA_WORD));
		n = from - first;
	}
}

/* Takes n granules as FURTHERs of what ends before them; all or nothing. */
static bool extend(struct arena *f, size_t first, size_t n)
{
	size_t done = 0;

	if (n > f->granules - first)
		return false;
	while (done < n) {
		struct part part = part_of(f, first + done, n - done);

		if (!turn(part, part.run)) {
			give(f, first, done);
			return false;
		}
		done += part.granules;
	}
	return true;
}

static bool arena_take(struct arena *f, size_t first, size_t n)
{
	struct part part = part_of(f, first, n);
	uint64_t start = part.run & -part.run;

	if (part.granules == n)
		return turn(part, part.run | start << ARENA_WORD);
	if (!turn(part, (part.run ^ start) | start << ARENA_WORD))
		return false;
	if (!extend(f, first + part.granules, n - part.granules)) {
		give(f, first, part.granules);
		return false;
	}
	/* HELD becomes FIRST.  Pairs with arena_length: all of it is there. */
	(void)fetch_or_acq_rel(part.word, start);
	return true;
}

/* What to look for. */
struct wish {
	size_t n;
	size_t alignment, offset; /* in granules: starts are `offset` modulo `alignment` */
};

/*
 * The lowest run of free granules that serves the wish and begins (before
 * alignment) in the words [from, to).
 */
static size_t arena_look(const struct arena *f, const struct wish *wish, size_t from, size_t to)
{
	size_t w, start = from * ARENA_WORD; /* of the free run we are in */

	for (w = from; w < f->word_count && start < to * ARENA_WORD; w++) {
		uint64_t rest = arena_free(load_relaxed(&f->words[w]));
		unsigned at = 0;

		if (rest == 0) {
			start = (w + 1) * ARENA_WORD;
			continue;
		}
		while (at < ARENA_WORD) {
			size_t first = start + ((wish->offset - start) & (wish->alignment - 1));

			/* Above the word's granules `rest` has no bits: the runs end there. */
			at += bits_lowest(~(rest >> at));
			if (first + wish->n <= w * ARENA_WORD + at)
				return first;
			if (at >= ARENA_WORD)
				break;
			at = rest >> at == 0 ? ARENA_WORD : at + bits_lowest(rest >> at);
			start = w * ARENA_WORD + at;
		}
	}
	return BITS_NONE;
}

static struct arena_hint *hint_of(struct arena *f, size_t n)
{
	unsigned kind = bits_highest(n);

	return &f->hints[kind < ARENA_KINDS ? kind : ARENA_KINDS - 1];
}

/*
 * Where to look from.  To begin at 0 keeps the arena dense, to go on from the
 * last place is quick.  Each release pays for passing eight words: then it is
 * both.
 */
static size_t look_from(struct arena *f, struct arena_hint *hint)
{
	uint64_t next = load_relaxed(&hint->next), released = load_relaxed(&f->released);

	if ((released - load_relaxed(&hint->since)) * 8 < next && next < f->word_count)
		return next;
	store_relaxed(&hint->since, released);
	return 0;
}

/* The first run in the words [from, to) that serves; BITS_NONE: none.  It is taken. */
static size_t take_between(struct arena *f, const struct wish *wish, size_t from, size_t to)
{
	for (;;) {
		size_t first = arena_look(f, wish, from, to);

		if (first == BITS_NONE || arena_take(f, first, wish->n))
			return first;
		/* Lost to somebody who got on; what is below does not serve, either way. */
		if (from < first / ARENA_WORD)
			from = first / ARENA_WORD;
	}
}

static size_t granules_for(size_t size)
{
	return size <= GRANULE ? 1 : (size + GRANULE - 1) / GRANULE;
}

void *arena_alloc(struct arena *f, size_t size, size_t alignment)
{
	size_t from, first = BITS_NONE;
	struct arena_hint *hint;
	struct wish wish;
	uint64_t recent;

	if (size > f->granules * GRANULE)
		return NULL;
	wish.n = granules_for(size);
	wish.alignment = alignment <= GRANULE ? 1 : alignment / GRANULE;
	wish.offset = 0 - (uintptr_t)f->base / GRANULE;
	hint = hint_of(f, wish.n);
	recent = load_relaxed(&hint->recent);
	if (recent != 0) {
		first = take_between(f, &wish, recent - 1, recent);
		if (first == BITS_NONE)
			store_relaxed(&hint->recent, 0);
	}
	if (first == BITS_NONE) {
		from = look_from(f, hint);
		first = take_between(f, &wish, from, f->word_count);
		/* Runs that began before may reach beyond, so all starts below. */
		if (first == BITS_NONE && from > 0)
			first = take_between(f, &wish, 0, from);
		if (first == BITS_NONE)
			return NULL;
		store_relaxed(&hint->next, first / ARENA_WORD);
	}
	return f->base + first * GRANULE;
}

size_t arena_length(const struct arena *f, size_t first)
{
	size_t end = first + 1;

	while (end / ARENA_WORD < f->word_count) {
		unsigned low = (unsigned)(end % ARENA_WORD);
		uint64_t word = load_acquire(&f->words[end / ARENA_WORD]); /* pairs with turn */
		unsigned run = bits_lowest(~(arena_further(word) >> low));

		end += run;
		if (low + run < ARENA_WORD)
			break;
	}
	return end - first;
}

static void note_release(struct arena *f, size_t first, size_t n)
{
	store_relaxed(&hint_of(f, n)->recent, first / ARENA_WORD + 1);
	/* Not exact where threads race: it paces a search, no more. */
	store_relaxed(&f->released, load_relaxed(&f->released) + 1);
}

bool arena_release(struct arena *f, void *p)
{
	size_t first = arena_index(f, p), n;
	struct part part = part_of(f, first, 1);
	uint64_t word = load_acquire(part.word), start = part.run, left;

	if ((uintptr_t)p % GRANULE != 0)
		return false;
	/* The swap has one winner, be it of the whole block or of the right to give it. */
	do {
		if ((arena_first(word) & start) == 0)
			return false;
		n = arena_length(f, first);
		part = part_of(f, first, n);
		/* Before others can have the memory. */
		if (unlikely(n >= ARENA_MIN / GRANULE))
			arenas_gone(p, n * GRANULE);
		left = word & ~(part.granules == n ? part.run | part.run << ARENA_WORD : start);
	} while (!cas_acq_rel(part.word, &word, left)); /* pairs with turn */
	if (part.granules < n)
		give(f, first, n);
	note_release(f, first, n);
	return true;
}

size_t arena_bytes(const struct arena *f, const void *p)
{
	size_t first = arena_index(f, p);
	uint64_t word = load_acquire(&f->words[first / ARENA_WORD]); /* pairs with arena_take */

	if ((uintptr_t)p % GRANULE != 0 || ((arena_first(word) >> (first % ARENA_WORD)) & 1) == 0)
		return 0;
	return arena_length(f, first) * GRANULE;
}

void *arena_resize(struct arena *f, void *p, size_t size)
{
	size_t first = arena_index(f, p), have = arena_length(f, first), n = granules_for(size);
	void *moved;

	if (have >= ARENA_MIN / GRANULE && n != have)
		arenas_gone(p, have * GRANULE);
	if (n < have) {
		give(f, first + n, have - n);
		note_release(f, first + n, have - n);
	}
	if (n <= have || extend(f, first + have, n - have))
		return p;
	moved = arena_alloc(f, size, 1);
	if (moved == NULL)
		return NULL;
	memcpy(moved, p, have * GRANULE);
	(void)arena_release(f, p);
	return moved;
}
