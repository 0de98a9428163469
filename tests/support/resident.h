/* SPDX-License-Identifier: MIT */
/* Blocks whose pages are there, and whether resident memory tells anything. */
#ifndef TESTS_SUPPORT_RESIDENT_H
#define TESTS_SUPPORT_RESIDENT_H

#include "ashlar.h"
#include "rt.h"

#define PAGE ((size_t)4096)

/* Under QEMU resident memory is the emulator's: the code runs, the figures are not looked at. */
static inline bool figures(void)
{
	return !rt_under_qemu();
}

static inline size_t scaled(size_t natively, size_t under_qemu)
{
	return rt_under_qemu() ? under_qemu : natively;
}

static inline void touch(unsigned char *p, size_t bytes)
{
	for (size_t i = 0; i < bytes; i += PAGE)
		p[i] = 1;
}

static inline unsigned char *filled(size_t bytes)
{
	unsigned char *p = ash_alloc(bytes);

	CHECK(p != NULL);
	touch(p, bytes);
	return p;
}

#endif
