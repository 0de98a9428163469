/* SPDX-License-Identifier: MIT */
/* Printing, one write for each call, so that lines of threads and processes do not mix. */
#include "kernel.h"
#include "rt.h"
#include "syscall.h"

enum { LINE = 2048 }; /* most bytes of one call; more is truncated */

static void write_all(int fd, const char *text, size_t length)
{
	while (length > 0) {
		long n = arch_write(fd, text, length);

		if (n == -EINTR)
			continue;
		if (n <= 0)
			return; /* cannot be reported */
		text += n;
		length -= (size_t)n;
	}
}

void rt_print(const char *format, ...)
{
	char text[LINE];
	va_list list;

	va_start(list, format);
	write_all(1, text, rt_vformat(text, sizeof(text), format, list));
	va_end(list);
}

void rt_fprint(int fd, const char *format, ...)
{
	char text[LINE];
	va_list list;

	va_start(list, format);
	write_all(fd, text, rt_vformat(text, sizeof(text), format, list));
	va_end(list);
}

bool rt_is_terminal(int fd)
{
	char settings[64];

	return !KERNEL_FAILED(arch_ioctl(fd, TCGETS, settings));
}
