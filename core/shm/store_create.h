/* SPDX-License-Identifier: MIT */
/* Making a store. */
#ifndef CORE_STORE_CREATE_H
#define CORE_STORE_CREATE_H

#include "shm/store.h"

/* A store of n chunks without a file; NULL: no memory, or options->address is taken. */
INTERNAL struct store *store_create(size_t n, const struct ash_heap_options *options);
/* The same in a file that is empty or was left half-made. */
INTERNAL struct store *store_create_file(int fd, size_t n, const struct ash_heap_options *options,
					 enum ash_attach *why);

#endif
