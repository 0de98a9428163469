/* SPDX-License-Identifier: MIT */
/* Misuse by the names of malloc: the line has the name, and the end is SIGABRT. */
#include "support/malloc_names.h"
#include "support/misuse.h"

enum { SIGABRT = 6 };

static size_t told;
static void *of_other;

static void use_delete_sized(void *p)
{
	ash_delete_sized(p, told);
}

static void use_realloc(void *p)
{
	if (realloc(p, 100) != NULL)
		rt_exit(7);
}

/* The line of a misuse is `name`(0x...): `fault`, and the process ended by SIGABRT. */
static void expect(const char *name, void (*use)(void *), struct bad *bad)
{
	char text[300], expected[300];

	CHECK_EQ(rt_run_child(use, bad->p, text, sizeof text), 1000 + SIGABRT);
	rt_format(expected, sizeof expected, "ashlar: %s(0x%lx): %s\n", name, (unsigned long)bad->p,
		  bad->fault);
	if (rt_strcmp(text, expected) != 0)
		rt_print("     written:  %s     expected: %s", text, expected);
	CHECK_EQ(rt_strcmp(text, expected), 0);
}

static void use_after_free_of_another(void *p)
{
	free(of_other); /* leaves its fast path, by name */
	ash_release(p);
}

TEST(called_by_name, 10)
{
	char *p = block_among(100);
	struct bad bad;

	bad_in(&bad, p, 16, "interior pointer", 112);
	expect("free", free, &bad);
	expect("operator delete", ash_delete, &bad);
	expect("operator delete", use_delete_sized, &bad);
	expect("realloc", use_realloc, &bad);
	expect("ash_release", ash_release, &bad);
	of_other = ash_alloc(5 * MIB);
	expect("ash_release", use_after_free_of_another, &bad);
	free(of_other);
	free(p);
	bad_in(&bad, p, 0, "double free", 112);
	expect("free", free, &bad);
	expect("operator delete", ash_delete, &bad);
	bad_in(&bad, p, 0, "block already released", 112);
	expect("realloc", use_realloc, &bad);
	bad_alone(&bad, &bad, FOREIGN);
	expect("free", free, &bad);
	expect("operator delete", use_delete_sized, &bad);
	p = ash_alloc(5 * MIB);
	bad_in(&bad, p, 64, "interior pointer", 5 * MIB);
	expect("free", free, &bad);
}

static void allocate(void *size)
{
	of_other = ash_alloc(*(size_t *)size);
}

/* A size that gives another block, of the own slab or a span; of what another thread allocated it is not asked. */
TEST(called_delete_with_size, 10)
{
	static const size_t sizes[] = {16, 100, 3000, 3000000};
	struct bad bad;

	ash_delete_sized(NULL, 0);
	ash_delete_sized(NULL, 100);
	for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		size_t size = sizes[i], good = ash_good_size(size);
		char *p = ash_alloc(size);

		told = size / 2;
		bad_in(&bad, p, 0, "wrong size", good);
		expect("operator delete", use_delete_sized, &bad);
		rt_in_thread(allocate, &size);
		ash_delete_sized(p, good);
		ash_delete_sized(of_other, size);
		bad_in(&bad, p, 0, "double free", good);
		for (told = 1; size < 10000 && told <= size; told += size - 1) /* above, the memory has gone */
			expect("operator delete", use_delete_sized, &bad);
	}
	CHECK_EQ(ash_check(), 0);
}
