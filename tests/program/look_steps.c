/* SPDX-License-Identifier: MIT */
/*
 * Looks at a process that is stopped at boundaries of instructions of allocate, release and expand: a
 * block in flight is there or not, all else is exact, and nothing seems damaged.
 */
#include "program/look_target.h"
#include "slab/unowned.h"
#include "support/blocks.h"

enum { CALLS = 5, GROWTHS = 2, TRACE_ME = 0, TRACE_STEP = 9, TRACE_CONTINUE = 7, SIGNAL_STOP = 19, NO_TRACING = 96 };

/* In the fast path; a slab that is made and unmade; a large slab; a span; an unowned slab. */
static const size_t call_sizes[CALLS] = {64, 3000, 100000, (size_t)3 << 20, 500};

static void *call(unsigned i)
{
	struct slab *s;
	uint64_t index;
	void *p;

	if (i < CALLS - 1) {
		p = ash_alloc(call_sizes[i]);
		ash_release(p);
		return p;
	}
	p = unowned_slot(&heap_default, class_of(call_sizes[i]));
	if (!slab_find(map_find(p), p, &s) || !slab_index(s, p, &index) || !unowned_free(s, index))
		return NULL;
	return unowned_shrink(&heap_default) == 1 ? p : NULL;
}

/* Grows in place, into a larger slab or to a span: before and after, and at each step there or not. */
static const size_t growth_sizes[GROWTHS][2] = {{40 * KIB, 100 * KIB}, {900 * KIB, MIB + MIB / 2}};

/* A block at the beginning of a chunk, so that all of it may become a span. */
static void *first_of_chunk(size_t size)
{
	void *p = ash_alloc(size), *one;

	if (((uintptr_t)p & (CHUNK_SIZE - 1)) == 0)
		return p;
	one = first_of_chunk(size);
	ash_release(p);
	return one;
}

static void grow(unsigned i)
{
	void *p = first_of_chunk(growth_sizes[i][0]);

	book->from = growth_sizes[i][0];
	book->size = growth_sizes[i][1];
	book->go = 1;
	CHECK(ash_expand(p, book->size) >= book->size);
	book->go = 0;
	ash_release(p);
}

static void stepped(void)
{
	void *warm[3], *p;
	unsigned i;

	alloc_each(warm, 3, 64);
	book->ready = 1;
	if (arch_ptrace(TRACE_ME, 0, NULL, NULL) != 0)
		rt_exit(NO_TRACING);
	rt_kill(arch_getpid(), SIGNAL_STOP);
	for (i = 0; i < CALLS; i++) {
		book->from = book->size = call_sizes[i];
		book->go = 1; /* steps are looked at from here */
		p = call(i);
		book->go = 0;
		CHECK(p != NULL);
	}
	for (i = 0; i < GROWTHS; i++)
		grow(i);
	book->done = 1;
	release_each(warm, 3);
}

/* Looks that showed a growing block as it was, and as it is then. */
static unsigned seen_before, seen_after;

/* Returns the slot size in the row of a block of this size, or 0 for the row of spans. */
static size_t row_of(size_t size)
{
	return size > SLOT_MAX ? 0 : ash_good_size(size);
}

static void boundary_is_right(long pid)
{
	size_t in_class = row_of(book->size), from_class = row_of(book->from);
	uint64_t taken, blocks, bytes;

	CHECK_EQ(look_process(pid, "--json"), 0);
	blocks = look_figure(look_text, "blocks");
	bytes = look_figure(look_text, "block_bytes");
	CHECK(blocks == 3 || blocks == 4);
	taken = look_row(64, "taken");
	CHECK_EQ(taken, in_class == 64 ? blocks : 3);
	if (in_class != 64 && in_class != 0)
		CHECK_EQ(look_row(in_class, "taken") + (from_class != in_class ? look_row(from_class, "taken") : 0),
			 blocks - 3);
	/* Of a span: its own bytes. */
	CHECK(bytes >= 3 * 64 + (blocks == 4 ? book->from : 0));
	CHECK(bytes <= 3 * 64 + (blocks == 4 ? ash_good_size(book->size) : 0));
	CHECK_EQ(look_figure(look_text, "changed_slots"), 0);
	if (book->from < book->size && blocks == 4)
		++*(bytes < 3 * 64 + book->size ? &seen_before : &seen_after);
}

static void look_at_steps(unsigned stride)
{
	unsigned steps = 0, looks = 0;
	int status;
	long pid;

	if (rt_under_qemu())
		rt_skip("the emulator does not pass ptrace on");
	book_make();
	pid = target_start(stepped);
	CHECK(arch_wait4(pid, &status, 0, NULL) == pid);
	if (status == NO_TRACING << 8)
		rt_skip("no process may be traced here");
	CHECK((status & 0xff) == 0x7f);
	while (!book->done) {
		CHECK(arch_ptrace(TRACE_STEP, pid, NULL, NULL) == 0);
		CHECK(arch_wait4(pid, &status, 0, NULL) == pid && (status & 0xff) == 0x7f);
		if (book->go && steps++ % stride == 0) {
			boundary_is_right(pid);
			looks++;
		}
	}
	CHECK(looks > 20 && seen_before >= GROWTHS && seen_after >= GROWTHS);
	CHECK(arch_ptrace(TRACE_CONTINUE, pid, NULL, NULL) == 0);
	CHECK_EQ(rt_wait(pid), 0);
}

TEST_CALL(look_at_boundaries, 600, look_at_steps(rt_in_full() ? 1 : 61));
