/* SPDX-License-Identifier: MIT */
/* The kernel's struct stat on CPUs without an older structure of their own. */
#ifndef ARCH_STAT_H
#define ARCH_STAT_H

#include <stdint.h>

struct arch_stat {
	uint64_t device, inode;
	uint32_t mode, links, user, group;
	uint64_t special, unused;
	int64_t length;
	int32_t block_bytes, unused2;
	int64_t blocks;
	uint64_t accessed[2], modified[2], changed[2]; /* seconds, nanoseconds */
	int32_t rest[2];
};
_Static_assert(sizeof(struct arch_stat) == 128, "as the kernel has it");

#endif
