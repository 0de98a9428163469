/* SPDX-License-Identifier: MIT */
/*
 * Resource usage of the process, as Linux counts it.  Under QEMU most figures include
 * the emulator: only differences are meaningful.
 */
#include "kernel.h"
#include "rt.h"
#include "syscall.h"

void rt_small_pages(void)
{
	arch_prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
}

uint64_t rt_number_in(const char *text)
{
	uint64_t value = 0;

	while (*text != '\0' && (*text < '0' || *text > '9'))
		text++;
	for (; *text >= '0' && *text <= '9'; text++)
		value = value * 10 + (uint64_t)(*text - '0');
	return value;
}

/* Returns the number in a line of a file that counts in KiB, or 0 without such a line. */
static size_t line_bytes(const char *path, const char *name)
{
	char text[1536]; /* the Vm lines are in the first half of /proc/self/status */
	const char *line;

	if (rt_read_file(path, text, sizeof(text)) <= 0)
		return 0;
	line = rt_strstr(text, name);
	return line != NULL ? rt_number_in(line) * 1024 : 0;
}

static size_t status_bytes(const char *name)
{
	return line_bytes("/proc/self/status", name);
}

/*
 * Of the pages themselves, where the kernel walks them: statm and status are sums of counters
 * kept by CPU or by thread, which before Linux 6.17 lag by some 64 pages a CPU, more on large
 * machines.
 */
size_t rt_resident(void)
{
	size_t walked = rt_under_qemu() ? 0 : line_bytes("/proc/self/smaps_rollup", "Rss:");
	char text[128], *second;

	if (walked != 0)
		return walked;
	if (rt_read_file("/proc/self/statm", text, sizeof(text)) <= 0)
		return 0;
	second = rt_strstr(text, " ");
	return second != NULL ? rt_number_in(second) * rt_auxv(AT_PAGESZ) : 0;
}

size_t rt_anonymous(void)
{
	size_t walked = rt_under_qemu() ? 0 : line_bytes("/proc/self/smaps_rollup", "Anonymous:");

	return walked != 0 ? walked : rt_resident();
}

size_t rt_resident_slack(void)
{
	char text[64], *c;
	size_t cpus = 0, each;

	if (rt_read_file("/sys/devices/system/cpu/online", text, sizeof(text)) <= 0)
		return 0;
	/* 0-7, or 0,2-5: the last number, and one. */
	for (c = text; *c != '\0'; c++)
		if (*c >= '0' && *c <= '9')
			cpus = cpus * 10 + (size_t)(*c - '0');
		else if (*c != '\n')
			cpus = 0;
	cpus++;
	each = cpus * 2 > 32 ? cpus * 2 : 32;
	return cpus * each * rt_auxv(AT_PAGESZ);
}

size_t rt_resident_peak(void)
{
	return status_bytes("VmHWM:");
}

void rt_resident_peak_reset(void)
{
	(void)rt_write_file("/proc/self/clear_refs", "5");
}

size_t rt_address_space(void)
{
	return status_bytes("VmSize:");
}

size_t rt_data(void)
{
	return status_bytes("VmData:");
}

size_t rt_mappings(void)
{
	long fd = arch_open("/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
	char part[2048];
	size_t lines = 0;
	long n;

	if (KERNEL_FAILED(fd))
		return 0;
	while ((n = arch_read(fd, part, sizeof(part))) > 0)
		for (long i = 0; i < n; i++)
			lines += part[i] == '\n';
	arch_close(fd);
	return lines;
}

unsigned long rt_faults(void)
{
	struct rusage usage = {0};

	arch_getrusage(RUSAGE_SELF, &usage);
	return (unsigned long)usage.minor_faults;
}
