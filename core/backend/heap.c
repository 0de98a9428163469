/* SPDX-License-Identifier: MIT */
#include "backend/heap.h"

#include "base/bits.h"
#include "panic.h"

/* Weak: a program may define its own ash_defaults. */
__attribute__((weak)) const struct ash_defaults ash_defaults = {
	.initial = CHUNK_SIZE,
	.cap = 0,
	.retain = (size_t)10 << 20,
	.huge = ASH_HUGE_DEFAULT,
};

/*
 * A shared object's .data begins anywhere in a page, behind other bytes.  The heap, the first object in
 * .data, must not lie on two pages, because the first of them would be written for the heap alone.
 */
_Alignas(IS_SO ? PAGE_LEAST : 0) /* 0: no more than the type's own alignment */
INTERNAL struct heap heap_default = {.options = &ash_defaults, .sharing = PAGES_PRIVATE};
INTERNAL const struct heap_hooks *heap_hooks;

void heap_peaks(struct heap *h, uint64_t both)
{
	heap_peak(&h->peak.used, both >> 32);
	heap_peak(&h->peak.kept, (both >> 32) + (uint32_t)both);
}

/*
 * Raises the swing by `units`, up to the larger of half of the units in use and twice the growth of use since
 * memory went.
 */
static void swing_rises(struct heap *h, uint64_t units, uint64_t used)
{
	uint64_t swing = load_relaxed(&h->swing), low = load_relaxed(&h->low), most = used / 2;

	if (used > low && 2 * (used - low) > most)
		most = 2 * (used - low);
	units += swing;
	units = units < most ? units : most;
	if (units > swing)
		store_relaxed(&h->swing, units);
}

/*
 * Memory that is taken after some was purged shows that the purge came too soon: the floor rises (retain.h).
 */
void heap_again(struct heap *h, uint64_t units)
{
	uint64_t gone = load_relaxed(&h->gone);

	if (gone == 0)
		return;
	units = units < gone ? units : gone;
	store_relaxed(&h->gone, gone - units);
	store_relaxed(&h->floor, load_relaxed(&h->floor) + 2 * units);
	swing_rises(h, 2 * units, load_relaxed(&h->used));
	store_relaxed(&h->clock, 0);
}

#define FEW 128 /* units, see heap_cleaned */

/*
 * Reuse of retained memory shows demand and begins a new period.  A few units of many do not begin a period,
 * because otherwise a program that takes one unit a period would retain all of them for ever.
 */
void heap_cleaned(struct heap *h, size_t units, size_t used)
{
	uint64_t change = used * HEAP_USED - units;
	uint64_t now = fetch_add_relaxed(&h->both, change) + change;
	uint32_t left = (uint32_t)now;
	uint64_t from = load_relaxed(&h->period_start), few = from / 64 < FEW ? from / 64 : FEW;
	uint64_t most = load_relaxed(&h->peak.used);
	bool grows = now >> 32 > most + most / 16;

	heap_peaks(h, now);
	/*
	 * Not if use exceeds its former peak by far, because the steps of a growing array are not a peak that
	 * comes again.
	 */
	if (used > units && !grows)
		heap_again(h, used - units);
	if (left >= load_relaxed(&h->period_low))
		return;
	store_relaxed(&h->period_low, left);
	if (left + few < from) {
		store_relaxed(&h->period_start, left);
		store_relaxed(&h->clock, 0);
	}
}

#define STRIDE_SLABS (sizeof(struct chunk) + CHUNK_RECORDS * sizeof(struct slab))
#define STRIDE_SPANS sizeof(struct chunk)
#define ROUND(n, to) (((n) + (to) - 1) / (to) * (to))

#define HEAD_BYTES(n)                                                                              \
	ROUND(sizeof(struct region) +                                                              \
		      (3 + 64 / ROOM_CHUNKS) * (((n) + 63) / 64) * sizeof(uint64_t) + (n),         \
	      CPU_LINE)
#define BYTES(n, slabs, remote)                                                                    \
	(HEAD_BYTES(n) +                                                                           \
	 (n) * ((slabs) ? STRIDE_SLABS + CHUNK_UNITS * (remote) : STRIDE_SPANS))

/*
 * In .bss, so that the first region of a small program costs one system call and few pages.  Its first 1.3
 * KiB are written.  Common: GNU ld puts it behind everything else, so that those 1.3 KiB share a page with
 * the C library's variables; lld would put it first, and shared objects are linked by lld.
 */
#if IS_SO
static
#else
HIDDEN __attribute__((common))
#endif
_Alignas(CPU_LINE) char ash_first_metadata[BYTES((size_t)1, true, REMOTE_STRIDE)];
static uint64_t first_metadata_used;

