/* SPDX-License-Identifier: MIT */
#include "status.h"

#include "syscall.h"
#include "text.h"

enum { O_RDONLY_CLOEXEC = 02000000 };

/* Of proc_pid_stat(5), counted from 1. */
enum { FIELD_STATE = 3, FIELD_THREADS = 20, FIELD_BIRTH = 22 };

size_t status_file(const char *path, char *out, size_t size)
{
	long fd = arch_open(path, O_RDONLY_CLOEXEC, 0), n;

	if (fd < 0)
		return 0;
	n = arch_read(fd, out, size);
	(void)arch_close(fd);
	return n < 0 ? 0 : (size_t)n;
}

bool status_read(uint64_t thread, struct status *out)
{
	/* The first 22 fields: at most 64 bytes of name and 20 numbers. */
	char text[512], path[64], *end = path;
	size_t n, at, field = 2;
	uint64_t number = 0;

	/* By way of task: emulators replace what stands in the process's own file. */
	end = text_add(end, "/proc/");
	end = text_add_number(end, thread, 10);
	end = text_add(end, "/task/");
	end = text_add_number(end, thread, 10);
	end = text_add(end, "/stat");
	*end = '\0';
	n = status_file(path, text, sizeof text);
	/* The name may hold anything, also parentheses: its end is the last one. */
	for (at = n; at > 0 && text[at - 1] != ')'; at--)
		;
	if (at == 0)
		return false;
	for (; at < n; at++) {
		if (text[at] == ' ') {
			if (field == FIELD_THREADS)
				out->threads = number;
			if (field == FIELD_BIRTH) {
				out->birth = number;
				return true;
			}
			field++;
			number = 0;
		} else if (field == FIELD_STATE) {
			out->state = text[at];
		} else {
			number = number * 10 + (uint64_t)(text[at] - '0');
		}
	}
	return false;
}
