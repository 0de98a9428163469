/* SPDX-License-Identifier: MIT */
/* pages.h for a program's own system (ashlar_system.h). */
#include "pages.h"

#include <stdint.h>

#include "ashlar_system.h"
#include "atomic.h"
#include "memory.h"

size_t pages_size(void)
{
	return PAGE_MOST;
}

/*
 * Records are cut off a piece of PAGE_HUGE, aligned to that: in a system with consecutive addresses, each record
 * between two chunks would otherwise cost a gap as large as a chunk.
 */
static uint64_t piece; /* its next unused byte; a multiple of PAGE_HUGE if there is no piece */

static void *record(size_t bytes)
{
	uint64_t at = load_relaxed(&piece), next;
	char *fresh;

	/* These bounds publish nothing, because the memory reads zero: the acquires pair with nothing. */
	while (at % PAGE_HUGE != 0 && PAGE_HUGE - at % PAGE_HUGE >= bytes)
		if (cas_acquire(&piece, &at, at + bytes))
			return (void *)at; /* NOLINT: an address */
	fresh = bytes > PAGE_HUGE / 2 ? NULL : ash_system_map(PAGE_HUGE, PAGE_HUGE);
	if (fresh == NULL)
		return ash_system_map(bytes, PAGE_MOST);
	next = (uintptr_t)fresh + bytes;
	/* If another thread was first, this piece serves only one record; the end of the other piece may be lost. */
	(void)cas_acquire(&piece, &at, next);
	return fresh;
}

void *pages_reserve(size_t bytes, size_t alignment, enum sharing sharing)
{
	/* Memory that processes share is of neither kind. */
	if (sharing == PAGES_RECORDS && alignment <= PAGE_MOST)
		return record(bytes);
	if (sharing != PAGES_PRIVATE && sharing != PAGES_PROMISED)
		return NULL;
	return ash_system_map(bytes, alignment < PAGE_MOST ? PAGE_MOST : alignment);
}

bool pages_release(void *p, size_t bytes)
{
	return ash_system_unmap(p, bytes);
}

bool pages_cut(void *p, size_t bytes)
{
	(void)p, (void)bytes;
	return false;
}

bool pages_may_cut(void)
{
	return false;
}

bool pages_left(size_t bytes, bool addresses_only)
{
	(void)bytes, (void)addresses_only;
	return true;
}

bool pages_purge(void *p, size_t bytes, enum sharing sharing)
{
	return sharing == PAGES_PRIVATE && ash_system_purge(p, bytes);
}

bool pages_zeroes(const void *page)
{
	(void)page;
	return false;
}

bool pages_hollow(char *p, size_t bytes, enum sharing sharing)
{
	(void)p, (void)bytes, (void)sharing;
	return true;
}

void pages_clear(void *p, size_t bytes, bool hollow, enum sharing sharing)
{
	if (!hollow || !pages_purge(p, bytes, sharing))
		memset(p, 0, bytes);
}

enum moved pages_remap(void *from, void *to, size_t bytes)
{
	(void)from, (void)to, (void)bytes;
	return PAGES_STAYED;
}

enum moved pages_move(void *from, void *to, size_t bytes)
{
	memcpy(to, from, bytes);
	return PAGES_STAYED;
}

bool pages_grow(void *p, size_t bytes, size_t larger, enum sharing sharing)
{
	(void)p, (void)bytes, (void)larger, (void)sharing;
	return false;
}

bool pages_commit(void *p, size_t bytes)
{
	(void)p, (void)bytes;
	return false;
}

bool pages_huge(void *p, size_t bytes, bool wanted)
{
	(void)p, (void)bytes, (void)wanted;
	return false;
}

/* All memory counts as resident, so little is reserved ahead. */

size_t pages_written(void *p, size_t bytes, enum sharing sharing)
{
	(void)p, (void)sharing;
	return bytes;
}

bool pages_there(void *page)
{
	(void)page;
	return true;
}

bool pages_mapped(const void *p)
{
	(void)p;
	return true;
}

bool pages_are_locked(void)
{
	return true;
}
