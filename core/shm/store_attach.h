/* SPDX-License-Identifier: MIT */
/* Attaching to the store in a file. */
#ifndef CORE_STORE_ATTACH_H
#define CORE_STORE_ATTACH_H

#include "shm/store.h"

/* The store in a file; NULL: *why is the reason.  ASH_ATTACH_NO_HEAP: one may be made there. */
INTERNAL struct store *store_attach(int fd, enum ash_attach *why);

/* Makes the caller's namespaces those of the heap in the file, to which no process is attached. */
INTERNAL bool store_adopt(int fd);

#endif
