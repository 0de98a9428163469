/* SPDX-License-Identifier: MIT */
#include "store/file/store.h"

#include "memory.h"
#include "pages.h"
#include "store/allocator.h"
#include "store/process/share.h"

size_t store_chunks_at(size_t n)
{
	return STORE_ROUND(REGION_AT + metadata_bytes(n, true, STORE_REMOTE_STRIDE), CHUNK_SIZE);
}

size_t store_bytes(size_t n)
{
	return store_chunks_at(n) + (n << CHUNK_SHIFT);
}

bool store_may_have(size_t n)
{
	return n > 0 && n < (size_t)1 << (CPU_ADDRESS_BITS - CHUNK_SHIFT);
}

bool layout_of(const struct ash_heap_options *options, struct layout *out)
{
	const char *text = options == NULL ? NULL : options->layout;
	unsigned i;

	memset(out, 0, sizeof *out);
	out->version = options == NULL ? 0 : options->layout_version;
	for (i = 0; text != NULL && text[i] != '\0'; i++) {
		if (i == LAYOUT_BYTES - 1)
			return false;
		out->text[i] = text[i];
	}
	return true;
}

void store_set(struct store *s, struct store *base, size_t n)
{
	s->format = STORE_FORMAT;
	s->base = base;
	s->bytes = store_bytes(n);
	s->records = (char *)base + RECORDS_AT;
	s->census = (uint64_t *)(void *)((char *)base + CENSUS_AT);
	s->heap.regions = (struct region *)(void *)((char *)base + REGION_AT);
	s->heap.options = &base->heap.own;
	s->heap.sharing = PAGES_SHARED;
	s->heap.settled = 0;
	s->heap.reserved = s->heap.peak.reserved = n;
	s->heap.own.cap = n << CHUNK_SHIFT;
	s->descriptor = ash_descriptor;
	/* Zero, because a process with another release may attach if the layout is equal. */
	memset(s->descriptor.release, 0, sizeof s->descriptor.release);
	s->descriptor.heap = &base->heap;
	s->descriptor.map = NULL;
	s->descriptor.base = base;
	s->descriptor.length = s->bytes;
}

void store_set_region(struct region *r, struct store *base, size_t n)
{
	region_set(r, (struct region *)(void *)((char *)base + REGION_AT), &base->heap,
		   (char *)base + store_chunks_at(n), n, STORE_REMOTE_STRIDE);
}

void *store_owner(struct heap *h)
{
	struct store *s = store_of(h);
	size_t most = store_records(h->own.cap >> CHUNK_SHIFT, (load_relaxed(&h->records) & RECORDS_ALLOCATED) != 0);
	uint64_t n = load_relaxed(&s->records_used), holding;
	void *record;

	/* The winner gets record n.  The word publishes nothing, so this acquire pairs with nothing. */
	for (;;) {
		if (n >= most)
			return NULL;
		holding = hold_record(n);
		shared_hooks_now()->hold(h, holding, true);
		if (cas_acquire(&s->records_used, &n, n + 1))
			break;
		shared_hooks_now()->hold(h, holding, false);
	}
	record = s->records + n * RECORD_BYTES;
	/*
	 * A record that was never used reads zero, but another program may have written the file.
	 */
	memset(record, 0, RECORD_BYTES);
	return record;
}

static size_t record_number(const struct store *s, const struct owner *o)
{
	return (size_t)((const char *)o - s->records) / RECORD_BYTES;
}

void store_owner_made(struct owner *o)
{
	struct store *s = store_of(o->heap);
	size_t i = record_number(s, o);

	/* Release pairs with the acquire loads of the word: the record is complete. */
	fetch_or_release(&s->made[i / 64], (uint64_t)1 << i % 64);
}

struct owner *store_owner_after(struct heap *h, const struct owner *o)
{
	struct store *s = store_of(h);
	size_t n = o != NULL ? record_number(s, o) : load_acquire(&s->records_used);

	/* Counts the first n, from the last on.  Acquire, also of the bits, pairs with store_owner_made. */
	while (n > 0) {
		uint64_t made =
			load_acquire(&s->made[(n - 1) / 64]) & ~(uint64_t)0 >> (63 - (n - 1) % 64);

		n = (n - 1) / 64 * 64;
		if (made != 0)
			return store_record(s, n + bits_highest((unsigned long)made));
	}
	return NULL;
}

/* ---- the store's address in a process ---- */

enum { APART = 16, ANYWHERE = 8 };

