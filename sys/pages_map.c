/* SPDX-License-Identifier: MIT */
/* Takes address space from the system and returns it. */
#include "atomic.h"
#include "back.h"
#include "kernel.h"
#include "pages.h"
#include "place.h"
#include "syscall.h"

/* Maps memory at `at` if that is free, or anywhere if `at` is NULL.  flags: MAP_FIXED_NOREPLACE for only there, or 0. */
static void *map_at(void *at, size_t bytes, long access, enum sharing sharing, long flags)
{
	static const unsigned short kinds[PAGES_PROMISED + 1] = {
		[PAGES_PRIVATE] = MAP_PRIVATE | MAP_NORESERVE, [PAGES_SHARED] = MAP_SHARED | MAP_NORESERVE,
		[PAGES_RECORDS] = MAP_PRIVATE | MAP_NORESERVE, [PAGES_PROMISED] = MAP_PRIVATE,
	};
	long r = arch_mmap(at, bytes, access, flags | MAP_ANONYMOUS | kinds[sharing], -1, 0);

	/* Any error counts, because a filter of system calls may return any. */
	if (r < 0 && r >= -4095)
		return NULL;
	return (void *)r; /* NOLINT: the kernel's word is an address */
}

/*
 * Kernels of riscv64 before 6.6 with 57 bits of address first return addresses that the address map does not cover,
 * unless the call wishes for another address.  `low` is a hint: the place where the last such wish was met.
 */
static void *map_below(size_t bytes, long access, enum sharing sharing)
{
	enum { WISHES = 64 };
	static uint64_t low;
	const uint64_t top = (uint64_t)1 << (CPU_ADDRESS_BITS - 1);
	uint64_t at = load_relaxed(&low);
	void *p;
	unsigned i;

	for (i = 0; i < WISHES && bytes <= top; i++) {
		at = (at > bytes ? at : top) - bytes;
		at &= ~(uint64_t)(PAGE_HUGE - 1);
		p = map_at((void *)at, bytes, access, sharing, 0); /* NOLINT: an address */
		if (p == NULL)
			return NULL;
		if (((uintptr_t)p + bytes - 1) >> CPU_ADDRESS_BITS == 0) {
			store_relaxed(&low, (uintptr_t)p);
			return p;
		}
		(void)pages_release(p, bytes);
	}
	return NULL;
}

static void *map(void *at, size_t bytes, long access, enum sharing sharing)
{
	void *p = map_at(at, bytes, access, sharing, 0);

	if (!CPU_ADDRESSES_BEYOND || p == NULL || ((uintptr_t)p + bytes - 1) >> CPU_ADDRESS_BITS == 0)
		return p;
	(void)pages_release(p, bytes);
	return map_below(bytes, access, sharing);
}

/* Unmaps a whole mapping (`all`) or its end. */
static inline bool unmap(void *p, size_t bytes, bool all)
{
	if (back_munmap(p, bytes) != 0)
		return false;
	place_leave(p, bytes, all);
	return true;
}

bool pages_cut(void *p, size_t bytes)
{
	return unmap(p, bytes, false);
}

bool pages_grow(void *p, size_t bytes, size_t larger, enum sharing sharing)
{
	char *end = (char *)p + bytes, *more;

	if (!place_extend(end, larger - bytes))
		return false; /* there are neighbours */
	if (arch_mremap(p, bytes, larger, 0, NULL) == (long)p)
		return true;
	/*
	 * mremap does not extend a range of several mappings, which moves and advice leave: map another one behind
	 * them.  It must not be elsewhere, because locked memory (mlockall) would become resident.  Kernels before
	 * 4.17 do not know that flag.
	 */
	more = map_at(end, larger - bytes, PROT_READ_WRITE, sharing, MAP_FIXED_NOREPLACE);
	if (more != NULL && more != end)
		(void)pages_release(more, larger - bytes);
	if (more != end)
		place_leave(end, larger - bytes, false);
	return more == end;
}

bool pages_may_cut(void)
{
	return true;
}

/* Inlined, because that saves a function in the unwind tables. */
static inline __attribute__((always_inline)) bool is_left(size_t bytes, long access, enum sharing sharing)
{
	void *p = map(NULL, bytes, access, sharing);

	return p != NULL && pages_release(p, bytes);
}

bool pages_left(size_t bytes, bool addresses_only)
{
	if (!addresses_only && is_left(bytes, PROT_READ_WRITE, PAGES_PRIVATE))
		return true;
	/* Shared memory is not data, but is promised; memory without access is neither. */
	return is_left(bytes, PROT_NO_ACCESS, PAGES_PRIVATE) && (addresses_only || !is_left(bytes, PROT_READ_WRITE, PAGES_SHARED));
}

/* The place to wish for if the kernel would not align: below the last such mapping (a hint).  0 means anywhere. */
static uint64_t last_aligned;

static uint64_t place(size_t bytes, size_t alignment)
{
	uint64_t at = load_relaxed(&last_aligned);

	if (bytes % PAGE_HUGE == 0 || alignment <= PAGE_MOST || at < bytes)
		return 0;
	return (at - bytes) & ~(uint64_t)(alignment - 1);
}

static void placed(const char *p)
{
	store_relaxed(&last_aligned, (uintptr_t)p);
}

bool pages_release(void *p, size_t bytes)
{
	/* The next mapping may lie there, because each lower place would need leaves of the map of its own. */
	if (load_relaxed(&last_aligned) == (uintptr_t)p)
		placed((char *)p + ((bytes + PAGE_HUGE - 1) & ~(PAGE_HUGE - 1)));
	return unmap(p, bytes, true);
}

void *pages_reserve(size_t bytes, size_t alignment, enum sharing sharing)
{
	uint64_t at = place_for(bytes, place(bytes, alignment));
	char *p, *aligned;
	size_t head, tail;
	unsigned tries;

	p = map((void *)at, bytes, PROT_READ_WRITE, sharing); /* NOLINT: an address */
	for (tries = 0; p != NULL && tries < 8 && place_is_bad(p, at, bytes); tries++) {
		(void)pages_release(p, bytes); /* other memory is at that place, which stays taken */
		at = place_for(bytes, at);
		p = map((void *)at, bytes, PROT_READ_WRITE, sharing); /* NOLINT: an address */
	}
	if (p == NULL) {
		if (at != 0)
			place_leave((char *)at, bytes, true); /* NOLINT: an address */
		return NULL;
	}
	if (((uintptr_t)p & (alignment - 1)) == 0) {
		if (at != 0)
			placed(p);
		return p;
	}
	/*
	 * Linux aligns a private mapping of whole huge pages to a huge page.  So this is needed only under QEMU, for
	 * shared memory, for larger alignments and the first time for other lengths: map more and cut off both ends.
	 */
	(void)pages_release(p, bytes);
	if (bytes > (size_t)PTRDIFF_MAX - alignment)
		return NULL;
	/* If the page size is unknown, addresses are multiples of PAGE_LEAST only. */
	p = map(NULL, bytes + alignment - PAGE_LEAST, PROT_READ_WRITE, sharing);
	if (p == NULL)
		return NULL;
	aligned = (char *)(((uintptr_t)p + alignment - 1) & ~(uintptr_t)(alignment - 1));
	head = (size_t)(aligned - p);
	tail = alignment - PAGE_LEAST - head;
	/* An end that cannot be unmapped (limit of mappings) stays, untouched. */
	if (head > 0)
		(void)pages_release(p, head);
	if (tail > 0)
		(void)pages_release(aligned + bytes, tail);
	placed(aligned);
	return aligned;
}
