/* SPDX-License-Identifier: MIT */
/* pages.h by a program's own system (ashlar_system.h). */
#include "pages.h"

#include <stdint.h>

#include "ashlar_system.h"
#include "memory.h"

#if CPU_PAGE_SHIFT != CPU_PAGE_SHIFT_MOST
size_t pages_size(void)
{
	return PAGE_MOST;
}
#endif

void *pages_reserve(size_t bytes, size_t alignment, enum sharing sharing)
{
	/* Memory that processes share is none of these. */
	if (sharing != PAGES_PRIVATE)
		return NULL;
	return ash_system_map(bytes, alignment < PAGE_MOST ? PAGE_MOST : alignment);
}

bool pages_release(void *p, size_t bytes)
{
	return ash_system_unmap(p, bytes);
}

bool pages_purge(void *p, size_t bytes, enum sharing sharing)
{
	return sharing == PAGES_PRIVATE && ash_system_purge(p, bytes);
}

void pages_zero(void *p, size_t bytes, enum sharing sharing)
{
	if (!pages_purge(p, bytes, sharing))
		memset(p, 0, bytes);
}

bool pages_remap(void *from, void *to, size_t bytes)
{
	(void)from, (void)to, (void)bytes;
	return false;
}

void pages_move(void *from, void *to, size_t bytes)
{
	memcpy(to, from, bytes);
}

bool pages_grow(void *p, size_t bytes, size_t larger)
{
	(void)p, (void)bytes, (void)larger;
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

bool pages_huge_unasked(void)
{
	return false;
}

/* All memory counts as resident, so little is reserved ahead. */

size_t pages_count(void *p, size_t bytes)
{
	(void)p;
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
