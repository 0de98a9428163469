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

static inline bool setting_has(const char *path, const char *word)
{
	char text[64];

	return rt_read_file(path, text, sizeof(text)) > 0 && rt_strstr(text, word) != NULL;
}

/* Of any size: kernels from 6.8 on have several. */
static inline bool huge_unasked(void)
{
	char path[96];

	for (unsigned kib = 8; kib <= 2048; kib *= 2) {
		rt_format(path, sizeof(path), "/sys/kernel/mm/transparent_hugepage/hugepages-%ukB/enabled", kib);
		if (setting_has(path, "[always]"))
			return true;
	}
	return setting_has("/sys/kernel/mm/transparent_hugepage/enabled", "[always]");
}

/*
 * For tests in which only touched pages may be resident: skips where the kernel gives huge pages unasked.  Elsewhere
 * khugepaged would do so, within seconds, where the heap advises them.
 */
static inline void needs_small_pages(void)
{
	if (huge_unasked())
		rt_skip("the kernel gives huge pages unasked");
	rt_small_pages();
}

/* Large blocks are rounded up to the CPU's largest page. */
static inline void needs_pages_of_4k(void)
{
	void *p = ash_alloc(((size_t)1 << 20) + 1);
	size_t usable = ash_usable_size(p);

	ash_release(p);
	if (usable > ((size_t)1 << 20) + PAGE)
		rt_skip("pages of this CPU may have more than 4 KiB");
}

#define OVERCOMMIT "/proc/sys/vm/overcommit_memory"

/* A block that is never written whole: only a kernel that promises all it is asked for refuses it. */
static inline void *promised(void *p)
{
	if (p == NULL && setting_has(OVERCOMMIT, "2"))
		rt_skip("vm.overcommit_memory is 2: so much is not promised");
	CHECK(p != NULL);
	return p;
}

static inline void touch(unsigned char *p, size_t bytes)
{
	for (size_t i = 0; i < bytes; i += PAGE)
		p[i] = 1;
}

static inline unsigned char *filled(size_t bytes)
{
	unsigned char *p = NOT_NULL(ash_alloc(bytes));

	touch(p, bytes);
	return p;
}

#endif
