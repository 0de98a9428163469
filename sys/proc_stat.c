/* SPDX-License-Identifier: MIT */
#include "proc_stat.h"

#include "kernel.h"
#include "syscall.h"
#include "text.h"

/* Fields of proc_pid_stat(5), counted from 1. */
enum {
	FIELD_STATE = 3,
	FIELD_FLAGS = 9,
	FIELD_THREADS = 20,
	FIELD_BIRTH = 22,
	FIELD_CODE = 26,
	FIELD_STACK = 28,
	FIELDS
};
enum { FORKED_AND_NO_EXEC = 0x40 }; /* PF_FORKNOEXEC, of the flags */

size_t proc_file_read(const char *path, char *out, size_t size)
{
	long fd = arch_open(path, O_RDONLY_CLOEXEC, 0), n;

	if (fd < 0)
		return 0;
	n = arch_read(fd, out, size);
	(void)arch_close(fd);
	return n < 0 ? 0 : (size_t)n;
}

/* number[]: the line's numbers by field.  False: the line has fewer fields. */
static bool fields_read(const char *text, size_t length, struct proc_stat *out, uint64_t *number)
{
	size_t at, field = FIELD_STATE - 1;

	/* The name may contain any character, also ')': it ends at the last one. */
	for (at = length; at > 0 && text[at - 1] != ')'; at--)
		;
	if (at == 0)
		return false;
	for (; at < length; at++) {
		if (text[at] == ' ') {
			if (++field == FIELDS)
				return true;
			number[field] = 0;
		} else if (field == FIELD_STATE) {
			out->state = text[at];
		} else {
			number[field] = number[field] * 10 + (uint64_t)(text[at] - '0');
		}
	}
	return false;
}

bool proc_stat_read(uint64_t thread, struct proc_stat *out)
{
	/* The fields up to FIELD_STACK: at most 64 bytes of name and 26 numbers. */
	char text[768], path[64], *end = path;
	uint64_t number[FIELDS]; /* those that are used are set if there are as many */

	/* The file in task/: emulators replace the contents of /proc/PID/stat. */
	end = text_add(end, "/proc/");
	end = text_add_number(end, thread, 10);
	end = text_add(end, "/task/");
	end = text_add_number(end, thread, 10);
	end = text_add(end, "/stat");
	*end = '\0';
	if (!fields_read(text, proc_file_read(path, text, sizeof text), out, number))
		return false;
	out->threads = number[FIELD_THREADS];
	out->birth = number[FIELD_BIRTH];
	out->forked = (number[FIELD_FLAGS] & FORKED_AND_NO_EXEC) != 0;
	out->image = 0;
	if (number[FIELD_CODE] > 1 && number[FIELD_STACK] > 1)
		out->image = proc_stat_mix(proc_stat_mix(0, number[FIELD_CODE]), number[FIELD_STACK]);
	return true;
}
