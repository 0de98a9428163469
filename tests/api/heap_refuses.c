/* SPDX-License-Identifier: MIT */
/* Heaps that the program made: requests that they refuse. */
/* promises: ash_heap_create, ash_heap_release */
#include "support/blocks.h"
#include "support/misuse.h"
#include "support/pattern.h"

TEST(heap_cap, 20)
{
	struct ash_heap_options options = {.cap = (size_t)8 << 20};
	ash_heap *h = ash_heap_create(&options);
	char *block[100], *p;
	size_t n = 0;

	for (n = 0; n < 100 && (block[n] = ash_heap_alloc(h, 300000)) != NULL; n++)
		fill(block[n], 300000, (unsigned)n);
	CHECK(n >= 18 && n <= 27);
	CHECK(ash_heap_alloc(h, (size_t)3 << 20) == NULL);
	p = ash_heap_resize(h, block[0], (size_t)1 << 20);
	CHECK(p == NULL);
	for (size_t i = 0; i < n; i++)
		holds(block[i], 300000, (unsigned)i);
	CHECK_EQ(stats_of(h).reserved, (size_t)8 << 20);
	for (size_t i = 0; i < n; i++)
		ash_heap_release(h, block[i]);
	/* Other heaps do not mind, and this one goes on. */
	CHECK((p = ash_alloc((size_t)20 << 20)) != NULL);
	ash_release(p);
	CHECK((p = ash_heap_alloc(h, (size_t)3 << 20)) != NULL);
	ash_heap_release(h, p);
	ash_heap_destroy(h);
}

static ash_heap *one;

USE(release_in_one, p, ash_heap_release(one, p));

/* The same of a thread that has used the heap: a child has to find its seat first. */
static void release_in_one_again(void *p)
{
	for (unsigned i = 0; i < 3; i++)
		ash_heap_release(one, ash_heap_alloc(one, 100));
	ash_heap_release(one, p);
}

TEST(heap_misuse, 10)
{
	struct bad bad;
	char *p;

	one = ash_heap_create(NULL);
	p = ash_heap_alloc(one, 100);
	CHECK(ash_heap_alloc(one, 100) != NULL);
	bad_in(&bad, p, 16, "interior pointer", 112);
	misuse_expect("heap_release", release_in_one, &bad);
	misuse_expect("heap_release", release_in_one_again, &bad);
	misuse_expect("release", ash_release, &bad);
	ash_heap_release(one, p);
	bad_in(&bad, p, 0, "double free", 112);
	misuse_expect("heap_release", release_in_one, &bad);
	misuse_expect("release", ash_release, &bad);
	bad_alone(&bad, ash_alloc(100), "not a block of this heap");
	misuse_expect("heap_release", release_in_one, &bad);
	bad_alone(&bad, &bad, "not a block of this heap");
	misuse_expect("heap_release", release_in_one, &bad);
	ash_heap_release(one, NULL);
	CHECK_EQ(ash_heap_check(one), 0);
}
