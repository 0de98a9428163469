/* SPDX-License-Identifier: MIT */
#include "shm/store.h"

#include "backend/metadata.h"
#include "backend/region.h"
#include "memory.h"

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
	return STORES_SUPPORTED && n > 0 && n < (size_t)1 << (CPU_ADDRESS_BITS - CHUNK_SHIFT);
}

struct layout layout_of(const struct ash_heap_options *options)
{
	struct layout l;
	unsigned i;

	memset(&l, 0, sizeof l);
	if (options == NULL)
		return l;
	for (i = 0; options->layout != NULL && i < LAYOUT_BYTES - 1 && options->layout[i] != '\0'; i++)
		l.text[i] = options->layout[i];
	l.version = options->layout_version;
	return l;
}

void store_set(struct store *s, struct store *base, size_t n)
{
	s->version = STORE_VERSION;
	s->base = base;
	s->bytes = store_bytes(n);
	s->records = (char *)base + RECORDS_AT;
	s->census = (uint64_t *)(void *)((char *)base + CENSUS_AT);
	s->heap.regions = (struct region *)(void *)((char *)base + REGION_AT);
	s->heap.options = &base->heap.own;
	s->heap.sharing = PAGES_SHARED;
	s->heap.settled = 0;
	s->heap.reserved = n;
	s->heap.own.cap = n << CHUNK_SHIFT;
	s->descriptor = ash_descriptor;
	/* Zero, as a process with another release may attach if the layout is the same. */
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
	uint64_t n = load_relaxed(&s->records_used);
	void *record;

	/* The winner gets record n.  The word publishes nothing: its acquire pairs with nothing. */
	do
		if (n >= STORE_RECORDS)
			return NULL;
	while (!cas_acquire(&s->records_used, &n, n + 1));
	record = s->records + n * OWNER_BYTES;
	/*
	 * A record that was never used reads zero, but another program may have written the file.
	 */
	memset(record, 0, OWNER_BYTES);
	return record;
}