/* Returns the address of the i-th attempt, far from where the kernel places mappings, or 0 if there is no such address. */
static uintptr_t apart(uint64_t chance, size_t bytes, unsigned i)
{
	size_t from = CPU_APART_FROM, room = CPU_APART_TO - CPU_APART_FROM, step = (size_t)1 << 30;

	if (CPU_NARROW_FROM != 0 && i >= APART / 2) { /* the second half of the attempts */
		from = CPU_NARROW_FROM;
		room = CPU_NARROW_TO - CPU_NARROW_FROM;
		step = (size_t)1 << 26; /* 1 GiB would give only 96 places */
	}
	if (bytes > room / 2)
		return 0;
	chance = (chance + i) * UINT64_C(0x9e3779b97f4a7c15);
	chance = (chance ^ chance >> 32) * UINT64_C(0xd1342543de82ef95);
	return from + (chance >> 20) % ((room - bytes) / step) * step;
}

struct store *store_map_at(int fd, size_t bytes, uintptr_t address, enum ash_attach *why)
{
	void *at = (void *)address; /* NOLINT: the caller's address */
	bool refused = true;

	if (address % CHUNK_SIZE == 0 && share_map(at, bytes, fd, &refused))
		return at;
	*why = refused ? ASH_ATTACH_NO_MEMORY : ASH_ATTACH_TAKEN;
	return NULL;
}

struct store *store_map_anywhere(int fd, size_t bytes, uint64_t chance, enum ash_attach *why)
{
	struct store *s = NULL;
	unsigned i;

	*why = ASH_ATTACH_TAKEN;
	/* Another thread may map the address first, so there are several attempts. */
	for (i = 0; s == NULL && i < APART + ANYWHERE && *why == ASH_ATTACH_TAKEN; i++) {
		uintptr_t at = i < APART ? apart(chance, bytes, i) : 0;

		if (at == 0) {
			at = (uintptr_t)pages_reserve(bytes, CHUNK_SIZE, PAGES_PRIVATE);
			if (at == 0)
				*why = ASH_ATTACH_NO_MEMORY;
			else
				(void)pages_release((void *)at, bytes); /* NOLINT: an address */
		}
		if (at != 0)
			s = store_map_at(fd, bytes, at, why);
		if (CPU_NARROW_FROM != 0 && *why == ASH_ATTACH_NO_MEMORY && i < APART / 2) {
			*why = ASH_ATTACH_TAKEN; /* perhaps the kernel has fewer address bits */
			i = APART / 2 - 1;
		}
	}
	return s;
}

/*
 * Chunks that are added later are in the map of each process already: their records read
 * zero until they are used, and reject each address (map_find).
 */
bool store_enter(struct store *s, size_t limit)
{
	struct region all = {0};

	store_set_region(&all, s, limit);
	return map_enter(&all);
}

void store_exit(struct store *s)
{
	struct region all = {0};

	store_set_region(&all, s, s->heap.reserved);
	map_leave(&all, 0, all.chunks);
}

void store_leave(struct store *s)
{
	store_exit(s);
	(void)pages_release(s, s->bytes);
}

/* ---- more chunks, and their records ---- */

bool store_extend(struct store *s, size_t n)
{
	struct region *r = load_acquire(&s->heap.regions);
	uint64_t had = load_acquire(&r->chunks);

	if (!store_may_extend(s, n))
		return false;
	/* Each chunk is added by a single thread.  Release pairs with view_chunks. */
	for (;;) {
		if (had >= n)
			return true;
		shared_hooks_now()->hold(&s->heap, hold_chunks(had, n - had), true); /* until the caller ends building */
		if (cas_acq_rel((uint64_t *)(void *)&r->chunks, &had, n))
			break;
	}
	/* No block was ever there.  The clean bits are first, because the thread that claims a chunk may read them. */
	bits_release(r->clean, had, n - had);
	bits_release(r->free, had, n - had);
	return true;
}

enum { MANY = 64 }; /* chunks from which on a system call costs less than their pages */

/*
 * Clears the records [first, first + n), of which no record is known, without touching each.  Returns false if the
 * kernel refused.
 */
static bool punch(struct region *r, size_t first, size_t n)
{
	uintptr_t from = (uintptr_t)region_chunk(r, first), to = (uintptr_t)region_chunk(r, first + n);

	from = (from + PAGE_MOST - 1) & ~(PAGE_MOST - 1);
	to &= ~(PAGE_MOST - 1);
	return pages_purge((void *)from, to - from, PAGES_SHARED); /* NOLINT: an address */
}

void run_made(struct region *r, size_t first, size_t n)
{
	uint64_t records = load_relaxed(&r->heap->records);
	size_t i, end = first + ((records & RECORDS_DOUBTED) != 0 ? n : 1);
	bool punched = end - first > MANY && (records & RECORDS_ALLOCATED) == 0 &&
		       bits_unset(r->known, first, n) == n && punch(r, first, n);

	/* The first and the last record may share a page with other records. */
	for (i = first; i < end; i += punched && i == first ? n - 1 : 1)
		if (!bits_all(r->known, i, 1))
			memset(region_chunk(r, i), 0, sizeof(struct chunk));
}
