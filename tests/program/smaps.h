/* SPDX-License-Identifier: MIT */
/* Huge pages: what /proc/self/smaps has of the mappings that a range lies in. */
#ifndef TESTS_PROGRAM_SMAPS_H
#define TESTS_PROGRAM_SMAPS_H

#include "support/resident.h"
#include "syscall.h"

#define HUGE_SETTING "/sys/kernel/mm/transparent_hugepage/enabled"

static inline uint64_t smaps_number(const char **at, unsigned base)
{
	uint64_t n = 0;

	for (;; (*at)++) {
		unsigned digit = **at >= 'a' ? (unsigned)(**at - 'a') + 10 : (unsigned)(**at - '0');

		if (digit >= base)
			return n;
		n = n * base + digit;
	}
}

/* flag NULL: bytes of huge pages in these mappings; else bytes of the range in those with the flag. */
static inline size_t smaps_sum(const void *p, size_t bytes, const char *flag)
{
	static char text[1 << 20];
	const char *at = text, *end;
	uint64_t from = 0, to = 0, first = (uintptr_t)p, last = first + bytes;
	size_t sum = 0;
	bool ours = false;

	CHECK(rt_read_file("/proc/self/smaps", text, sizeof(text)) > 0);
	for (; *at != 0; at = *end != 0 ? end + 1 : end) {
		const char *line = at;
		uint64_t n = smaps_number(&at, 16);

		for (end = at; *end != 0 && *end != '\n';)
			end++;
		if (*at == '-' && at > line) {
			at++;
			from = n;
			to = smaps_number(&at, 16);
			ours = from < last && to > first;
		} else if (ours && flag == NULL && rt_strstr(line, "AnonHugePages:") == line) {
			for (at = line + 14; *at == ' ';)
				at++;
			sum += smaps_number(&at, 10) * KIB;
		} else if (ours && flag != NULL && rt_strstr(line, "VmFlags:") == line) {
			const char *there = rt_strstr(line, flag);

			if (there != NULL && there < end)
				sum += (to < last ? to : last) - (from > first ? from : first);
		}
	}
	return sum;
}

static inline void needs_huge_pages(void)
{
	if (rt_under_qemu())
		rt_skip("huge pages are the emulator's business");
	if (!setting_has(HUGE_SETTING, "") || setting_has(HUGE_SETTING, "[never]"))
		rt_skip("this machine has no transparent huge pages");
	if (arch_prctl(42, 0, 0, 0, 0) != 0) /* PR_GET_THP_DISABLE */
		rt_skip("this process may have no huge pages");
}

/* With "always" huge pages come unasked, whatever was asked for. */
static inline void needs_advice(void)
{
	if (setting_has(HUGE_SETTING, "[always]"))
		rt_skip("the machine's setting is always");
}

static inline size_t huge_in(const void *p, size_t bytes)
{
	return smaps_sum(p, bytes, NULL);
}

/* So much is huge of what should be.  Where it is not: has the machine such pages at all just now? */
static inline void is_huge(size_t bytes, size_t least)
{
	const size_t huge = 2 * MIB, probe = 64 * MIB;
	size_t had;
	char *p;

	if (bytes >= least)
		return;
	p = NOT_NULL(rt_map(probe + huge));
	(void)arch_madvise(p, probe + huge, 14); /* MADV_HUGEPAGE */
	for (size_t i = 0; i < probe + huge; i += 4096)
		p[i] = 1;
	had = huge_in(p, probe + huge);
	rt_unmap(p, probe + huge);
	if (had < probe)
		rt_skip("the machine is short of huge pages, or this process may have none");
	CHECK(bytes >= least);
}

#endif
