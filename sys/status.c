/* SPDX-License-Identifier: MIT */
#include "status.h"

#include "kernel.h"
#include "syscall.h"
#include "text.h"

/* Of proc_pid_stat(5), counted from 1. */
enum {
	FIELD_STATE = 3,
	FIELD_FLAGS = 9,
	FIELD_THREADS = 20,
	FIELD_BIRTH = 22,
	FIELD_CODE = 26,
	FIELD_STACK = 28,
	FIELDS
};
enum { FORKED_AND_NO_EXEC = 0x40 }; /* of the flags */

size_t status_file(const char *path, char *out, size_t size)
{
	long fd = arch_open(path, O_RDONLY_CLOEXEC, 0), n;

	if (fd < 0)
		return 0;
	n = arch_read(fd, out, size);
	(void)arch_close(fd);
	return n < 0 ? 0 : (size_t)n;
}

/* The numbers of the line, by their fields; false: it has less. */
static bool fields_read(const char *text, size_t length, struct status *out, uint64_t *number)
{
	size_t at, field = FIELD_STATE - 1;

	/* The name may hold anything, also parentheses: its end is the last one. */
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

bool status_read(uint64_t thread, struct status *out)
{
	/* At most 64 bytes of name and 27 numbers. */
	char text[768], path[64], *end = path;
	uint64_t number[FIELDS] = {0};

	/* By way of task: emulators replace what stands in the process's own file. */
	end = text_add(end, "/proc/");
	end = text_add_number(end, thread, 10);
	end = text_add(end, "/task/");
	end = text_add_number(end, thread, 10);
	end = text_add(end, "/stat");
	*end = '\0';
	if (!fields_read(text, status_file(path, text, sizeof text), out, number))
		return false;
	out->threads = number[FIELD_THREADS];
	out->birth = number[FIELD_BIRTH];
	out->forked = (number[FIELD_FLAGS] & FORKED_AND_NO_EXEC) != 0;
	out->image = 0;
	if (number[FIELD_CODE] > 1 && number[FIELD_STACK] > 1)
		out->image = status_mix(status_mix(0, number[FIELD_CODE]), number[FIELD_STACK]);
	return true;
}
