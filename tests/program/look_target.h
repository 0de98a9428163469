/* SPDX-License-Identifier: MIT */
/*
 * Programs to be looked at.  Each is a child that keeps a book of what it has, in memory
 * that is shared with the test.
 */
#ifndef TESTS_PROGRAM_LOOK_TARGET_H
#define TESTS_PROGRAM_LOOK_TARGET_H

#include "ashlar.h"
#include "program/look_run.h"
#include "slab/look.h"

#include "diagnostics/blocks.h"

struct book {
	_Atomic int ready, go, done;
	size_t taken[CLASSES], released[CLASSES], spans, span_bytes;
	/* By a walk in the process itself. */
	size_t slabs[CLASSES], slots[CLASSES];
	struct ash_statistics stats;
	void *block; /* one of them, and its size */
	size_t size, from; /* from: its size before */
	uint64_t operations;
	int fault;
};

static struct book *book;

static void book_make(void)
{
	book = NOT_NULL(rt_map_shared(sizeof *book));
}

static inline void book_walk(void)
{
	struct walk w = walk_from(&heap_default);
	struct slab *s;

	while ((s = walk_next(&w)) != NULL) {
		book->slabs[s->class]++;
		book->slots[s->class] += s->slots;
	}
	ash_stats(&book->stats);
}

static inline void book_wait(_Atomic int *flag)
{
	while (!*flag)
		rt_sleep(500000);
}

enum { DIES_WITH_PARENT = 1, SET_TRACER = 0x59616d61 };

/*
 * The child says that it is ready, and waits.  Some systems let a process read only its
 * descendants: the child allows others, and where that is refused, too, the test is skipped.
 */
static long target_start(void (*body)(void))
{
	long pid = rt_fork();

	CHECK(pid >= 0);
	if (pid == 0) {
		(void)arch_prctl(DIES_WITH_PARENT, 9, 0, 0, 0);
		(void)arch_prctl(SET_TRACER, -1, 0, 0, 0);
		body();
		rt_exit(0);
	}
	while (!book->ready)
		rt_sleep(500000);
	if (look_process(pid, "--json") == 2 && rt_strstr(look_text, "may not be read") != NULL)
		rt_skip("a process may not read another's memory here");
	return pid;
}

#endif
