/* SPDX-License-Identifier: MIT */
#include "store/process/proc_stat.h"

#include "kernel.h"
#include "syscall.h"
#include "text.h"

size_t proc_file_read(const char *path, char *out, size_t size)
{
	long fd = arch_open(path, O_RDONLY_CLOEXEC, 0), n;

	if (fd < 0)
		return 0;
	n = arch_read(fd, out, size);
	(void)arch_close(fd);
	return n < 0 ? 0 : (size_t)n;
}

/* Returns false if the line has fewer fields. */
static bool fields_read(const char *text, size_t length, uint64_t *number)
{
	size_t at, field = PROC_STATE - 1;

	/* The name may contain any character, also ')': the last ')' ends it. */
	for (at = length; at > 0 && text[at - 1] != ')'; at--)
		;
	if (at == 0)
		return false;
	for (; at < length; at++) {
		if (text[at] == ' ') {
			if (++field == PROC_FIELDS)
				return true;
			number[field] = 0;
		} else {
			number[field] = number[field] * 10 + (uint64_t)(text[at] - '0');
		}
	}
	return false;
}

bool proc_stat_read(uint64_t thread, struct proc_stat *out)
{
	/* The fields up to PROC_STACK: at most 64 bytes of name and 26 numbers. */
	char text[768], path[64], *end = path;

	/* Reads the file in task/, because emulators replace the contents of /proc/PID/stat. */
	end = text_add(end, "/proc/");
	end = text_add_number(end, thread, 10);
	end = text_add(end, "/task/");
	end = text_add_number(end, thread, 10);
	end = text_add(end, "/stat");
	*end = '\0';
	return fields_read(text, proc_file_read(path, text, sizeof text), out->number);
}
