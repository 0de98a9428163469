/* SPDX-License-Identifier: MIT */
#include "boot.h"

#include <stddef.h>

#include "atomic.h"
#include "proc_stat.h"

uint64_t boot_number(void)
{
	static uint64_t known; /* every thread computes the same value */
	uint64_t n = load_relaxed(&known);
	char text[36]; /* 8-4-4-4-12 hexadecimal digits */
	size_t length, i;

	if (n != 0)
		return n;
	length = proc_file_read("/proc/sys/kernel/random/boot_id", text, sizeof text);
	for (i = 0; i < length; i++)
		n = proc_stat_mix(n, (unsigned char)text[i]);
	if (length > 0 && n == 0)
		n = 1;
	store_relaxed(&known, n);
	return n;
}
