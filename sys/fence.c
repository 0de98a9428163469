/* SPDX-License-Identifier: MIT */
#include "fence.h"

#include "chance.h"
#include "kernel.h"
#include "pages.h"
#include "syscall.h"

/*
 * Places are in a window, which is somewhere else in each process: each GiB in use takes a page of the
 * chunk map, and so many of its leaves stay.
 */
#define WINDOW_SHIFT 35 /* 32 GiB */

uint64_t fence_place(void)
{
	uint64_t window = chance_mix(chance_secret()) >> (64 - (CPU_ADDRESS_BITS - 1 - WINDOW_SHIFT));

	return (window << WINDOW_SHIFT) + (chance() >> (64 - WINDOW_SHIFT) & ~(uint64_t)(PAGE_HUGE - 1));
}

bool fence_has_neighbours(const char *p, size_t bytes)
{
	return pages_mapped(p - PAGE_SIZE) || pages_mapped(p + bytes);
}

bool fence_set(void *p, size_t bytes, bool fenced)
{
	/* The kernel would round up to its pages, where these are larger than a unit of a slab. */
	if ((((uintptr_t)p | bytes) & (PAGE_SIZE - 1)) != 0)
		return !fenced;
	return arch_mprotect(p, bytes, fenced ? PROT_NO_ACCESS : PROT_READ_WRITE) == 0;
}
