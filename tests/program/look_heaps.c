/* SPDX-License-Identifier: MIT */
/* ashlar-look: the heaps that a program created in memory of its own. */
#include "ashlar_heap.h"
#include "program/look_target.h"

enum { ARENA_BYTES = 1 << 20, ARENA_BLOCKS = 500 };
static char arena_memory[ARENA_BYTES];

static int add_block(UNUSED void *unused, UNUSED void *block, size_t size, UNUSED const struct ash_heap_owner *owner)
{
	book->taken[0]++;
	book->taken[1] += size;
	return 0;
}

/* Heaps in static memory, in a block of the default heap, and in memory that was overwritten. */
static void arenas(void)
{
	static char gone[ARENA_BYTES];
	ash_heap *h[3] = {ash_heap_create_in(arena_memory, ARENA_BYTES),
			  ash_heap_create_in(ash_alloc(200000), 200000), ash_heap_create_in(gone, ARENA_BYTES)};
	void *p[ARENA_BLOCKS];
	unsigned i;

	for (i = 0; i < ARENA_BLOCKS; i++)
		CHECK((p[i] = ash_heap_alloc(h[0], 1 + i * 3 % 900)) != NULL);
	for (i = 0; i < ARENA_BLOCKS; i += 3)
		ash_heap_release(h[0], p[i]);
	CHECK(ash_heap_alloc(h[1], 5000) != NULL);
	CHECK(ash_heap_walk(h[0], add_block, NULL) == 0);
	book->block = p[100];
	book->size = ash_heap_usable_size(h[0], p[100]);
	memset(gone, 0x5a, sizeof gone);
	book->ready = 1;
	book_wait(&book->go);
}

TEST(look_arenas, 20)
{
	char line[96], number[16], *first, *p;
	size_t lines = 0;
	long pid;

	book_make();
	pid = target_start(arenas);
	CHECK_EQ(look_process(pid, "--json"), 0);
	CHECK_EQ(look_figure(look_text, "damaged"), 0);
	first = NOT_NULL(rt_strstr(look_text, "\"arenas\""));
	CHECK_EQ(look_figure(first, "blocks"), book->taken[0]);
	CHECK_EQ(look_figure(first, "block_bytes"), book->taken[1]);
	CHECK(look_figure(first, "bytes") > ARENA_BYTES / 50 * 49 - 256);
	CHECK(look_figure(first, "longest") > ARENA_BYTES / 2 && look_figure(first, "longest") < ARENA_BYTES * 63 / 64);
	first = rt_strstr(rt_strstr(first, "}"), "{"); /* the second one */
	CHECK(first != NULL && look_figure(first, "blocks") == 1 && look_figure(first, "block_bytes") == 5008);
	CHECK(rt_strstr(first + 1, "{") == NULL);
	rt_format(number, sizeof number, "%ld", pid);
	CHECK_EQ(look_run(number, "--blocks", NULL), 0);
	for (p = look_text; (p = rt_strstr(p, "  in 0x")) != NULL; p++)
		lines++;
	CHECK_EQ(lines, book->taken[0] + 1);
	rt_format(line, sizeof line, "0x%012lx %10zu  in 0x%lx", (unsigned long)(uintptr_t)book->block, book->size,
		  (unsigned long)(uintptr_t)arena_memory);
	CHECK(rt_strstr(look_text, line) != NULL);
	rt_format(line, sizeof line, "0x%lx", (unsigned long)(uintptr_t)book->block + 3);
	CHECK_EQ(look_run(number, "--find", line), 0);
	rt_format(line, sizeof line, "in a block of %zu bytes", book->size);
	CHECK(rt_strstr(look_text, line) != NULL && rt_strstr(look_text, "offset 3 in it") != NULL);
	CHECK_EQ(look_run(number, NULL, NULL), 0);
	CHECK(rt_strstr(look_text, "heap in the program's memory at 0x") != NULL);
	book->go = 1;
	CHECK_EQ(rt_wait(pid), 0);
}
