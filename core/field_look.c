/* SPDX-License-Identifier: MIT */
/* Heaps inside the caller's memory: looked at. */
#include "field.h"

int field_walk(struct field *f, int (*see)(void *, void *, size_t, const struct ash_heap_owner *),
	       void *context)
{
	/* Who allocated it is not written down: asking for one's number is a system call. */
	static const struct ash_heap_owner taken = {1, 0, true}, in_flight = {0, 0, false};
	size_t w;
	int answer = 0;

	for (w = 0; w < f->word_count; w++) {
		unsigned at = 0;

		/* Read anew for each: the visitor may release blocks. */
		while (at < FIELD_WORD && answer == 0) {
			uint64_t word = load_acquire(&f->words[w]); /* pairs with take */
			uint64_t begin = (word >> FIELD_WORD) >> at << at;
			size_t first = w * FIELD_WORD;

			if (begin == 0)
				break;
			at = bits_lowest(begin);
			first += at;
			if (first >= f->granules)
				break;
			answer = see(context, f->base + first * GRANULE,
				     field_length(f, first) * GRANULE,
				     (field_first(word) >> at) & 1 ? &taken : &in_flight);
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

void field_stats(struct field *f, struct ash_stats *out)
{
	size_t w, free = 0;

	*out = (struct ash_stats){.reserved = f->granules * GRANULE};
	for (w = 0; w < f->word_count; w++)
		free += bits_count(field_free(load_relaxed(&f->words[w])));
	out->dirty = free * GRANULE;
	(void)field_walk(f, count_block, out);
}

/* I11: what is FURTHER in word w follows what is not free. */
static bool follows(const struct field *f, size_t w)
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
		uint64_t before = field_free(word) << 1 | (field_free(below) >> (FIELD_WORD - 1));

		if (w == 0)
			before |= 1; /* nothing is below granule 0 */
		if ((field_further(word) & before) == 0)
			return true;
	}
	return false;
}

int field_check(const struct field *f)
{
	size_t w, beyond = f->word_count * FIELD_WORD - f->granules, in_last = beyond % FIELD_WORD;

	for (w = 0; w < f->word_count; w++)
		if (!follows(f, w))
			return 11;
	if (in_last > 0) {
		uint64_t tail = bits_run((unsigned)(FIELD_WORD - in_last), (unsigned)in_last);

		if ((field_held(load_relaxed(&f->words[w - 1])) & tail) != tail)
			return 12;
	}
	return 0;
}

size_t field_begin(const struct field *f, size_t at)
{
	while (at > 0 &&
	       ((field_further(load_acquire(&f->words[at / FIELD_WORD])) >> (at % FIELD_WORD)) & 1))
		at--;
	return at;
}

_Noreturn void field_misuse(const struct field *f, enum call call, const void *p)
{
	const char *fault = call <= CALL_RELEASE_SIZED ? "double free" : "block already released";
	size_t at = field_index(f, p), first, bytes;

	if (!field_has(f, p))
		misuse_report(call, p, "pointer to the allocator's own records", 0);
	first = field_begin(f, at);
	bytes = field_bytes(f, f->base + first * GRANULE);
	if ((uintptr_t)p % GRANULE != 0)
		fault = "misaligned pointer";
	else if (first != at)
		fault = "interior pointer";
	else if (bytes != 0)
		misuse_heap(call, p); /* a block, but not for the heap that was named */
	misuse_report(call, p, fault, bytes);
}
