/* SPDX-License-Identifier: MIT */
/* The figures of ashlar-look: each row is compared with the book of the program. */
#include "program/look_target.h"
#include "support/blocks.h"

enum { BLOCKS = 3000, BLOCK_MAX = 40000, THREADS = 3 };

static void *blocks[BLOCKS];
static size_t sizes[BLOCKS];

static void release_some(UNUSED void *unused)
{
	unsigned i;

	for (i = 0; i < BLOCKS; i += 7) {
		ash_release(blocks[i]);
		book->taken[class_of(ash_good_size(sizes[i]))]--;
		book->released[class_of(ash_good_size(sizes[i]))]++;
		blocks[i] = NULL;
	}
}

static void nap(UNUSED void *unused)
{
	void *p = ash_alloc(24);

	struct ash_block b;

	CHECK(ash_find(p, &b) == ASH_TAKEN); /* which notes the thread's id */
	book->ready++;
	book_wait(&book->go);
	ash_release(p);
}

static void mixture(void)
{
	void *large[12];
	struct rt_random r;
	unsigned i;

	rt_seed(&r, rt_test_seed());
	for (i = 0; i < BLOCKS; i++) {
		sizes[i] = rt_below(&r, i % 3 == 0 ? BLOCK_MAX : 600) + 1;
		blocks[i] = NOT_NULL(ash_alloc(sizes[i]));
		memset(blocks[i], 1, sizes[i]);
		book->taken[class_of(ash_good_size(sizes[i]))]++;
	}
	/* More units than spares have (SPARE_MOST): some are retained in their chunk. */
	for (i = 0; i < 12; i++) {
		large[i] = NOT_NULL(ash_alloc(400 << 10));
		memset(large[i], 1, 400 << 10);
	}
	release_each(large, 12);
	/* Freed by the owner; by another thread, which ends; spans. */
	for (i = 3; i < BLOCKS; i += 14) {
		ash_release(blocks[i]);
		book->taken[class_of(ash_good_size(sizes[i]))]--;
		blocks[i] = NULL;
	}
	rt_in_thread(release_some, NULL);
	for (i = 0; i < 3; i++) {
		void *p = NOT_NULL(ash_alloc((i + 2) << 20));

		book->spans++;
		book->span_bytes += ash_usable_size(p);
	}
	book->block = blocks[1];
	book->size = ash_good_size(sizes[1]);
	book_walk();
	/* What it does while it waits, once before: else the pages of this code would come in while it is looked at. */
	book->done = 1;
	book_wait(&book->done);
	rt_sleep(1);
	book->ready = 1;
	book_wait(&book->go);
}

static void rows_are_right(void)
{
	size_t reserved = 0;
	unsigned i;

	for (i = 0; i < CLASSES; i++) {
		size_t size = class_size(i);

		CHECK_EQ(look_row(size, "taken"), book->taken[i]);
		CHECK_EQ(look_row(size, "released"), book->released[i]);
		CHECK_EQ(look_row(size, "slabs"), book->slabs[i]);
		CHECK_EQ(look_row(size, "slots"), book->slots[i]);
		CHECK_EQ(look_row(size, "free"),
			 book->slots[i] - book->taken[i] - book->released[i]);
		CHECK_EQ(look_row(size, "changed"), 0);
		reserved += look_row(size, "bytes");
	}
	CHECK_EQ(reserved, book->stats.slabs);
	CHECK_EQ(look_figure(look_text, "blocks"), book->stats.blocks);
	CHECK_EQ(look_figure(look_text, "block_bytes"), book->stats.block_bytes);
	CHECK_EQ(look_figure(look_text, "retained"), book->stats.dirty);
	CHECK_EQ(look_figure(look_text, "reserved"), book->stats.reserved);
	CHECK_EQ(look_figure(look_text, "damaged"), 0);
	CHECK_EQ(look_figure(rt_strstr(look_text, "\"large\""), "bytes") != LOOK_NONE, true);
}

/* Returns the memory of the process as the kernel counts it, page by page. */
static uint64_t resident_of(long pid)
{
	char path[64];

	rt_format(path, sizeof path, "/proc/%ld/smaps_rollup", pid);
	return rt_number_of(path, "Anonymous:"); /* pages of files go and come as the system likes; SIZE_MAX: an old kernel */
}

