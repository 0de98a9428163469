/* SPDX-License-Identifier: MIT */
/* Heaps inside the caller's memory: looked at. */
#include "arena/arena.h"

int arena_walk(struct arena *f, int (*see)(void *, void *, size_t, const struct ash_heap_owner *),
	       void *context)
{
	/* Who allocated it is not written down: asking for one's number is a system call. */
	static const struct ash_heap_owner taken = {1, 0, true}, in_flight = {0, 0, false};
	size_t w;
	int answer = 0;

	for (w = 0; w < f->word_count; w++) {
		unsigned at = 0;

		/* Read anew for each: the visitor may release blocks. */
		while (at < ARENA_WORD && answer == 0) {
			uint64_t word = load_acquire(&f->words[w]); /* pairs with take */
			uint64_t begin = (word >> ARENA_WORD) >> at << at;
			size_t first = w * ARENA_WORD;

			if (begin == 0)
				break;
			at = bits_lowest(begin);
			first += at;
			if (first >= f->granules)
				break;
			answer = see(context, f->base + first * GRANULE,
				     arena_length(f, first) * GRANULE,
				     (arena_first(word) >> at) & 1 ? &taken : &in_flight);
			at++;
		}
		if (answer != 0)
			break;
	}
	return answer;
}

static int count_block(void *out, void *block, size_t size, const struct ash_heap_owner *owner)
{
	struct ash_stats *st = out;

	(void)block;
	st->blocks += owner->id != 0;
	st->block_bytes += owner->id != 0 ? size : 0;
	return 0;
}

void arena_stats(struct arena *f, struct ash_stats *out)
{
	size_t w, free = 0;

	*out = (struct ash_stats){.reserved = f->granules * GRANULE};
	for (w = 0; w < f->word_count; w++)
		free += bits_count(arena_free(load_relaxed(&f->words[w])));
	out->dirty = free * GRANULE;
	(void)arena_walk(f, count_block, out);
}

/* I11: what is FURTHER in word w follows what is not free. */
static bool follows(const struct arena *f, size_t w)
{
	unsigned i;

	/*
	 * A run that comes or goes between two looks seems to break the rule, but
	 * not time after time.
	 */
	for (i = 0; i < 64; i++) {
		/* In this order: taking goes upwards.  Pairs with turn. */
		uint64_t word = load_acquire(&f->words[w]);
		uint64_t below = w == 0 ? 0 : load_acquire(&f->words[w - 1]);
		uint64_t before = arena_free(word) << 1 | (arena_free(below) >> (ARENA_WORD - 1));

		if (w == 0)
			before |= 1; /* nothing is below granule 0 */
		if ((arena_further(word) & before) == 0)
			return true;
	}
	return false;
}

int arena_check(const struct arena *f)
{
	size_t w, beyond = f->word_count * ARENA_WORD - f->granules, in_last = beyond % ARENA_WORD;

	for (w = 0; w < f->word_count; w++)
		if (!follows(f, w))
			return 11;
	if (in_last > 0) {
		uint64_t tail = bits_run((unsigned)(ARENA_WORD - in_last), (unsigned)in_last);

		if ((arena_held(load_relaxed(&f->words[w - 1])) & tail) != tail)
			return 12;
	}
	return 0;
}

size_t arena_begin(const struct arena *f, size_t at)
{
	while (at > 0 &&
	       ((arena_further(load_acquire(&f->words[at / ARENA_WORD])) >> (at % ARENA_WORD)) & 1))
		at--;
	return at;
}

_Noreturn void arena_misuse(const struct arena *f, enum call call, const void *p)
{
	const char *fault = call <= CALL_RELEASE_SIZED ? "double free" : "block already released";
	size_t at = arena_index(f, p), first, bytes;

	if (!arena_has(f, p))
		misuse_report(call, p, "pointer to the allocator's own records", 0);
	first = arena_begin(f, at);
	bytes = arena_bytes(f, f->base + first * GRANULE);
	if ((uintptr_t)p % GRANULE != 0)
		fault = "misaligned pointer";
	else if (first != at)
		fault = "interior pointer";
	else if (bytes != 0)
		misuse_heap(call, p); /* a block, but not for the heap that was named */
	misuse_report(call, p, fault, bytes);
}
