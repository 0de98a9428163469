/* SPDX-License-Identifier: MIT */
/*
 *	rows NAME [short] [exact[=1]] [FILE]	one row; prints "time" in picoseconds an operation and
 *					"peak", resident KiB without the benchmark's own tables.
 *					exact: one round and 4 more, or 1, whatever they take, for
 *					counts and stops; prints "operations" and page "faults" of those, too
 *	rows list			their names
 */
#include "row.h"

unsigned row_scale = 1;
static unsigned exact; /* rounds; 0: as many as time allows */

static const struct row *const families[] = {single_rows, operator_rows, crowd_rows, suite_rows, trace_rows};
enum { FAMILIES = sizeof(families) / sizeof(families[0]) };
#define LIMIT 800000000u /* ns */

static size_t tables;

void *row_table(size_t bytes)
{
	char *p = rt_map(bytes);

	if (p == NULL) {
		rt_print("no memory for the benchmark's tables\n");
		rt_exit(1);
	}
	/* Written, not read: reading maps the page of zeroes, which counts as nothing. */
	for (size_t at = 0; at < bytes; at += 4096)
		((volatile char *)p)[at] = 0;
	tables += (bytes + 4095) & ~(size_t)4095;
	return p;
}

/* 2^(k/64), rounded, in units of 2^-16: the steps of a log-uniform draw, without libm. */
void row_sizes(uint32_t sizes[ROW_SIZES], uint32_t least, uint32_t most)
{
	const uint64_t step = 4341736423; /* 2^(1/64) * 2^32 */
	uint64_t state = 88172645463325252u;
	uint64_t scaled;
	unsigned steps = 0, n;

	for (scaled = (uint64_t)least << 16; scaled >> 16 < most; steps++)
		scaled = (uint64_t)((unsigned __int128)scaled * step >> 32);
	for (unsigned i = 0; i < ROW_SIZES; i++) {
		uint64_t random = next_random(&state) >> 11;
		uint32_t size;

		n = (unsigned)(random % steps);
		for (scaled = (uint64_t)least << 16; n > 0; n--)
			scaled = (uint64_t)((unsigned __int128)scaled * step >> 32);
		/* Anywhere in the step. */
		size = (uint32_t)(scaled >> 16);
		size += (uint32_t)((random >> 32) % (size / 64 + 1));
		sizes[i] = size < most ? size : most;
	}
}

static const struct row *find(const char *name)
{
	for (unsigned i = 0; i < FAMILIES; i++)
		for (const struct row *row = families[i]; row->name != NULL; row++)
			if (rt_strcmp(row->name, name) == 0)
				return row;
	return NULL;
}

static void list(void)
{
	for (unsigned i = 0; i < FAMILIES; i++)
		for (const struct row *row = families[i]; row->name != NULL; row++)
			rt_print("%s\n", row->name);
}

static int run(const struct row *row, const char *file)
{
	uint64_t limit = LIMIT / row_scale * 2, done = 0, start, time = 0;
	unsigned rounds = row->rounds > row_scale ? row->rounds / row_scale : 1, i;
	const char *why = row->prepare != NULL ? row->prepare(file) : NULL;
	unsigned long faults;
	size_t peak;

	if (why != NULL) {
		rt_print("%s\n", why);
		return 1;
	}
	if (row_scale == 1)
		limit = LIMIT;
	if (exact) {
		limit = UINT64_MAX;
		rounds = exact;
	}
	rt_resident_peak_reset();
	(void)rt_now(); /* the first fault of the vdso is not the row's */
	if (!row->cold)
		(void)row->round();
	faults = rt_faults();
	start = rt_now();
	for (i = 0; i < rounds && time < limit; i++) {
		done += row->round();
		time = rt_now() - start;
	}
	faults = rt_faults() - faults;
	peak = rt_resident_peak();
	if (done == 0 || peak <= tables) {
		rt_print("no work was done\n");
		return 1;
	}
	rt_print("time %llu ps\n", (unsigned long long)(time * 1000 / done));
	rt_print("peak %llu KiB\n", (unsigned long long)(peak - tables) / 1024);
	if (exact)
		rt_print("operations %llu\nfaults %lu\n", (unsigned long long)done, faults);
	return 0;
}

int main(int argc, char **argv, char **envp)
{
	const struct row *row = argc > 1 ? find(argv[1]) : NULL;
	const char *file = "";

	(void)envp;
	if (argc > 1 && rt_strcmp(argv[1], "list") == 0) {
		list();
		return 0;
	}
	for (int i = 2; i < argc; i++) {
		if (rt_strcmp(argv[i], "short") == 0)
			row_scale = 10;
		else if (rt_strcmp(argv[i], "exact") == 0)
			exact = 4;
		else if (rt_strcmp(argv[i], "exact=1") == 0)
			exact = 1;
		else
			file = argv[i];
	}
	if (row == NULL) {
		rt_print("there is no such row\n");
		return 2;
	}
	return run(row, file);
}
