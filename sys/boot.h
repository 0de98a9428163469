/* SPDX-License-Identifier: MIT */
/* Identifies the present start (boot) of the system. */
#ifndef SYS_BOOT_H
#define SYS_BOOT_H

#include <stdint.h>

#include "internal.h"

/* A hash of the kernel's boot id, not 0; 0: unknown, as /proc cannot be read. */
INTERNAL uint64_t boot_number(void);

#endif
