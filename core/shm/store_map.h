/* SPDX-License-Identifier: MIT */
/* The address of a store in a process. */
#ifndef CORE_STORE_MAP_H
#define CORE_STORE_MAP_H

#include "shm/store.h"

/* Maps the file, or fresh memory (SHARE_NO_FILE), at the address.  NULL: *why is the reason. */
INTERNAL struct store *store_map_at(int fd, size_t bytes, uintptr_t address, enum ash_attach *why);
/* Maps the file at an address that is likely to be free in other processes as well. */
INTERNAL struct store *store_map_anywhere(int fd, size_t bytes, uint64_t chance,
					  enum ash_attach *why);

/* Enters all chunks that the store may have in the map.  False: no memory for it. */
INTERNAL bool store_enter(struct store *s, size_t limit);

/* Unmaps a store, whose chunks the map knows, from this process. */
INTERNAL void store_leave(struct store *s);

#endif
