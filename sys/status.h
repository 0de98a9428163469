/* SPDX-License-Identifier: MIT */
/* What the system tells of a thread, also of another process's: /proc/PID/task/PID/stat. */
#ifndef SYS_STATUS_H
#define SYS_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "internal.h"

struct status {
	char state;	 /* a letter of proc_pid_stat(5)                   */
	uint64_t threads; /* of its process                                 */
	uint64_t birth;	 /* in ticks since the system started              */
	bool forked;	 /* a thread, or a child of fork; exec ends that   */
	uint64_t image;	 /* of its program, see below; 0: none, or not to be seen by us */
};

/*
 * The image is where code and stack of the program begin, which exec chooses
 * anew; fork and threads share it.  Whom ptrace would not be allowed sees it as
 * 1 and 0, which are no such places.
 */

/* False: there is no such thread, or nobody may know. */
INTERNAL bool status_read(uint64_t thread, struct status *out);

/* The file's first bytes; 0: none. */
INTERNAL size_t status_file(const char *path, char *out, size_t size);

/* A number mixed into another one. */
static inline uint64_t status_mix(uint64_t a, uint64_t b)
{
	a = (a ^ b) * UINT64_C(0x9e3779b97f4a7c15);
	return a ^ a >> 32;
}

#endif
