/* SPDX-License-Identifier: MIT */
/* ashlar-look: the heaps that a program created, private, shared, and in a file. */
#include "ashlar_heap.h"
#include "program/look_target.h"

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
