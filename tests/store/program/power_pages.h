/* SPDX-License-Identifier: MIT */
/* power.c: every version that a page of the heap's file has had, and those that the disk may have. */
#ifndef TESTS_STORE_PROGRAM_POWER_PAGES_H
#define TESTS_STORE_PROGRAM_POWER_PAGES_H

#include "rt.h"
#include "syscall.h"

enum { VERSIONS = 20000, PAGES = 1 << 17 };

struct version {
	uint32_t older; /* of the same page; 0: none, the page is zero */
	uint32_t page;
	char bytes[4096];
};

static struct rt_random dice;
static char *base; /* of the heap */
static size_t bytes;
static const char *file; /* the same file, read only */
static struct version *version;
static uint32_t versions, latest[PAGES], floor_of[PAGES], at_seal[PAGES];

static void keep(size_t page)
{
	struct version *v;

	/* Version 0 is of zeros. */
	if (memcmp(version[latest[page]].bytes, file + page * 4096, 4096) == 0)
		return;
	CHECK(++versions < VERSIONS);
	v = &version[versions];
	v->older = latest[page];
	v->page = (uint32_t)page;
	memcpy(v->bytes, file + page * 4096, 4096);
	latest[page] = versions;
}

static void keep_all(void)
{
	static unsigned char there[PAGES];
	size_t page;

	CHECK_EQ(arch_mincore((void *)(uintptr_t)file, bytes, there), 0);
	for (page = 0; page < bytes / 4096; page++)
		if ((there[page] & 1) != 0)
			keep(page);
}

/* A version of the page that the disk may have. */
static uint32_t choose(size_t page, unsigned how)
{
	uint32_t v = latest[page], n = 0, at;

	for (at = v; at != floor_of[page]; at = version[at].older)
		n++;
	n = how == 0 ? 0 : how == 1 ? n : how == 2 ? n * (uint32_t)rt_below(&dice, 2)
						   : (uint32_t)rt_below(&dice, n + 1);
	for (; n > 0; n--)
		v = version[v].older;
	return v;
}

#endif
