/* SPDX-License-Identifier: MIT */
/*
 * A row of `make bench`: rounds of equal work.  The first round is not timed (where the
 * row is warm); then as many as the row asks for, or until its time is up: slow peers do
 * fewer.  Time is that of the wall, per operation.
 */
#ifndef ROW_H
#define ROW_H

#include "host.h"
#include "random.h"

struct row {
	const char *name;
	uint64_t (*round)(void); /* returns how many operations it did */
	unsigned rounds;
	bool cold;                                /* timed from the first call of the process on */
	const char *(*prepare)(const char *file); /* untimed; why it cannot be; may be NULL */
};

extern const struct row single_rows[], operator_rows[], crowd_rows[], suite_rows[], trace_rows[]; /* the last has no name */

/* 10: short runs.  Rows that are too large for those divide by it. */
extern unsigned row_scale;

/*
 * Memory of the benchmark itself, touched, zero.  It is not counted as the row's.
 * Ends the process when there is none.
 */
void *row_table(size_t bytes);

/* As the program whose memory it were: a byte in each page, the first and the last one. */
static inline void row_write(void *p, size_t size, char value)
{
	volatile char *byte = p;

	for (size_t at = 0; at < size; at += 4096)
		byte[at] = value;
	if (size > 0)
		byte[size - 1] = value;
}

static inline void row_touch(void *p, size_t size)
{
	row_write(p, size, 1);
}

/* 4096 sizes, log-uniform: each doubling from least to most is as likely as the others. */
enum { ROW_SIZES = 4096 };
void row_sizes(uint32_t sizes[ROW_SIZES], uint32_t least, uint32_t most);

#endif
