/* SPDX-License-Identifier: MIT */
/*
 * Rows after programs that the field's suites have: numbers and sets that are blocks, large
 * buffers, changed sizes, blocks that other threads release.
 */
#include <stdatomic.h>

#include "crowd.h"
#include "suite.h"

/* ---- large buffers, of 5 to 25 MB, each page written; with zeros, as by memset or std::vector<char>(n) ---- */

enum { BUFFERS = 8, BUFFER_ROUNDS = 20 };

static void *blocks[2000];
static uint64_t state = 88172645463325252u;

static uint64_t write_buffers(char value)
{
	for (unsigned i = 0; i < BUFFER_ROUNDS; i++) {
		uint64_t random = next_random(&state);
		size_t size = 5000000 + (random >> 20) % 20000000;
		void **p = &blocks[random % BUFFERS];

		give(*p);
		*p = take(size);
		row_write(*p, size, value);
	}
	return BUFFER_ROUNDS;
}

static uint64_t buffers(void)
{
	return write_buffers(1);
}

static uint64_t buffers_zero(void)
{
	return write_buffers(0);
}

/* ---- a mix: replaced, changed and zeroed blocks of 8 bytes to 8 KiB ---- */

enum { MIX_LIVE = 2000, MIX = 100000 };

static uint64_t mix(void)
{
	static uint32_t sizes[ROW_SIZES];

	if (sizes[0] == 0)
		row_sizes(sizes, 8, 8192);
	for (unsigned i = 0; i < MIX; i++) {
		uint64_t random = next_random(&state);
		void **p = &blocks[(random >> 8) % MIX_LIVE];
		size_t size = sizes[(random >> 40) % ROW_SIZES];

		if (*p != NULL && (random & 1) != 0) {
			*p = change(*p, size);
		} else {
			give(*p);
			*p = (random & 6) != 0 ? take(size) : take_zero(size);
		}
		*(volatile char *)*p = 1;
	}
	return MIX;
}

/* ---- handed over: two threads allocate batches of many sizes, two others release them ---- */

enum { HANDED = 4000, HAND = 120, TRAYS = 16 };

enum tray_state { EMPTY, FILLING, FULL, EMPTYING };
static struct {
	_Alignas(LINE) _Atomic int state;
	void *block[HAND];
} trays[TRAYS];
static _Atomic unsigned to_fill, to_empty;

static unsigned tray_get(int is, int becomes, unsigned from)
{
	for (unsigned waits = 0;; wait_some(&waits))
		for (unsigned i = 0; i < TRAYS; i++) {
			unsigned k = (from + i) % TRAYS;
			int was = is;

			if (atomic_compare_exchange_strong_explicit(&trays[k].state, &was, becomes,
								    memory_order_acquire,
								    memory_order_relaxed))
				return k;
		}
}

static void fill_trays(struct worker *w)
{
	while (atomic_fetch_add(&to_fill, 1) < HANDED) {
		uint64_t random = next_random(&w->state);
		unsigned k = tray_get(EMPTY, FILLING, (unsigned)(random >> 50));

		for (unsigned i = 0; i < HAND; i++) {
			trays[k].block[i] = take(8 + (random + i * 37) % 505);
			*(volatile char *)trays[k].block[i] = 1;
		}
		atomic_store_explicit(&trays[k].state, FULL, memory_order_release);
	}
}

static void empty_trays(struct worker *w)
{
	while (atomic_fetch_add(&to_empty, 1) < HANDED) {
		unsigned k = tray_get(FULL, EMPTYING, (unsigned)(next_random(&w->state) >> 50));

		for (unsigned i = 0; i < HAND; i++)
			give(trays[k].block[i]);
		atomic_store_explicit(&trays[k].state, EMPTY, memory_order_release);
	}
}

static void hand_over_body(void *argument)
{
	struct worker *w = argument;

	if (w->number % 2 == 0)
		fill_trays(w);
	else
		empty_trays(w);
}

static uint64_t hand_over(void)
{
	to_fill = to_empty = 0;
	together(CROWD, hand_over_body);
	return (uint64_t)HANDED * HAND;
}

/* ---- left behind: threads end, and the main thread releases their blocks ---- */

enum { LEFT = 1000, LEAVERS = 20 };

static void leave_body(void *argument)
{
	struct worker *w = argument;

	for (unsigned i = 0; i < LEFT; i++) {
		w->blocks[i] = take(16 + next_random(&w->state) % 1009);
		*(volatile char *)w->blocks[i] = 1;
	}
}

static uint64_t left_behind(void)
{
	for (unsigned n = 0; n < LEAVERS; n++) {
		together(TWO, leave_body);
		for (unsigned t = 0; t < TWO; t++)
			for (unsigned i = 0; i < LEFT; i++)
				give(workers[t].blocks[i]);
	}
	return (uint64_t)LEAVERS * TWO * LEFT;
}

static const char *prepare_hand_over(const char *file)
{
	(void)file;
	prepare_workers(0);
	return NULL;
}

static const char *prepare_left(const char *file)
{
	(void)file;
	prepare_workers(LEFT);
	return NULL;
}

const struct row suite_rows[] = {
	{"numbers", suite_numbers, 100, false, NULL},
	{"sets", suite_sets, 300, false, NULL},
	{"buffers", buffers, 40, false, NULL},
	{"buffers-zero", buffers_zero, 40, false, NULL},
	{"mix", mix, 60, false, NULL},
	{"hand-over", hand_over, 10, false, prepare_hand_over},
	{"left-behind", left_behind, 20, false, prepare_left},
	{NULL, NULL, 0, false, NULL},
};
