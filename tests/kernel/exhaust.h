/* SPDX-License-Identifier: MIT */
/* The first process takes memory until there is none (init.c: exhaust). */
#ifndef TESTS_KERNEL_EXHAUST_H
#define TESTS_KERNEL_EXHAUST_H

#include "ashlar.h"
#include "rt.h"

static inline size_t take_all(size_t size)
{
	void **last = NULL, **p;
	size_t n = 0;

	while ((p = ash_alloc(size)) != NULL) {
		for (size_t i = 0; i < size / sizeof(*p); i += 512)
			p[i] = p;
		*p = (void *)last;
		last = p;
		n++;
	}
	for (; last != NULL; last = p) {
		p = (void **)*last;
		for (size_t i = 512; i < size / sizeof(*p); i += 512)
			n = last[i] == last ? n : 0;
		ash_release(last);
	}
	return n * size;
}

/* Its heap is whole afterwards, and serves again. */
static inline bool exhausted(void)
{
	size_t first = take_all(3000), others = take_all(300000), again = take_all(3000);

	rt_print("     the first process had %zu MiB until NULL, then %zu of other blocks, then %zu\n", first / MIB,
		 others / MIB, again / MIB);
	return first >= 64 * MIB && others >= first / 2 && again >= first / 10 * 9 && ash_check() == 0;
}

#endif
