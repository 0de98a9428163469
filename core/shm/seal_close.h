/* SPDX-License-Identifier: MIT */
/* Making a heap in a file durable, and sealing it: see seal.h. */
#ifndef CORE_SEAL_CLOSE_H
#define CORE_SEAL_CLOSE_H

#include "shm/seal.h"

/* The caller has no record. */
INTERNAL enum ash_sync seal_close(struct store *s);

#endif
