/* SPDX-License-Identifier: MIT */
/* ashlar-look tells what the program has: each row compared with the book of the program. */
#include "ashlar_heap.h"
#include "program/look_target.h"

enum { BLOCKS = 3000, BLOCK_MAX = 40000, THREADS = 3 };

static void *blocks[BLOCKS];
static size_t sizes[BLOCKS];

static void release_some(void *unused)
{
	unsigned i;

	(void)unused;
	for (i = 0; i < BLOCKS; i += 7) {
		ash_release(blocks[i]);
		book->taken[class_of(sizes[i])]--;
		book->released[class_of(sizes[i])]++;
		blocks[i] = NULL;
	}
}

static void nap(void *unused)
{
	void *p = ash_alloc(24);

	(void)unused;
	CHECK(p != NULL);
	book->ready++;
	book_wait(&book->go);
	ash_release(p);
}

static void mixture(void)
{
	struct rt_thread *t;
	struct rt_random r;
	unsigned i;

	rt_seed(&r, rt_test_seed());
	for (i = 0; i < BLOCKS; i++) {
		sizes[i] = rt_below(&r, i % 3 == 0 ? BLOCK_MAX : 600) + 1;
		blocks[i] = ash_alloc(sizes[i]);
		CHECK(blocks[i] != NULL);
		memset(blocks[i], 1, sizes[i]);
		book->taken[class_of(sizes[i])]++;
	}
	/* Freed by the owner; by another thread, which ends; spans. */
	for (i = 3; i < BLOCKS; i += 14) {
		ash_release(blocks[i]);
		book->taken[class_of(sizes[i])]--;
		blocks[i] = NULL;
	}
	t = rt_thread_start(release_some, NULL);
	rt_thread_join(t);
	for (i = 0; i < 3; i++) {
		void *p = ash_alloc((i + 2) << 20);

		CHECK(p != NULL);
		book->spans++;
		book->span_bytes += ash_usable_size(p);
	}
	book->block = blocks[1];
	book->size = class_size(class_of(sizes[1]));
	book_walk();
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

/* What the kernel counts as the process's memory, page by page. */
static uint64_t resident_of(long pid)
{
	char path[64], text[2048], *line, *p;
	uint64_t kib = 0;

	rt_format(path, sizeof path, "/proc/%ld/smaps_rollup", pid);
	if (rt_read_file(path, text, sizeof text) <= 0)
		return 0; /* an old kernel */
	line = rt_strstr(text, "Rss:");
	CHECK(line != NULL);
	for (p = line; *p != '\n'; p++)
		if (*p >= '0' && *p <= '9')
			kib = kib * 10 + (uint64_t)(*p - '0');
	return kib;
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
		CHECK_EQ(resident_of(pid), resident); /* looking pages nothing in */
	CHECK(rt_strstr(look_text, "\"exact\": false") != NULL);
	rows_are_right();
	if (!rt_under_qemu()) { /* which does not pass ptrace on */
		char number[16];

		rt_format(number, sizeof number, "%ld", pid);
		CHECK_EQ(look_run(number, "--json", "--stop"), 0);
		CHECK(rt_strstr(look_text, "\"exact\": true") != NULL);
		rows_are_right();
		/* Resident: what was written is. */
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

	/* What an address in the block is. */
	rt_format(line, sizeof line, "0x%lx", (unsigned long)(uintptr_t)book->block + 5);
	CHECK_EQ(look_run(number, "--find", line), 0);
	rt_format(line, sizeof line, "lies in a slot of %zu bytes, which is taken", book->size);
	CHECK(rt_strstr(look_text, line) != NULL);
	CHECK(rt_strstr(look_text, "offset 5 in it") != NULL);
	CHECK_EQ(look_run(number, "--find", "0x10"), 1);
	CHECK(rt_strstr(look_text, "lies in no heap") != NULL);
	CHECK_EQ(look_process(pid, "--map"), 0);
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
	for (i = 0; i < THREADS; i++)
		rt_thread_join(t[i]);
	book->done = 1;
	book->go = 0;
	book_wait(&book->go);
	ash_release(first);
}

/* How often the text is in what was printed. */
static unsigned times(const char *text)
{
	char *p = look_text;
	unsigned n = 0;

	while ((p = rt_strstr(p, text)) != NULL) {
		n++;
		p++;
	}
	return n;
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

/* ---- heaps that the program created ---- */

static int shared_file;

static void heaps(void)
{
	ash_heap *h[3] = {ash_heap_create(NULL), ash_heap_create_shared(4 * CHUNK_SIZE, NULL),
			  ash_heap_create_file(shared_file, 4 * CHUNK_SIZE, NULL)};
	unsigned i, k;

	for (i = 0; i < 3; i++)
		for (k = 0; k < 100u + i; k++)
			CHECK(ash_heap_alloc(h[i], 1000 + 1000 * i) != NULL);
	book->block = ash_heap_alloc(h[0], 70);
	book->ready = 1;
	book_wait(&book->go);
}

TEST(look_heaps, 20)
{
	struct arch_stat before, after;
	char path[64];
	long pid;

	book_make();
	shared_file = (int)arch_memfd_create("look", 0);
	CHECK(shared_file >= 0);
	pid = target_start(heaps);
	CHECK_EQ(arch_fstat(shared_file, &before), 0);
	CHECK_EQ(look_process(pid, "--json"), 0);
	CHECK_EQ(times("\"shared\": false"), 2); /* with the default heap */
	CHECK_EQ(times("\"shared\": true"), 2);
	CHECK_EQ(look_row(1024, "taken"), 100);
	CHECK_EQ(look_row(2048, "taken"), 101);
	CHECK_EQ(look_row(3072, "taken"), 102);
	CHECK_EQ(look_row(80, "taken"), 1);
	/* The file alone, while the process works on, and when it has ended. */
	rt_format(path, sizeof path, "/proc/%ld/fd/%d", arch_getpid(), shared_file);
	CHECK_EQ(look_run(path, "--json", NULL), 0);
	CHECK_EQ(times("\"shared\": true"), 1);
	/* Reading a hole of such a file by its mapping would fill it. */
	CHECK(arch_fstat(shared_file, &after) == 0 && after.blocks == before.blocks);
	CHECK_EQ(look_row(3072, "taken"), 102);
	CHECK_EQ(look_row(1024, "taken"), 0);
	CHECK_EQ(times("\"is\": \"alive\", "), 1);
	book->go = 1;
	CHECK_EQ(rt_wait(pid), 0);
	CHECK_EQ(look_run(path, "--json", NULL), 0);
	CHECK_EQ(look_row(3072, "taken"), 102);
	CHECK_EQ(times("\"is\": \"ended\", "), 1);
}

/* ---- what there is no heap in ---- */

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

int main(int argc, char **argv, __attribute__((unused)) char **envp)
{
	return rt_run_tests(argc, argv);
}
