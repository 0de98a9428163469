/* SPDX-License-Identifier: MIT */
#include "small/large.h"

#include "ashlar.h"
#include "memory.h"
#include "small/space.h"

#define PROMISED ((size_t)32 << 20) /* see ash_alloc */

static uintptr_t kept; /* hint, not 0 if the system ever refused to take memory back */

static inline uint64_t word_of(size_t pages, size_t bytes)
{
	return (uint64_t)(bytes / PLACE_BYTES) << LARGE_PIECES | (uint64_t)pages << 1 | 1;
}

static inline size_t round_up(size_t bytes, size_t to)
{
	return (bytes + to - 1) & ~(to - 1);
}

/*
 * Gives memory that no word describes back to the system.  If the system refuses, the word of the first piece
 * makes the memory available again.
 */
static void give_back(char *p, size_t bytes, bool whole)
{
	uint64_t *place;

	if (space_unmap(p, bytes, whole))
		return;
	(void)pages_purge(p, bytes, PAGES_PRIVATE);
	place = place_make(p);
	if (place != NULL)
		store_release(place, word_of(0, bytes)); /* pairs with place_at */
	store_relaxed(&kept, 1);
}

/* Returns the bytes of the word's memory if no block has it, otherwise 0. */
static size_t free_bytes(uint64_t word)
{
	return large_bytes(word) != 0 ? 0 : large_mapped(word);
}

/* Adds the free memory behind the free memory at `at` to it. */
static bool join(const char *at, uint64_t *word)
{
	uint64_t *place = place_of(at + large_mapped(*word)), next = load_acquire(place), both; /* pairs with give_back */

	if (free_bytes(next) == 0 || !cas_acq_rel(place, &next, PLACE_GONE))
		return false;
	both = word_of(0, large_mapped(*word) + large_mapped(next));
	if (!cas_acq_rel(place_of(at), word, both)) { /* another thread has the memory */
		store_release(place, next);
		return false;
	}
	*word = both;
	return true;
}

/*
 * Returns memory that the system did not take back: the first piece of it that is long enough and aligned, or
 * NULL.
 */
static char *take_again(size_t size, size_t bytes, size_t alignment, bool zero)
{
	const char *at = NULL;
	uint64_t word;
	size_t have;
	char *p;

	for (; (word = place_next(&at)) != 0; at += PLACE_BYTES) {
		if (((uintptr_t)at & (alignment - 1)) != 0)
			continue;
		while ((have = free_bytes(word)) != 0 && have < bytes && join(at, &word))
			;
		if (have < bytes || !cas_acq_rel(place_of(at), &word, word_of(large_pages(size), bytes)))
			continue;
		p = (char *)(uintptr_t)at;
		if (have > bytes)
			give_back(p + bytes, have - bytes, false);
		if (zero)
			pages_clear(p, bytes, true, PAGES_PRIVATE);
		return p;
	}
	return NULL;
}

void *large_alloc(size_t size, size_t alignment, bool zero, size_t more)
{
	size_t bytes = round_up(size + (size == 0), PLACE_BYTES);
	bool promised = size > PROMISED && ash_defaults.sparse == 0;
	uint64_t *place;
	char *p;

	if (alignment < PLACE_BYTES)
		alignment = PLACE_BYTES;
	if (load_relaxed(&kept) != 0 && (p = take_again(size, bytes, alignment, zero)) != NULL)
		return p;
	more = round_up(more, PLACE_BYTES);
	p = space_map(bytes + more, alignment, promised);
	if (p != NULL)
		bytes += more;
	else if (more == 0 || (p = space_map(bytes, alignment, promised)) == NULL)
		return NULL;
	place = place_make(p);
	if (place == NULL) {
		(void)space_unmap(p, bytes, true);
		return NULL;
	}
	store_release(place, word_of(large_pages(size), bytes)); /* pairs with place_at */
	return p;
}

bool large_fit(void *p, uint64_t word, size_t size)
{
	size_t have = large_mapped(word), need = round_up(size + (size == 0), PLACE_BYTES), page = PAGE_SIZE, end;

	if (need > have && !space_grow(p, have, need))
		return false;
	/* This fails if another thread released the block, which is misuse.  Pairs with place_at. */
	if (!cas_acq_rel(place_of(p), &word, word_of(large_pages(size), need)))
		return false;
	if (need < have)
		give_back((char *)p + need, have - need, false);
	end = round_up(size, page);
	if (size < large_bytes(word) && end < need)
		(void)pages_purge((char *)p + end, need - end, PAGES_PRIVATE);
	return true;
}

bool large_copy(char *to, char *from, size_t bytes)
{
	size_t n;

	switch (bytes < PLACE_BYTES ? PAGES_STAYED : pages_remap(from, to, round_up(bytes, PLACE_BYTES))) {
	case PAGES_MOVED:
		return true;
	case PAGES_LOST:
		store_release(place_of(to), PLACE_GONE); /* pairs with place_at */
		return false;
	default:
		break;
	}
	/*
	 * Purge each copied piece at once, so that the two blocks are never resident as a whole at one time.
	 */
	for (; bytes != 0; bytes -= n, to += n, from += n) {
		n = bytes < PLACE_BYTES ? bytes : PLACE_BYTES;
		memcpy(to, from, n);
		if (n == PLACE_BYTES)
			(void)pages_purge(from, n, PAGES_PRIVATE);
	}
	return true;
}

bool large_release(void *p, uint64_t word)
{
	if (!cas_acq_rel(place_of(p), &word, PLACE_GONE)) /* pairs with itself, and with place_at */
		return false;
	give_back(p, large_mapped(word), true);
	return true;
}
