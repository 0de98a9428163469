/* SPDX-License-Identifier: MIT */
/* Rows of one thread. */
#include "row.h"

enum { PAIRS = 500000, BATCH = 1000, MANY = 10000, ZEROED = 1000000, OPERATIONS = 200000 };

/* ---- pairs and the batch of 1000: nothing is written, the size is a constant ---- */

#define PAIR_ROUND(size)                                                                           \
	static uint64_t pair_##size(void)                                                          \
	{                                                                                          \
		for (unsigned i = 0; i < PAIRS; i++) {                                             \
			void *p = take(size);                                                      \
                                                                                                   \
			keep(p);                                                                   \
			give(p);                                                                   \
		}                                                                                  \
		return PAIRS;                                                                      \
	}
PAIR_ROUND(16)
PAIR_ROUND(128)
PAIR_ROUND(1024)

/* ---- the first 1000 operations of a process: `make bench-cost` alone ---- */

static uint64_t cold(void)
{
	static void *block[500];

	for (unsigned i = 0; i < 500; i++) {
		block[i] = take(8 + i * 613 % 4089);
		*(volatile char *)block[i] = 1;
	}
	for (unsigned i = 0; i < 500; i++)
		give(block[i]);
	return 1000;
}

static void **blocks;
static uint32_t *order;

static uint64_t batch_1000(void)
{
	for (unsigned round = 0; round < 100; round++) {
		for (unsigned i = 0; i < BATCH; i++)
			blocks[i] = take(128);
		keep(blocks);
		for (unsigned i = 0; i < BATCH; i++)
			give(blocks[i]);
	}
	return 100 * BATCH;
}

static const char *prepare_batch(const char *file)
{
	(void)file;
	blocks = row_table(BATCH * sizeof(*blocks));
	return NULL;
}

/* ---- 10 000 blocks of 64 B, first bytes written, released in an order ---- */

static uint64_t batch_seq_cst(void)
{
	for (unsigned round = 0; round < 10; round++) {
		for (unsigned i = 0; i < MANY; i++) {
			blocks[i] = take(64);
			*(volatile char *)blocks[i] = 1;
		}
		for (unsigned i = 0; i < MANY; i++)
			give(blocks[order[i]]);
	}
	return 10 * MANY;
}

static void prepare_order(void)
{
	blocks = row_table(MANY * sizeof(*blocks));
	order = row_table(MANY * sizeof(*order));
	for (uint32_t i = 0; i < MANY; i++)
		order[i] = i;
}

static const char *prepare_fifo(const char *file)
{
	(void)file;
	prepare_order();
	return NULL;
}

static const char *prepare_lifo(const char *file)
{
	(void)file;
	prepare_order();
	for (uint32_t i = 0; i < MANY; i++)
		order[i] = MANY - 1 - i;
	return NULL;
}

static const char *prepare_shuffled(const char *file)
{
	uint64_t state = 88172645463325252u;

	(void)file;
	prepare_order();
	for (uint32_t i = MANY - 1; i > 0; i--) {
		uint32_t k = (uint32_t)(next_random(&state) >> 11) % (i + 1), t = order[i];

		order[i] = order[k];
		order[k] = t;
	}
	return NULL;
}

/* ---- random replacement ---- */

static uint32_t *sizes;
static uint64_t live, state = 88172645463325252u;

static void *fresh(uint64_t random)
{
	char *p = take(sizes[random % ROW_SIZES]);

	*(volatile char *)p = 1;
	return p;
}

static uint64_t replace(void)
{
	for (unsigned i = 0; i < OPERATIONS; i++) {
		uint64_t random = next_random(&state);
		void **p = &blocks[(random & 0xffffffff) * live >> 32];

		give(*p);
		*p = fresh(random >> 40);
	}
	return OPERATIONS;
}

static void prepare_live(unsigned count, uint32_t least, uint32_t most)
{
	live = count;
	sizes = row_table(ROW_SIZES * sizeof(*sizes));
	row_sizes(sizes, least, most);
	blocks = row_table(live * sizeof(*blocks));
	for (unsigned i = 0; i < live; i++)
		blocks[i] = fresh(next_random(&state) >> 40);
}

static const char *prepare_small(const char *file)
{
	(void)file;
	prepare_live(10000, 8, 4096);
	return NULL;
}

static const char *prepare_one_size(const char *file)
{
	(void)file;
	prepare_live(10000, 63, 64);
	return NULL;
}

static const char *prepare_large(const char *file)
{
	(void)file;
	prepare_live(1000, 8, 256 * 1024);
	return NULL;
}

/*
 * As glibc's bench-malloc-thread: 1024 live blocks of 4 B to 32 KiB, whose number falls with the square of the size
 * (half are below 8 bytes).
 */
static const char *prepare_squares(const char *file)
{
	const uint32_t least = 4, most = 32768;

	(void)file;
	live = 1024;
	sizes = row_table(ROW_SIZES * sizeof(*sizes));
	for (unsigned i = 0; i < ROW_SIZES; i++)
		sizes[i] = least * most / (most - (uint32_t)(next_random(&state) >> 48) * (most - least) / 65536);
	blocks = row_table(live * sizeof(*blocks));
	for (unsigned i = 0; i < live; i++)
		blocks[i] = fresh(next_random(&state) >> 40);
	return NULL;
}

/* ---- zeroed: a fresh process, all blocks live at the end, none written ---- */

static uint64_t zeroed_blocks(void)
{
	unsigned count = ZEROED / row_scale;

	for (unsigned i = 0; i < count; i++)
		keep(blocks[i] = take_zero(sizes[i % ROW_SIZES]));
	return count;
}

static const char *prepare_zeroed(const char *file)
{
	(void)file;
	sizes = row_table(ROW_SIZES * sizeof(*sizes));
	row_sizes(sizes, 64, 4096);
	blocks = row_table(ZEROED / row_scale * sizeof(*blocks));
	return NULL;
}

/* 100 MiB zeroed, untouched, given back: some peers clear it each time, 40 ms a round. */
static uint64_t zeroed_100m(void)
{
	for (unsigned i = 0; i < 10; i++) {
		void *p = take_zero(100 * MIB);

		keep(p);
		give(p);
	}
	return 10;
}

/* ---- no malloc at all: how much the machine does besides (tools/bench/compare) ---- */

static uint64_t quiet(void)
{
	uint64_t random = state;

	for (unsigned i = 0; i < 1000000; i++)
		(void)next_random(&random);
	keep(&random);
	return 1000000;
}

const struct row single_rows[] = {
	{"quiet", quiet, 200, false, NULL},
	{"cold", cold, 1, true, NULL},
	{"pair-16", pair_16, 100, false, NULL},
	{"pair-128", pair_128, 100, false, NULL},
	{"pair-1024", pair_1024, 100, false, NULL},
	{"batch-1000", batch_1000, 400, false, prepare_batch},
	{"batch-lifo", batch_seq_cst, 300, false, prepare_lifo},
	{"batch-fifo", batch_seq_cst, 300, false, prepare_fifo},
	{"batch-random", batch_seq_cst, 200, false, prepare_shuffled},
	{"random-64", replace, 100, false, prepare_one_size},
	{"random-4k", replace, 100, false, prepare_small},
	{"random-256k", replace, 60, false, prepare_large},
	{"live-1024", replace, 100, false, prepare_squares},
	{"zeroed-1m", zeroed_blocks, 1, true, prepare_zeroed},
	{"zeroed-100m", zeroed_100m, 2000, false, NULL},
	{NULL, NULL, 0, false, NULL},
};
