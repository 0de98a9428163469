/* SPDX-License-Identifier: MIT */
#include "heaps/remains.h"

#include "arena/arena.h"
#include "backend/chunk.h"
#include "backend/region.h"
#include "backend/retain.h"
#include "memory.h"
#include "thread/owner.h"

enum { MARKS = 4, OWNERS = 4 }; /* owner records of each mark */
static uint64_t marks[MARKS], marks_count;
static uint64_t spares[MARKS]; /* records of no heap, also marked */
static uint64_t remain; /* units of all marks together that may be resident */

/* Releases all regions of the heap with their records, and the owner records. */
static void heap_unmap(struct heap *h)
{
	struct owner *o, *next;
	struct region *r;

	for (r = h->regions; r != NULL; r = r->next)
		if (r->state == REGION_LIVE) {
			arenas_gone(r->base, region_bytes(r));
			region_unmap(r);
		}
	metadata_unmap(h);
	for (o = h->owners; o != NULL; o = next) {
		next = o->next;
		(void)pages_release(o, OWNER_BYTES);
	}
	h->regions = NULL;
	h->owners = NULL;
}

/* Releases the memory of the mark, which only the caller has. */
static void mark_empty(struct heap *mark)
{
	if (mark->regions == NULL)
		return;
	fetch_add_relaxed(&remain, (uint64_t)0 - mark->dirty);
	heap_unmap(mark);
}

/* Releases the mark, which only the caller has and no thread will find any more. */
static void mark_drop(struct heap *mark)
{
	unsigned i;

	mark_empty(mark);
	for (i = 0; i < MARKS; i++) {
		uint64_t none = 0;

		/*
		 * Release and acquire pair with entry_take: a thread that takes the mark sees all stores of its last
		 * holder.
		 */
		if (cas_acq_rel(&spares[i], &none, (uint64_t)(uintptr_t)mark))
			return;
	}
	(void)pages_release(mark, HEAP_BYTES);
}

static struct heap *entry_take(uint64_t *entry)
{
	return (struct heap *)(uintptr_t)exchange_seq_cst(entry, 0);
}

static struct heap *mark_take(unsigned i)
{
	return entry_take(&marks[i % MARKS]);
}

static void mark_put(unsigned i, struct heap *mark)
{
	/*
	 * Pairs with the exchange of another thread that puts or takes a mark: that thread sees all earlier stores to
	 * the record.
	 */
	mark = (struct heap *)(uintptr_t)exchange_seq_cst(&marks[i % MARKS], (uint64_t)(uintptr_t)mark);
	if (mark != NULL)
		mark_drop(mark);
}

/* Releases the memory of n marks, from the oldest, until all marks together have at most `most` units. */
static void marks_empty(unsigned oldest, unsigned n, uint64_t most)
{
	for (; n > 0 && load_relaxed(&remain) > most; oldest++, n--) {
		struct heap *mark = mark_take(oldest);

		if (mark == NULL)
			continue;
		mark_empty(mark);
		mark_put(oldest, mark);
	}
}

/* ---- regions and owner records in their initial state, except that the memory was used ---- */

/* Returns whether the region is for slabs and has given the kernel no advice. */
static bool is_plain(const struct region *r)
{
	size_t i;

	/* A hardened product leaves no access to the blocks of a heap that was destroyed. */
	if (IS_HARDENED || region_short() || r == NULL || r->state != REGION_LIVE || r->remote == NULL)
		return false;
	for (i = 0; i < r->chunks; i++)
		if ((r->advice[i] & ~ADVICE_FLAGS) != ADVICE_NONE)
			return false;
	return true;
}

/*
 * Clears the chunk's record and the records of slabs.  Only slab records that were ever used are cleared, because the
 * others have no memory.
 */
static void chunk_reset(struct chunk *c, size_t remote_stride)
{
	unsigned i;

	for (i = 0; i < CHUNK_RECORDS; i++) {
		struct slab *s = record_at(c, record_offset(i));

		if (s->base == NULL)
			continue;
		memset(s->remote, 0, remote_stride);
		memset(s, 0, sizeof *s);
	}
	memset(c, 0, sizeof *c);
}

/*
 * Makes all chunks free and clears their records.  Only chunks of slabs stay known; they keep their clean bits.
 * Returns the units that may be resident.
 */
static size_t region_reset(struct region *r)
{
	size_t units = 0, i;

	for (i = 0; i < r->chunks; i++) {
		struct chunk *c = region_chunk(r, i);
		bool is_known = bits_all(r->known, i, 1), slabs = is_known && c->kind == CHUNK_SLABS;
		bool clean = bits_all(r->free, i, 1) && bits_all(r->clean, i, 1);
		uint64_t mask = slabs ? c->clean : 0;

		bits_clear(r->free, i, 1);
		bits_clear(r->clean, i, 1);
		bits_clear(r->known, i, 1);
		if (is_known) {
			chunk_reset(c, r->remote_stride);
			c->clean = mask;
		}
		bits_release(slabs ? r->known : r->free, i, 1);
		if (clean)
			bits_release(r->clean, i, 1);
		else
			units += CHUNK_UNITS - bits_count(mask);
	}
	r->part = 0;
	memset(r->room, 0, (size_t)(r->records - (char *)r->room)); /* and the advice */
	r->next = r->previous = NULL;
	return units;
}

