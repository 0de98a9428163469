/* SPDX-License-Identifier: MIT */
/* Making a store; and what every heap has that the program creates. */
#ifndef CORE_STORE_CREATE_H
#define CORE_STORE_CREATE_H

#include "ashlar_heap.h"
#include "store/file/store.h"

struct store_size {
	size_t chunks; /* at first                         */
	size_t limit;  /* that it may have, not fewer: see store_extend */
};

/* A store without a file; NULL: no memory, or options->address is taken. */
INTERNAL struct store *store_create(struct store_size n, const struct ash_heap_options *options);
/* The same in a file that is empty or was left half-made. */
INTERNAL struct store *store_create_file(int fd, struct store_size n,
					const struct ash_heap_options *options,
					enum ash_attach *why);

/* An id that no other heap of this process has, nor a shared heap of another process. */
INTERNAL uint64_t heap_new_id(bool shared);

/* Sets the heap's options: the program's, or the defaults, with this cap. */
INTERNAL void heap_configure(struct heap *h, size_t cap, const struct ash_heap_options *options);

#endif
