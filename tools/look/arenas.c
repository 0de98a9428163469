/* SPDX-License-Identifier: MIT */
/*
 * Heaps in the caller's memory, by the list that the program has of them.  An entry may be stale:
 * its memory was given to something else; then the record there is not the entry's, and it is
 * left out.
 */
#include <ashlar.h>

#include "picture.h"

enum { ENTRIES_MAX = 4096, ENTRY_MAX = 64, WORD = 32 /* granules */, WORDS_MAX = 1 << 27, BATCH = 1 << 16 };

#define BODY(word) ((word) & UINT32_MAX)
#define EDGE(word) ((word) >> WORD)

static uint64_t of_record(const struct ash_arenas *d, const char *record, enum ash_arenas_field field)
{
	uint64_t value = 0;

	memcpy(&value, record + ASH_MEMBER_OFFSET(d->field[field]), ASH_MEMBER_BYTES(d->field[field]));
	return value;
}

static bool is_within(const struct ash_arenas *d, enum ash_arenas_field field, enum ash_arenas_field record)
{
	uint32_t bytes = ASH_MEMBER_BYTES(d->field[field]);

	return (bytes == 4 || bytes == 8) &&
	       ASH_MEMBER_OFFSET(d->field[field]) + bytes <= d->field[record];
}

static bool is_sane(const struct ash_arenas *d)
{
	const uint32_t *f = d->field;

	return memcmp(d->name, ASH_ARENAS_NAME, sizeof ASH_ARENAS_NAME) == 0 &&
	       d->version == ASH_DESCRIPTOR_VERSION && d->fields >= ASH_ARENAS_COUNT &&
	       f[ASH_arenas_max] <= ENTRIES_MAX && f[ASH_arena_entry_bytes] <= ENTRY_MAX &&
	       f[ASH_arena_bytes] <= RECORD_MAX && f[ASH_arenas_alignment] != 0 &&
	       f[ASH_arenas_alignment] <= 4096 &&
	       (f[ASH_arenas_alignment] & (f[ASH_arenas_alignment] - 1)) == 0 && f[ASH_arenas_granule] >= 8 &&
	       f[ASH_arenas_granule] <= 4096 && is_within(d, ASH_arena_entry_begin, ASH_arena_entry_bytes) &&
	       is_within(d, ASH_arena_entry_end, ASH_arena_entry_bytes) &&
	       is_within(d, ASH_arena_entry_base, ASH_arena_entry_bytes) &&
	       is_within(d, ASH_arena_base, ASH_arena_bytes) && is_within(d, ASH_arena_granules, ASH_arena_bytes) &&
	       is_within(d, ASH_arena_sharing, ASH_arena_bytes) && is_within(d, ASH_arena_memory, ASH_arena_bytes) &&
	       ASH_MEMBER_OFFSET(f[ASH_arena_words]) <= f[ASH_arena_bytes] &&
	       ASH_MEMBER_BYTES(f[ASH_arena_words]) == sizeof(uint64_t);
}

bool arena_next(const struct arena *a, uint64_t *granule, uint64_t *granules)
{
	uint64_t at = *granule, word, n;

	for (; at < a->granules; at++) {
		word = a->words[at / WORD];
		if ((BODY(word) & EDGE(word)) == 0 && at % WORD == 0)
			at += WORD - 1;
		else if ((BODY(word) & EDGE(word)) >> at % WORD & 1)
			break;
	}
	if (at >= a->granules)
		return false;
	*granule = at;
	for (n = 1; at + n < a->granules; n++) {
		word = a->words[(at + n) / WORD];
		if (((BODY(word) & ~EDGE(word)) >> (at + n) % WORD & 1) == 0)
			break;
	}
	*granules = n;
	return true;
}

static void arena_count(struct arena *a)
{
	uint64_t i, run = 0;

	for (i = 0; i < a->granules; i++) {
		uint64_t word = a->words[i / WORD], free = ~(BODY(word) | EDGE(word)) & UINT32_MAX;

		if (i % WORD == 0) {
			a->blocks += count_bits(BODY(word) & EDGE(word));
			a->taken += count_bits(BODY(word));
		}
		run = free >> i % WORD & 1 ? run + 1 : 0;
		a->longest = run > a->longest ? run : a->longest;
	}
}

static void arena_read(struct picture *p, const struct ash_arenas *d, const char *entry)
{
	uint64_t mask = d->field[ASH_arenas_alignment] - 1, at, count, i, n, failed = p->source->failed;
	char record[RECORD_MAX];
	struct arena a = {.at = of_record(d, entry, ASH_arena_entry_begin)};

	a.end = of_record(d, entry, ASH_arena_entry_end);
	a.base = of_record(d, entry, ASH_arena_entry_base);
	a.granule = d->field[ASH_arenas_granule];
	at = (a.at + mask) & ~mask;
	if (a.at <= 1 || a.base == 0 || !source_read(p->source, at, record, d->field[ASH_arena_bytes])) {
		p->source->failed = failed; /* its memory may be gone: not an error */
		return;
	}
	a.granules = of_record(d, record, ASH_arena_granules);
	if (of_record(d, record, ASH_arena_memory) != a.at || of_record(d, record, ASH_arena_base) != a.base ||
	    of_record(d, record, ASH_arena_sharing) != d->field[ASH_arenas_sharing])
		return;
	count = a.granules / WORD + (a.granules % WORD != 0);
	at += ASH_MEMBER_OFFSET(d->field[ASH_arena_words]);
	if (a.base >= a.end || a.granules != (a.end - a.base) / a.granule || count > WORDS_MAX ||
	    at < a.at || at + count * sizeof(uint64_t) > a.base) {
		picture_damaged(p, "a heap in the caller's memory", a.at);
		return;
	}
	a.words = ash_alloc(count * sizeof *a.words);
	if (a.words == NULL || !ROOM(p, arena, 1)) {
		p->no_memory = true;
		ash_release(a.words);
		return;
	}
	for (i = 0; i < count; i += n) {
		n = count - i < BATCH ? count - i : BATCH;
		if (!source_read(p->source, at + i * sizeof *a.words, a.words + i, n * sizeof *a.words)) {
			picture_damaged(p, "the words of a heap in the caller's memory", a.at);
			ash_release(a.words);
			return;
		}
		progress("reading", i, count);
	}
	arena_count(&a);
	p->arenas[p->arena_count++] = a;
}

void arenas_read(struct picture *p)
{
	static char entries[ENTRIES_MAX * ENTRY_MAX];
	struct ash_arenas d;
	unsigned i;
	size_t k;

	for (i = 0; i < p->source->arenas_count; i++) {
		if (!source_read(p->source, p->source->arenas[i], &d, sizeof d) || !is_sane(&d)) {
			picture_damaged(p, "the list of heaps in callers' memory", p->source->arenas[i]);
			continue;
		}
		if (!source_read(p->source, (uintptr_t)d.list, entries,
				 (size_t)d.field[ASH_arenas_max] * d.field[ASH_arena_entry_bytes])) {
			picture_damaged(p, "the list of heaps in callers' memory", (uintptr_t)d.list);
			continue;
		}
		for (k = 0; k < d.field[ASH_arenas_max] && !p->no_memory; k++)
			arena_read(p, &d, entries + k * d.field[ASH_arena_entry_bytes]);
	}
}

void arenas_drop(struct picture *p)
{
	size_t i;

	for (i = 0; i < p->arena_count; i++)
		ash_release(p->arenas[i].words);
	ash_release(p->arenas);
}
