/* SPDX-License-Identifier: MIT */
/*
 * The fields of this process.  They are listed here and not in their own
 * memory: that may be shared with processes that have other lists.
 */
#include "field.h"
#include "instance.h"
#include "memory.h"

/*
 * A place is somebody's from the swap of `begin` from 0 on, and can be found
 * when `begin` is an address.
 */
static struct {
	uint64_t begin, end;
} places[ASH_HEAPS_IN_MAX];
static uint64_t places_used; /* none at or above this one was ever taken */

enum { NOT_YET = 1 };

static struct field *field_in(uint64_t memory)
{
	return (struct field *)(uintptr_t)((memory + CPU_LINE - 1) & ~(uint64_t)(CPU_LINE - 1));
}

/*
 * The smallest field whose memory has p, as a granule if that is wanted: one
 * may lie in a block of another.
 */
static struct field *find(const void *p, bool granule)
{
	uint64_t address = (uintptr_t)p, best = UINT64_MAX, i;
	uint64_t used = load_acquire(&places_used); /* pairs with enter */
	struct field *f = NULL;

	for (i = 0; i < used; i++) {
		/* Pairs with enter; read again, as the place may come to be another's. */
		uint64_t begin = load_acquire(&places[i].begin);
		uint64_t end = load_acquire(&places[i].end);

		if (begin > NOT_YET && address - begin < end - begin && end - begin < best &&
		    load_acquire(&places[i].begin) == begin &&
		    (!granule || field_has(field_in(begin), p))) {
			best = end - begin;
			f = field_in(begin);
		}
	}
	return f;
}

struct field *fields_find(const void *p)
{
	return find(p, true);
}

struct field *fields_around(const void *p)
{
	return find(p, false);
}

static void forget(uint64_t memory)
{
	uint64_t used = load_acquire(&places_used), i;

	for (i = 0; i < used; i++)
		if (load_relaxed(&places[i].begin) == memory)
			store_release(&places[i].begin, 0);
}

static bool enter(uint64_t begin, uint64_t end)
{
	uint64_t i, used = load_acquire(&places_used);

	for (i = 0; i < ASH_HEAPS_IN_MAX; i++) {
		uint64_t none = 0;

		if (load_relaxed(&places[i].begin) == 0 &&
		    swap_acq_rel(&places[i].begin, &none, NOT_YET))
			break;
	}
	if (i == ASH_HEAPS_IN_MAX)
		return false;
	store_release(&places[i].end, end);
	store_release(&places[i].begin, begin); /* pairs with fields_around */
	while (used <= i && !swap_acq_rel(&places_used, &used, i + 1))
		;
	return true;
}

void fields_leave(struct field *f)
{
	forget(f->memory);
}

ash_heap *ash_heap_create_in(void *memory, size_t bytes)
{
	uint64_t begin = (uintptr_t)memory, end = begin + bytes, base;
	struct field *f = field_in(begin);
	size_t room, beyond;

	if (memory == NULL || bytes < FIELD_MIN || bytes > PTRDIFF_MAX || end < begin)
		return NULL;
	/* A word and its granules take 8 + 512 bytes. */
	room = end - (uintptr_t)f - sizeof *f;
	memset(f, 0, sizeof *f);
	f->word_count = (room + 8 + FIELD_WORD * GRANULE - 1) / (8 + FIELD_WORD * GRANULE);
	base = ((uintptr_t)&f->words[f->word_count] + GRANULE - 1) & ~(uint64_t)(GRANULE - 1);
	f->base = (char *)(uintptr_t)base;
	f->granules = (end - base) / GRANULE;
	f->memory = begin;
	f->sharing = PAGES_CALLERS;
	memset(f->words, 0, f->word_count * sizeof f->words[0]);
	/* What rounding left over may have been the last word's. */
	f->word_count = (f->granules + FIELD_WORD - 1) / FIELD_WORD;
	beyond = f->word_count * FIELD_WORD - f->granules;
	if (beyond > 0)
		f->words[f->word_count - 1] =
			bits_run(2 * FIELD_WORD - (unsigned)beyond, (unsigned)beyond);
	/* The same memory made anew, without a destroy before. */
	forget(begin);
	if (!enter(begin, end))
		return NULL;
	heap_hooks = &instance_hooks;
	return (ash_heap *)(void *)f;
}
