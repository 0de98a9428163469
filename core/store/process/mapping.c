/* SPDX-License-Identifier: MIT */
#include "store/process/mapping.h"

#include <stdbool.h>
#include <stddef.h>

#include "kernel.h"
#include "store/process/proc_stat.h"
#include "syscall.h"
#include "text.h"

/* The fields of the file in a line "BEGIN-END RIGHTS OFFSET DEVICE INODE NAME". */
enum { OFFSET = 2, NAME = 5 };

struct line {
	uint64_t begin, hash;
	unsigned field;
	bool begins; /* BEGIN is being read */
};

/* Returns whether the line of this address was read up to its NAME. */
static bool line_takes(struct line *l, char c, uintptr_t address)
{
	if (c == '\n')
		*l = (struct line){.begins = true};
	else if (c == '-' && l->begins)
		l->begins = false;
	else if (l->begins)
		l->begin = l->begin << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	else if (c == ' ')
		l->field++;
	else if (l->field >= OFFSET)
		l->hash = proc_stat_mix(l->hash + l->field, (unsigned char)c);
	return l->field == NAME && l->begin == address;
}

uint64_t mapping_at(uint64_t process, uint64_t thread, uintptr_t address)
{
	struct line l = {.begins = true};
	char text[512], *end = text;
	uint64_t found = MAPPING_UNKNOWN;
	long fd, n = 0, i;

	end = text_add(end, "/proc/");
	end = text_add_number(end, process, 10);
	end = text_add(end, "/task/"); /* emulators replace the contents of /proc/PID/maps */
	end = text_add_number(end, thread, 10);
	end = text_add(end, "/maps");
	*end = '\0';
	fd = arch_open(text, O_RDONLY_CLOEXEC, 0);
	if (fd < 0)
		return MAPPING_UNKNOWN;
	/* The file of a process that is ending is empty. */
	while (found <= MAPPING_NONE && (n = arch_read(fd, text, sizeof text)) > 0)
		for (found = MAPPING_NONE, i = 0; i < n && found == MAPPING_NONE; i++)
			if (line_takes(&l, text[i], address))
				found = l.hash | 2;
	(void)arch_close(fd);
	return n < 0 ? MAPPING_UNKNOWN : found;
}
