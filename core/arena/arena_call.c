/* SPDX-License-Identifier: MIT */
#include "arena/arena_call.h"

#include "arena/arena.h"
#include "memory.h"

_Noreturn void arena_misuse(const struct arena *a, const char *call, const void *p)
{
	const char *fault = call_again(call);
	size_t at = arena_index(a, p), first, bytes;

	if (!arena_has(a, p))
		misuse_report(call, p, "pointer to the allocator's own records", NULL, 0);
	first = arena_begin(a, at);
	bytes = arena_bytes(a, a->base + first * GRANULE);
	if ((uintptr_t)p % GRANULE != 0)
		fault = "misaligned pointer";
	else if (first != at)
		fault = "interior pointer";
	else if (bytes != 0)
		misuse_heap(call, p); /* a block, but not of the heap in the call */
	misuse_report(call, p, fault, bytes == 0 ? NULL : a->base + first * GRANULE, bytes);
}

static bool arena_may_align(size_t alignment)
{
	return bits_is_power(alignment) && alignment <= (size_t)1 << 30;
}

void *arena_call_alloc(struct arena *a, size_t size, size_t alignment, bool zero)
{
	void *p;

	if (!arena_may_align(alignment))
		return NULL;
	p = arena_alloc(a, size, alignment);
	if (p != NULL && zero)
		memset(p, 0, size);
	return p;
}

size_t arena_call_bytes(const struct arena *a, const char *call, const void *p)
{
	size_t bytes;

	if (p == NULL)
		return 0;
	if (!arena_has(a, p))
		misuse_heap(call, p);
	bytes = arena_bytes(a, p);
	if (bytes == 0)
		arena_misuse(a, call, p);
	return bytes;
}

/* ---- resizing ---- */

/*
 * Changes the block at granule `first` from `have` to n granules.  Returns false if the next granules are not
 * free.
 */
static bool block_fit(struct arena *a, size_t first, size_t have, size_t n)
{
	bool fits = true;

	if (n < have) {
		/* First, because other threads may take the memory afterwards. */
		if (have >= ARENA_MIN / GRANULE)
			arenas_gone(a->base + first * GRANULE, have * GRANULE);
		run_give(a, first + n, have - n);
	} else if (n > have) {
		summary_enter(a);
		summary_taking(a, first + n);
		fits = run_extend(a, first + have, n - have);
		summary_leave(a);
	}
	return fits;
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

	if (have >= ARENA_MIN / GRANULE && (n > have || !stays))
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

void *arena_call_resize(struct arena *a, const char *call, void *p, size_t alignment, size_t size)
{
	if (arena_call_bytes(a, call, p) == 0)
		return arena_call_alloc(a, size, alignment, false);
	if (!arena_may_align(alignment) || size > PTRDIFF_MAX)
		return NULL;
	return arena_resize(a, p, size, alignment);
}

size_t arena_call_expand(struct arena *a, void *p, size_t size)
{
	if (arena_call_bytes(a, CALL_HEAP_EXPAND, p) == 0 || size > PTRDIFF_MAX ||
	    !arena_fit(a, p, size))
		return 0;
	return arena_bytes(a, p);
}

/* ---- releasing ---- */

void arena_call_release(struct arena *a, const char *call, void *p)
{
	if (p == NULL)
		return;
	if (!arena_has(a, p))
		misuse_heap(call, p);
	if (!arena_release(a, p))
		arena_misuse(a, call, p);
}

void arena_call_release_as(struct arena *a, const char *call, void *p, size_t alignment, size_t size)
{
	misuse_unless_fits(call, p, arena_call_bytes(a, call, p), alignment, size);
	arena_call_release(a, call, p);
}

/* ---- readers ---- */

int arena_walk(struct arena *a, int (*see)(void *, void *, size_t, const struct ash_heap_owner *),
	       void *context)
{
	/* The owner is not recorded: the process number would cost a system call for each block. */
	static const struct ash_heap_owner taken = {1, 0, true, 0}, in_flight = {0, 0, false, 0};
	size_t w;
	int answer = 0;

	for (w = 0; w < a->word_count; w++) {
		unsigned at = 0;

		/* Loaded again for each block, because the visitor may release blocks. */
		while (at < ARENA_WORD && answer == 0) {
			uintptr_t word = load_acquire(&a->words[w]); /* pairs with run_take */
			uintptr_t begin = (word >> ARENA_WORD) >> at << at;
			size_t first = w * ARENA_WORD;

			if (begin == 0)
				break;
			at = bits_lowest(begin);
			first += at;
			if (first >= a->granules)
				break;
			answer = see(context, a->base + first * GRANULE,
				     arena_length(a, first) * GRANULE,
				     (arena_first(word) >> at) & 1 ? &taken : &in_flight);
			at++;
		}
		if (answer != 0)
			break;
	}
	return answer;
}

struct ash_block arena_find(const struct arena *a, const void *p)
{
	size_t at = arena_index(a, p), first = arena_begin(a, at);
	char *start = a->base + first * GRANULE;
	size_t bytes = arena_bytes(a, start);

	/* A run that is being taken or released has no owner: arena_bytes is 0, as for a free run. */
	if ((size_t)((const char *)p - start) >= bytes)
		return (struct ash_block){.place = ASH_UNUSED};
	return (struct ash_block){.place = ASH_TAKEN, .start = start, .size = bytes,
				  .offset = (size_t)((const char *)p - start), .owner = 1};
}

int arena_count(void *out, void *block, size_t size, const struct ash_heap_owner *owner)
{
	struct ash_statistics *st = out;

	(void)block;
	st->blocks += owner->id != 0;
	st->block_bytes += owner->id != 0 ? size : 0;
	return 0;
}

void arena_stats(struct arena *a, struct ash_statistics *out)
{
	size_t w, free = 0;
	uintptr_t word;

	*out = (struct ash_statistics){.reserved = a->granules * GRANULE};
	for (w = 0; w < a->word_count; w++)
		for (word = arena_free(load_relaxed(&a->words[w])); word != 0; free++)
			word &= word - 1;
	out->dirty = free * GRANULE;
	(void)arena_walk(a, arena_count, out);
}

/* I11: returns true if each FURTHER in word w follows a granule that is taken. */
static bool further_follows_taken(const struct arena *a, size_t w)
{
	unsigned i;

	/*
	 * A run that is taken or released between the two loads seems to violate the invariant.  The test takes that
	 * for a violation only if it happens 64 times in a row.
	 */
	for (i = 0; i < 64; i++) {
		/* Load the upper word first, because taking proceeds upwards.  Pairs with run_part_take. */
		uintptr_t word = load_acquire(&a->words[w]);
		uintptr_t below = w == 0 ? 0 : load_acquire(&a->words[w - 1]);
		uintptr_t before = arena_free(word) << 1 | (arena_free(below) >> (ARENA_WORD - 1));

		if (w == 0)
			before |= 1; /* granule 0 has nothing below it */
		if ((arena_further(word) & before) == 0)
			return true;
	}
	return false;
}

int arena_check(const struct arena *a)
{
	size_t w, beyond = a->word_count * ARENA_WORD - a->granules, in_last = beyond % ARENA_WORD;

	for (w = 0; w < a->word_count; w++)
		if (!further_follows_taken(a, w))
			return 11;
	if (in_last > 0) {
		uintptr_t tail = arena_run((unsigned)(ARENA_WORD - in_last), (unsigned)in_last);

		if ((arena_held(load_relaxed(&a->words[w - 1])) & tail) != tail)
			return 12;
	}
	return 0;
}
