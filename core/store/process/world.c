/* SPDX-License-Identifier: MIT */
#include "store/process/world.h"

#include <stddef.h>

#include "kernel.h"
#include "syscall.h"

/* Returns the number in a link such as "pid:[4026531836]", or 0 if it is unknown. */
static uint64_t number_of(const char *path)
{
	char text[48];
	long n = arch_readlink(path, text, sizeof text), i;
	uint64_t number = 0;

	for (i = 0; i < n && text[i] != '['; i++)
		;
	for (i++; i < n && text[i] != ']'; i++)
		number = number * 10 + (uint64_t)(text[i] - '0');
	return number & UINT32_MAX;
}

uint64_t world_now(void)
{
	return number_of("/proc/self/ns/pid") << 32 | number_of("/proc/self/ns/time");
}

static bool is_same(uint64_t a, uint64_t b)
{
	return a == 0 || b == 0 || a == b;
}

bool world_is(uint64_t one, uint64_t other)
{
	return is_same(one >> 32, other >> 32) && is_same(one & UINT32_MAX, other & UINT32_MAX);
}

/*
 * The line NSpid of /proc/self/status lists the process's id in the namespace of that /proc and in each nested
 * namespace down to its own: only one id if both are one namespace.
 */
bool world_has_proc(void)
{
	static const char name[] = "\nNSpid:\t";
	long fd = arch_open("/proc/self/status", O_RDONLY_CLOEXEC, 0), n = 0, i;
	size_t seen = 0;
	char text[512];
	bool more = true, several = false;

	if (fd < 0)
		return false;
	while (more && (n = arch_read(fd, text, sizeof text)) > 0)
		for (i = 0; i < n && more; i++) {
			if (seen < sizeof name - 1) {
				seen = text[i] == name[seen] ? seen + 1 : text[i] == '\n';
			} else {
				several = text[i] == '\t';
				more = text[i] != '\t' && text[i] != '\n';
			}
		}
	(void)arch_close(fd);
	return n >= 0 && !several;
}