/* Clears the first owner records.  Returns the records behind them. */
static struct owner *owners_reset(struct owner *o)
{
	struct owner *next = NULL, *last = NULL;
	unsigned i;

	for (i = 0; i < OWNERS && o != NULL; i++, last = o, o = next) {
		next = o->next;
		memset(o, 0, sizeof *o);
		o->next = next;
	}
	if (last != NULL)
		last->next = NULL;
	return o;
}

/* ---- leaving ---- */

void remains_leave(struct heap *h)
{
	uint64_t most = h->options->retain / RETAIN_PART >> UNIT_SHIFT, units = 0, at;
	struct region *first = is_plain(h->regions) ? h->regions : NULL;
	struct owner *owners = NULL;

	if (first != NULL) {
		arenas_gone(first->base, first->chunks << CHUNK_SHIFT);
		map_leave(first, 0, first->chunks);
		h->regions = first->next;
		if (h->regions != NULL)
			h->regions->previous = NULL;
		owners = h->owners;
		h->owners = owners_reset(owners);
		units = region_reset(first);
	}
	heap_unmap(h);
	/* No seat has the id 0, so no fast path accepts the heap. */
	memset(h, 0, sizeof *h);
	h->regions = first;
	h->owners = owners;
	h->dirty = (uint32_t)units;
	/* Release, after the zeros: a late call, which is misuse, sees the mark or no heap. */
	store_release(&h->sharing, PAGES_GONE);
	fetch_add_relaxed(&remain, units);
	if (units > most)
		mark_empty(h);
	at = fetch_add_relaxed(&marks_count, 1);
	mark_put((unsigned)at, h);
	marks_empty((unsigned)at + 1, MARKS - 1, most);
}

size_t remains_trim(void)
{
	uint64_t before = load_relaxed(&remain);

	marks_empty((unsigned)load_relaxed(&marks_count), MARKS, 0);
	return (size_t)(before - load_relaxed(&remain)) << UNIT_SHIFT;
}

/* ---- the next heap ---- */

struct heap *remains_record(void)
{
	struct heap *h = NULL;
	unsigned i;

	for (i = 0; i < MARKS && h == NULL; i++)
		h = entry_take(&spares[i]);
	if (h == NULL)
		return pages_reserve(HEAP_BYTES, PAGE_LEAST, PAGES_PRIVATE);
	memset(h, 0, sizeof *h);
	return h;
}

/* Takes the newest memory out of the marks, and its owner records in *owners. */
static struct region *mark_memory(struct owner **owners)
{
	unsigned at = (unsigned)load_relaxed(&marks_count), i;
	struct region *r = NULL;

	for (i = 1; i <= MARKS && r == NULL; i++) {
		struct heap *mark = mark_take(at - i);

		if (mark == NULL)
			continue;
		r = mark->regions;
		if (r != NULL) {
			*owners = mark->owners;
			fetch_add_relaxed(&remain, (uint64_t)0 - mark->dirty);
			mark->regions = NULL;
			mark->owners = NULL;
			mark->dirty = 0;
		}
		mark_put(at - i, mark);
	}
	return r;
}

void remains_use(struct heap *h)
{
	struct owner *o = NULL, *next;
	struct region *r;
	size_t i;

	/* The memory has no advice, and its size is that of a heap without a cap. */
	if (h->options->huge != ASH_HUGE_DEFAULT || h->options->cap != 0)
		return;
	r = mark_memory(&o);
	if (r == NULL)
		return;
	h->owners = o;
	h->regions = r;
	r->heap = h;
	if (!map_enter(r)) {
		heap_unmap(h);
		return;
	}
	h->reserved = r->chunks;
	heap_peak(&h->peak.reserved, r->chunks);
	for (i = 0; i < r->chunks; i++) {
		struct chunk *c = region_chunk(r, i);
		bool slabs = bits_all(r->known, i, 1);
		uint64_t mask = slabs ? c->clean : 0;

		if (slabs) {
			chunk_open(h, (struct run){r, i}, false);
			store_relaxed(&c->clean, mask);
		}
		if (!bits_all(r->clean, i, 1))
			heap_soiled(h, CHUNK_UNITS - bits_count(mask));
	}
	h->owners = NULL;
	for (; o != NULL; o = next) {
		next = o->next;
		owner_publish(h, o, OWNER_VACANT);
	}
}
