/* SPDX-License-Identifier: MIT */
#include "shm/thread_bench.h"

#include "process.h"

INTERNAL THREAD_LOCAL struct seat_page *seats_open[SEAT_KINDS];
static THREAD_LOCAL struct bench *benches[SEAT_KINDS];

static struct bench *bench_make(unsigned kind)
{
	uint64_t none = 0;
	struct bench *b = bench_take(kind);

	if (b == NULL)
		return NULL;
	/*
	 * A compare-and-swap, as a signal handler may do the same.  No other thread reads the
	 * word, so its acquire pairs with nothing.
	 */
	if (!cas_acquire((uint64_t *)(void *)&benches[kind], &none, (uint64_t)(uintptr_t)b)) {
		bench_leave(b);
		return (struct bench *)(uintptr_t)none;
	}
	if (kind != SEATS_SHARED || process_mark_is_wiped())
		seats_open[kind] = b->page;
	return b;
}

/* Empties the bench that a child has from its parent; its page is not wiped everywhere. */
static void inherited_clear(struct bench *b)
{
	struct seat_entry *e;
	size_t entries, at;
	unsigned i;

	for (i = 0; i < BENCH_PARTS && (e = bench_part(b, i, &entries)) != NULL; i++)
		for (at = 0; at < entries; at++)
			e[at] = (struct seat_entry){0};
	page_forget(b->page);
	bench_keep(b);
	signal_fence();
	process_set_mark(&b->page->mark);
}

struct bench *thread_bench(unsigned kind)
{
	struct bench *b = benches[kind];

	if (unlikely(b == NULL))
		return bench_make(kind);
	if (kind == SEATS_SHARED && unlikely(process_has_forked(&b->page->mark)))
		inherited_clear(b);
	return b;
}

struct bench *thread_bench_look(unsigned kind)
{
	return benches[kind];
}

void thread_bench_leave(void)
{
	unsigned kind;

	for (kind = 0; kind < SEAT_KINDS; kind++) {
		struct bench *b = benches[kind];

		seats_open[kind] = NULL;
		benches[kind] = NULL;
		signal_fence();
		if (b != NULL)
			bench_leave(b);
	}
}

void thread_bench_forget(void)
{
	unsigned kind;

	for (kind = 0; kind < SEAT_KINDS; kind++)
		if (benches[kind] != NULL)
			inherited_clear(benches[kind]);
}
