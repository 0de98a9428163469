/* SPDX-License-Identifier: MIT */
/* The part of the system calls that differs by CPU; the calls are in generic/calls.h. */
#ifndef ARCH_SYSCALL_H
#define ARCH_SYSCALL_H

#include "host.h"
#ifdef ARCH_X86_64

#include <stdint.h>

/* struct stat of the kernel on this CPU. */
struct arch_stat {
	uint64_t device, inode, links;
	uint32_t mode, user, group, unused;
	uint64_t special;
	int64_t length, block_bytes, blocks;
	uint64_t accessed[2], modified[2], changed[2]; /* seconds, nanoseconds */
	int64_t rest[3];
};
_Static_assert(sizeof(struct arch_stat) == 144, "as the kernel has it");

#include "../generic/calls.h"

#endif
#endif
