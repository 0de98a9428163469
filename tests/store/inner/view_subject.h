/* SPDX-License-Identifier: MIT */
/* A heap in a file, for tests of views: blocks of many sizes, of which each third is released. */
#ifndef TESTS_STORE_INNER_VIEW_SUBJECT_H
#define TESTS_STORE_INNER_VIEW_SUBJECT_H

#include "ashlar_heap.h"
#include "heaps/instance.h"
#include "rt.h"

enum { VIEWED = 500 };
struct viewed_block {
	char *p; /* NULL: released */
	size_t size;
	unsigned seen;
};
extern struct viewed_block viewed_block[VIEWED];
extern int viewed_fd;
extern ash_heap *viewed_heap;
extern ash_heap_view *viewed; /* a view of it, for what the tests call back */

void viewed_make(void);

#endif
