/* SPDX-License-Identifier: MIT */
/* What the system tells of a thread, also of another process's: /proc/PID/task/PID/stat. */
#ifndef SYS_STATUS_H
#define SYS_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct status {
	char state;	 /* a letter of proc_pid_stat(5)                   */
	uint64_t threads; /* of its process                                 */
	uint64_t birth;	 /* in ticks since the system started              */
};

/* False: there is no such thread, or nobody may know. */
bool status_read(uint64_t thread, struct status *out);

/* The file's first bytes; 0: none. */
size_t status_file(const char *path, char *out, size_t size);

#endif