size_t metadata_bytes(size_t n, bool slabs, size_t remote_stride)
{
	return ROUND(BYTES(n, slabs, remote_stride), PAGE_MOST);
}

void metadata_init(struct region *r, struct region *at, struct heap *h, size_t n, bool slabs,
		   size_t remote_stride)
{
	r->heap = h;
	r->state = REGION_CLAIMED;
	r->capacity = n;
	r->metadata = BYTES(n, slabs, remote_stride);
	r->free = (uint64_t *)(void *)(at + 1);
	r->clean = r->free + bits_words(n);
	r->known = r->clean + bits_words(n);
	r->room = r->known + bits_words(n);
	r->advice = (uint8_t *)(r->room + bits_words(n) * (64 / ROOM_CHUNKS));
	r->part_words = bits_words(n); /* words of room / 8: room has eight times bits_words(n) */
	r->stride = slabs ? STRIDE_SLABS : STRIDE_SPANS;
	r->records = (char *)at + HEAD_BYTES(n);
	r->remote = slabs ? r->records + n * r->stride : NULL;
	r->remote_stride = slabs ? remote_stride : 0;
}

/*
 * Appends the region, so that the oldest region comes first: a claim then takes memory that the heap has had
 * for long, which probably is resident, before memory that the heap has just reserved.
 */
static void region_append(struct heap *h, struct region *r)
{
	struct region **end = &h->regions;
	uint64_t none;

	/* If another thread appends a region at the same time, the next attempt passes that region. */
	do {
		/* Acquire pairs with the compare-and-swap below: the other region is complete. */
		while (load_acquire(end) != NULL) {
			r->previous = load_acquire(end);
			end = &r->previous->next;
		}
		none = 0;
		/*
		 * Release pairs with region_first and region_next: the regions that these return are
		 * complete.
		 */
	} while (!cas_acq_rel((uint64_t *)(void *)end, &none, (uint64_t)(uintptr_t)r));
	if (end == &h->regions && h == &heap_default)
		panic_note_stderr();
}

/*
 * Records of one chunk without slabs are small: a page has several, so that a span in a region of its own
 * costs little.  The first record is the caller's, the others are vacant.
 */
static void metadata_share(struct region *r, struct heap *h)
{
	size_t bytes = BYTES((size_t)1, false, 0), at;

	for (at = bytes; at + bytes <= PAGE_MOST; at += bytes) {
		struct region *other = (struct region *)(void *)((char *)r + at);

		if (at % PAGE_LEAST == 0) /* would look like the first record, see metadata_unmap */
			continue;
		metadata_init(other, other, h, 1, false, 0);
		other->state = REGION_VACANT;
		region_append(h, other);
	}
}

void metadata_unmap(struct heap *h)
{
	struct region *r = region_first(h), *previous;

	while (r != NULL && region_next(r) != NULL)
		r = region_next(r);
	/* Of records that share memory the first is the oldest, and only the first begins a page. */
	for (; r != NULL; r = previous) {
		previous = r->previous;
		if ((uintptr_t)r % PAGE_LEAST == 0)
			(void)pages_release(r, metadata_bytes(r->capacity, r->remote != NULL, r->remote_stride));
	}
}

struct region *metadata_make(struct heap *h, size_t n, bool slabs)
{
	struct region *r;
	void *memory;

	for (r = region_first(h); r != NULL; r = region_next(r)) {
		uint64_t vacant = REGION_VACANT;

		/* Acquire pairs with the release of the state in region_vacate. */
		if (r->capacity >= n && r->capacity / 4 <= n && (r->remote != NULL) == slabs &&
		    load_relaxed(&r->state) == REGION_VACANT &&
		    cas_acq_rel(&r->state, &vacant, REGION_CLAIMED))
			return r;
	}
	/* One thread gets 0.  The word publishes nothing: no acquire or release pairs with it. */
	if (h == &heap_default && slabs && n == 1 &&
	    exchange_seq_cst(&first_metadata_used, 1) == 0)
		memory = ash_first_metadata;
	else
		memory = pages_reserve(metadata_bytes(n, slabs, REMOTE_STRIDE), PAGE_LEAST,
				       h == &heap_default ? PAGES_RECORDS : PAGES_PRIVATE);
	r = memory;
	if (r != NULL) {
		metadata_init(r, r, h, n, slabs, REMOTE_STRIDE);
		region_append(h, r);
		if (!slabs && n == 1)
			metadata_share(r, h);
	}
	return r;
}