TEST(look_rows, 20)
{
	uint64_t resident;
	long pid;

	book_make();
	pid = target_start(mixture);
	resident = resident_of(pid);
	CHECK_EQ(look_process(pid, "--json"), 0);
	if (!rt_under_qemu()) /* whose own threads may be at work */
		CHECK(resident_of(pid) <= resident); /* looking pages nothing in; the system may reclaim some */
	CHECK(rt_strstr(look_text, "\"exact\": false") != NULL);
	rows_are_right();
	if (!rt_under_qemu()) { /* which does not pass ptrace on */
		look_stopped(pid);
		CHECK(rt_strstr(look_text, "\"exact\": true") != NULL);
		rows_are_right();
		/* The pages that were written are resident. */
		CHECK(look_figure(look_text, "resident") != LOOK_NONE);
	}
	book->go = 1;
	CHECK_EQ(rt_wait(pid), 0);
}

TEST(look_blocks, 20)
{
	char line[64], number[16], *p;
	size_t lines = 0, sum = 0;
	unsigned i;
	long pid;

	book_make();
	pid = target_start(mixture);
	rt_format(number, sizeof number, "%ld", pid);
	CHECK_EQ(look_run(number, "--blocks", NULL), 0);
	for (i = 0; i < CLASSES; i++)
		sum += book->taken[i];
	for (p = look_text; *p != '\0'; p++)
		lines += *p == '\n';
	CHECK_EQ(lines, sum + book->spans);
	rt_format(line, sizeof line, "0x%012lx %10zu", (unsigned long)(uintptr_t)book->block, book->size);
	CHECK(rt_strstr(look_text, line) != NULL);

	/* An address in the block. */
	rt_format(line, sizeof line, "0x%lx", (unsigned long)(uintptr_t)book->block + 5);
	CHECK_EQ(look_run(number, "--find", line), 0);
	rt_format(line, sizeof line, "lies in a slot of %zu bytes, which is taken", book->size);
	CHECK(rt_strstr(look_text, line) != NULL);
	CHECK(rt_strstr(look_text, "offset 5 in it") != NULL);
	CHECK_EQ(look_run(number, "--find", "0x10"), 1);
	CHECK(rt_strstr(look_text, "lies in no heap") != NULL);
	CHECK_EQ(look_process(pid, "--svg"), 0);
	CHECK(rt_strstr(look_text, "</svg>") != NULL);
	book->go = 1;
	CHECK_EQ(rt_wait(pid), 0);
}

/* ---- owners ---- */

static void naps(void)
{
	struct rt_thread *t[THREADS];
	void *first = ash_alloc(100);
	unsigned i;

	for (i = 0; i < THREADS; i++)
		t[i] = rt_thread_start(nap, NULL);
	while (book->ready < THREADS)
		rt_sleep(500000);
	book->ready = 100;
	rt_threads_join(t, THREADS);
	book->done = 1;
	book->go = 0;
	book_wait(&book->go);
	ash_release(first);
}

TEST(look_owners, 20)
{
	long pid;

	book_make();
	pid = target_start(naps);
	while (book->ready < 100)
		rt_sleep(500000);
	CHECK_EQ(look_process(pid, "--json"), 0);
	CHECK_EQ(times("\"record\""), THREADS + 1);
	CHECK_EQ(times("\"is\": \"vacant\""), 0);
	CHECK_EQ(times("\"is\": \"alive\", "), THREADS);
	CHECK_EQ(times("\"is\": \"likely\", "), 1); /* the first one */
	book->go = 1;
	while (!book->done)
		rt_sleep(500000);
	CHECK_EQ(look_process(pid, "--json"), 0);
	CHECK_EQ(times("\"is\": \"vacant\""), THREADS);
	book->go = 1;
	CHECK_EQ(rt_wait(pid), 0);
}

/* ---- files and processes without a heap ---- */

TEST(look_refuses, 20)
{
	CHECK_EQ(look_run("/proc/self/exe", NULL, NULL), 2); /* an ELF file, but no core */
	CHECK(rt_strstr(look_text, "no core") != NULL);
	CHECK_EQ(look_run("/dev/null", NULL, NULL), 2);
	CHECK_EQ(look_run("/nowhere", NULL, NULL), 2);
	CHECK_EQ(look_run("999999999", NULL, NULL), 2);
	CHECK_EQ(look_run("1", "--nothing", NULL), 2);
	CHECK_EQ(look_run("1", "--find", "xyz"), 2);
}
