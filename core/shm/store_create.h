/* SPDX-License-Identifier: MIT */
/* Making a store. */
#ifndef CORE_STORE_CREATE_H
#define CORE_STORE_CREATE_H

#include "shm/store.h"

struct store_size {
	size_t chunks; /* at first                         */
	size_t limit;  /* that it may have, not fewer: see store_extend.h */
};

/* A store without a file; NULL: no memory, or options->address is taken. */
INTERNAL struct store *store_create(struct store_size n, const struct ash_heap_options *options);
/* The same in a file that is empty or was left half-made. */
INTERNAL struct store *store_create_file(int fd, struct store_size n,
					const struct ash_heap_options *options,
					enum ash_attach *why);

#endif
