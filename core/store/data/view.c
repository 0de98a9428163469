/* SPDX-License-Identifier: MIT */
#include "store/data/view.h"

#include "memory.h"
#include "pages.h"
#include "store/process/share.h"
#include "store/file/open.h"
#include "store/recover/block_tags.h"
#include "store/recover/builders.h"
#include "store/recover/intent.h"
#include "store/process/world.h"

#define VIEW_BYTES ((sizeof(struct ash_heap_view) + PAGE_MOST - 1) & ~(PAGE_MOST - 1))

struct ash_heap_view *view_open(int fd, enum ash_attach *why)
{
	struct ash_heap_view *v;
	struct store head;

	if (!store_look(fd, &head, why))
		return NULL;
	*why = ASH_ATTACH_NO_MEMORY;
	v = pages_reserve(VIEW_BYTES, PAGE_LEAST, PAGES_PRIVATE);
	if (v == NULL)
		return NULL;
	v->base = (const char *)head.base;
	v->bytes = head.bytes;
	v->world = head.world;
	store_set_region(&v->region, head.base, head.heap.own.cap >> CHUNK_SHIFT);
	v->fd = share_again(fd);
	v->at = v->fd < 0 ? NULL : share_map_anywhere(fd, v->bytes, false);
	if (v->at == NULL) {
		if (v->fd >= 0)
			share_close(v->fd);
		(void)pages_release(v, VIEW_BYTES);
		return NULL;
	}
	*why = seal_is_torn(head.seal) ? ASH_ATTACH_TORN : ASH_ATTACHED;
	return v;
}

void view_close(struct ash_heap_view *v)
{
	(void)pages_release((void *)(uintptr_t)v->at, v->bytes);
	share_close(v->fd);
	(void)pages_release(v, VIEW_BYTES);
}

bool view_get(const struct ash_heap_view *v, const void *at, void *out, size_t bytes)
{
	bool done = share_read(v->fd, out, bytes, (size_t)((const char *)at - v->base)) == bytes;

	/* Pairs with the releases of the words that were read: later reads are no older. */
	fence_acquire();
	return done;
}

uint64_t view_word(const struct ash_heap_view *v, const void *at)
{
	uint64_t word = 0, again = 0;

	/*
	 * The kernel may copy the bytes of a word at different moments.  Each further round is caused by another
	 * thread's change.
	 */
	do
		if (!view_get(v, at, &word, sizeof word) || !view_get(v, at, &again, sizeof again))
			return 0;
	while (word != again);
	return word;
}

bool view_words(const struct ash_heap_view *v, const void *at, uint64_t *out, size_t n)
{
	uint64_t again[VIEW_WORDS];
	size_t i;

	if (!view_get(v, at, out, n * sizeof *out) || !view_get(v, at, again, n * sizeof *out))
		return false;
	for (i = 0; i < n; i++)
		if (out[i] != again[i])
			out[i] = view_word(v, (const uint64_t *)at + i);
	return true;
}

size_t view_chunks(const struct ash_heap_view *v)
{
	size_t n = view_word(v, v->base + REGION_AT + offsetof(struct region, chunks)); /* pairs with store_extend */

	return n < v->region.chunks ? n : v->region.chunks;
}

bool view_chunk_is_free(const struct ash_heap_view *v, size_t i)
{
	return ((view_word(v, &v->region.free[i / 64]) >> (i % 64)) & 1) != 0;
}

size_t view_last_known(const struct ash_heap_view *v, size_t i)
{
	uint64_t word;

	for (;; i = (i & ~(size_t)63) - 1) {
		word = i == SIZE_MAX ? 1 : view_word(v, &v->region.known[i / 64]) << (63 - i % 64);
		if (word != 0)
			return i == SIZE_MAX ? i : i - (63 - bits_highest(word));
	}
}

size_t view_next_used(const struct ash_heap_view *v, size_t i, size_t n)
{
	uint64_t known[64], free[64], word;
	size_t first, words, k;

	for (first = i / 64; first * 64 < n; first += words) {
		words = bits_words(n) - first < 64 ? bits_words(n) - first : 64;
		if (!view_get(v, &v->region.known[first], known, words * sizeof known[0]) ||
		    !view_get(v, &v->region.free[first], free, words * sizeof free[0]))
			break;
		for (k = 0; k < words; k++) {
			word = known[k] & ~free[k];
			if (first + k == i / 64)
				word = word >> (i % 64) << (i % 64);
			if (word != 0 && (first + k) * 64 + bits_lowest(word) < n)
				return (first + k) * 64 + bits_lowest(word);
		}
	}
	return n;
}

/* Reads the header of chunk i.  Returns false if the chunk is of another kind. */
static bool get_chunk(const struct ash_heap_view *v, size_t i, enum chunk_kind kind, struct chunk *out)
{
	if (!view_get(v, region_chunk(&v->region, i), out, sizeof *out))
		out->kind = CHUNK_FREE;
	return out->kind == (uint64_t)kind;
}

