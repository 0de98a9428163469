/* SPDX-License-Identifier: MIT */
#include "small/space.h"

#include "ashlar.h"
#include "atomic.h"
#include "panic.h"

/* Weak: a program may define its own ash_defaults. */
__attribute__((weak)) const struct ash_defaults ash_defaults = {0};

static uintptr_t mapped;

/* Counts bytes before they are mapped, because otherwise two threads could together exceed the cap. */
static bool space_count(size_t bytes)
{
	/* Relaxed: the word is a sum.  A cap of 0 means no cap. */
	if (fetch_add_relaxed(&mapped, bytes) + bytes - 1 <= ash_defaults.cap - 1)
		return true;
	(void)fetch_add_relaxed(&mapped, 0 - bytes);
	return false;
}

void *space_map(size_t bytes, size_t alignment, bool promised)
{
	static bool noted;
	void *p = NULL;

	if (!load_relaxed(&noted)) { /* two threads may both do it: neither has memory yet */
		store_relaxed(&noted, true);
		panic_note_stderr();
	}
	if (space_count(bytes) && (p = pages_reserve(bytes, alignment, promised ? PAGES_PROMISED : PAGES_PRIVATE)) == NULL)
		(void)fetch_add_relaxed(&mapped, 0 - bytes);
	return p;
}

bool space_grow(void *p, size_t bytes, size_t larger)
{
	if (!space_count(larger - bytes))
		return false;
	if (pages_grow(p, bytes, larger, PAGES_PRIVATE))
		return true;
	(void)fetch_add_relaxed(&mapped, bytes - larger);
	return false;
}

bool space_unmap(void *p, size_t bytes, bool whole)
{
	if (!(whole ? pages_release(p, bytes) : pages_cut(p, bytes)))
		return false;
	(void)fetch_add_relaxed(&mapped, 0 - bytes);
	return true;
}

size_t space_bytes(void)
{
	return load_relaxed(&mapped);
}
