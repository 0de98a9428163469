/* SPDX-License-Identifier: MIT */
#include "store/inner/view_subject.h"

#include "syscall.h"

enum { CAPACITY = 12 << 20 };

int viewed_fd;
ash_heap *viewed_heap;
struct viewed_block viewed_block[VIEWED];
ash_heap_view *viewed;

void viewed_make(void)
{
	unsigned i;

	viewed_fd = (int)arch_memfd_create("view", 0);
	viewed_heap = NOT_NULL(ash_heap_create_file(viewed_fd, CAPACITY, NULL));
	for (i = 0; i < VIEWED; i++) {
		viewed_block[i].size = i == 7 ? (size_t)3 << 20 : i % 50 == 49 ? 40000 + i : 1 + i * 3;
		viewed_block[i].p = NOT_NULL(ash_heap_alloc(viewed_heap, viewed_block[i].size));
		memset(viewed_block[i].p, (int)i, viewed_block[i].size);
	}
	for (i = 0; i < VIEWED; i += 3) {
		ash_heap_release(viewed_heap, viewed_block[i].p);
		viewed_block[i].p = NULL;
	}
	ash_heap_set_root(viewed_heap, viewed_block[1].p);
}
