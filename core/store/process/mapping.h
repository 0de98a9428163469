/* SPDX-License-Identifier: MIT */
/* Finds the file that a thread has mapped at an address, from /proc/PID/task/TID/maps. */
#ifndef CORE_MAPPING_H
#define CORE_MAPPING_H

#include <stdint.h>

#include "internal.h"

#define MAPPING_UNKNOWN ((uint64_t)0) /* the thread has ended, or /proc may not be read */
#define MAPPING_NONE	((uint64_t)1) /* no mapping begins there                        */

/*
 * Returns a hash of the file whose mapping begins at the address.  Hashes are equal only for one file, in processes
 * that read the same /proc.  `process` is the thread's process, or the thread again.
 */
INTERNAL uint64_t mapping_at(uint64_t process, uint64_t thread, uintptr_t address);

#endif