bool view_span(const struct ash_heap_view *v, size_t i, struct view_chunk *there, struct view_span *out)
{
	const struct chunk *c = region_chunk(&v->region, i);

	/* The kind is read last, because the members may be another span's. */
	if (!get_chunk(v, i, CHUNK_SPAN, &there->c) || view_word(v, &c->kind) != CHUNK_SPAN)
		return false;
	out->chunks = there->c.span_chunks;
	out->bytes = there->c.span_bytes;
	out->tag = there->c.clean;
	return out->chunks - 1 < v->region.chunks - i && out->bytes - 1 < out->chunks << CHUNK_SHIFT;
}

bool view_slab(const struct ash_heap_view *v, size_t i, unsigned *unit, struct view_chunk *there, struct look *out)
{
	const char *remote;
	const struct slab *s;
	uint32_t place;
	unsigned first;

	if (!get_chunk(v, i, CHUNK_SLABS, &there->c))
		return false;
	place = there->c.head[*unit];
	first = place == 0 ? CHUNK_UNITS : record_unit(place);
	if (first > *unit || !record_begins(place, first))
		return false;
	s = record_at(region_chunk(&v->region, i), place);
	remote = v->region.remote + (i * CHUNK_UNITS + first) * v->region.remote_stride;
	if (!view_get(v, s, &there->s, sizeof there->s))
		return false;
	*out = look_begin(&there->s);
	out->base = (char *)(uintptr_t)view_memory(v, i) + ((size_t)first << UNIT_SHIFT);
	out->unowned = record_is_unowned(place);
	out->remote = there->remote;
	*unit = first;
	/*
	 * The order matters, as in look_at_group: the tags must be no older than the bits that say that their slots
	 * are taken.
	 */
	return look_is_slab(out, first, false) &&
	       view_get(v, remote, there->remote, out->groups * sizeof there->remote[0]) &&
	       view_get(v, s, &there->s, sizeof there->s) &&
	       view_get(v, remote + REMOTE_STRIDE, there->tags, out->slots * sizeof there->tags[0]);
}

/* Returns the owner record of this number. */
static const struct owner *record_of(const struct ash_heap_view *v, uint64_t n)
{
	return (const struct owner *)(const void *)(v->base + RECORDS_AT + n * RECORD_BYTES);
}

/* Returns whether the change with this mark is known.  Sets *fresh to the word that the change puts into the slot. */
static bool view_change(const struct ash_heap_view *v, uint64_t mark, uint64_t *fresh)
{
	uint64_t number = mark >> MARK_NUMBER & ((1 << (MARK_USE - MARK_NUMBER)) - 1);
	const struct intent *i = &truth_of(record_of(v, number / INTENTS))->intents[number % INTENTS];

	if (view_word(v, &i->state) / INTENT_USE << MARK_USE >> MARK_USE != mark >> MARK_USE)
		return false; /* pairs with intent_set */
	*fresh = view_word(v, &i->fresh); /* the fence of view_word pairs with the claim of the next use */
	return view_word(v, &i->state) / INTENT_USE << MARK_USE >> MARK_USE == mark >> MARK_USE;
}

uint64_t view_read(const struct ash_heap_view *v, const void *slot, const uint64_t *mapped)
{
	uint64_t word, mark = 0, fresh;

	for (;;) {
		/* Pairs with intent_complete and ash_heap_set_root: the block that the slot names is complete. */
		word = mapped != NULL ? load_acquire(mapped) : view_word(v, slot);
		if ((word & MARK) == 0)
			return word;
		if (word == mark)
			return 0; /* the mark of no intent, in a forged file */
		mark = word;
		/* The change has happened.  The slot has the word of the intent, if that is still the same use. */
		if (view_change(v, mark, &fresh))
			return fresh;
		/* Otherwise the slot got the word before.  Each further attempt is another thread's change. */
	}
}

uint64_t view_owner(const struct ash_heap_view *v, uint16_t tag)
{
	uint64_t record = (tag & TAG_PROCESS) / INTENTS, process;

	if ((tag & TAG_LEAVING) == 0)
		return tag & TAG_PROCESS;
	if (record >= STORE_RECORDS)
		return TAG_UNKNOWN;
	process = view_word(v, &truth_of(record_of(v, record))->census);
	return process > CENSUS_LAST ? TAG_UNKNOWN : process;
}

bool view_process_is_over(const struct ash_heap_view *v, uint64_t life)
{
	return life_process_is_over(life) && world_is(v->world, world_now());
}

void view_kinds(const struct ash_heap_view *v, size_t i, unsigned unit, unsigned group, unsigned char out[GROUP_SLOTS])
{
	const char *slot = v->region.remote + (i * CHUNK_UNITS + unit) * v->region.remote_stride +
			   KINDS_SLOT * sizeof(uint64_t);
	uint64_t leaf = view_read(v, slot, NULL);

	if (!view_has(v, leaf, SLAB_SLOTS) ||
	    !view_get(v, (const char *)leaf + (size_t)group * GROUP_SLOTS, out, GROUP_SLOTS)) /* NOLINT: an address */
		memset(out, 0, GROUP_SLOTS);
}
