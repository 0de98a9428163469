/* SPDX-License-Identifier: MIT */
/* State of a thread of any process, from /proc/TID/task/TID/stat. */
#ifndef SYS_PROC_STAT_H
#define SYS_PROC_STAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "internal.h"

struct proc_stat {
	char state;	 /* a letter of proc_pid_stat(5)                   */
	uint64_t threads; /* of its process                                 */
	uint64_t birth;	 /* in ticks since the system started              */
	bool forked;	 /* a thread, or a child of fork, and no exec since */
	uint64_t image;	 /* of its program, see below; 0: none, or hidden  */
};

/*
 * The image is a hash of the addresses where the program's code and stack begin.
 * exec changes it if addresses are random; fork and threads keep it.  Readers that
 * ptrace would refuse see 1 and 0 instead of these addresses.
 */

/* False: no such thread, or /proc cannot be read. */
INTERNAL bool proc_stat_read(uint64_t thread, struct proc_stat *out);

/* Reads the file's first bytes, by one read; returns their number, 0 on any error. */
INTERNAL size_t proc_file_read(const char *path, char *out, size_t size);

/* Hashes b into a. */
static inline uint64_t proc_stat_mix(uint64_t a, uint64_t b)
{
	a = (a ^ b) * UINT64_C(0x9e3779b97f4a7c15);
	return a ^ a >> 32;
}

#endif
