/* SPDX-License-Identifier: MIT */
/* The names of C, POSIX and glibc: their contracts where they differ from the ash_ calls. */
#include "support/blocks.h"
#include "support/malloc_names.h"

#define PAGE ((size_t)65536) /* at least the system's */

enum { NO_MEMORY = 12, INVALID = 22 };

static size_t live(void)
{
	return stats_now().blocks;
}

TEST(names_realloc, 10)
{
	size_t before = live();
	unsigned char *p = realloc(NULL, 100);

	CHECK(p != NULL && live() == before + 1);
	memset(p, 7, 100);
	p = realloc(p, 1);
	CHECK(p != NULL && p[0] == 7 && live() == before + 1);
	p = realloc(p, 5000);
	CHECK(p != NULL && p[0] == 7);
	CHECK(realloc(p, 0) == NULL);
	CHECK_EQ(live(), before);
	p = realloc(NULL, 0);
	CHECK(p != NULL && live() == before + 1);
	free(p);
	p = reallocarray(NULL, 10, 30);
	CHECK(p != NULL && malloc_usable_size(p) >= 300);
	CHECK(reallocarray(p, SIZE_MAX / 2, 3) == NULL);
	CHECK_EQ(live(), before + 1);
	free(p);
	free(NULL);
	CHECK_EQ(live(), before);
}

/* A large block that begins its chunk, with no other block behind it, grows where it is. */
TEST(names_realloc_in_place, 10)
{
	const size_t chunk = (size_t)2 << 20, bytes = 600 << 10;
	unsigned char *p[64], *grown = NULL;
	size_t n = 0, i;

	do {
		p[n] = NOT_NULL(malloc(bytes));
		memset(p[n], (int)n + 1, bytes);
	} while ((uintptr_t)p[n++] % chunk != 0 && n < 64);
	grown = realloc(p[n - 1], 700 << 10);
	CHECK(grown == p[n - 1] && malloc_usable_size(grown) >= 700 << 10);
	grown = realloc(grown, (1 << 20) + 8);
	CHECK(grown == p[n - 1] && malloc_usable_size(grown) >= (1 << 20) + 8);
	for (i = 0; i < bytes; i++)
		CHECK(grown[i] == n);
	while (n-- > 0)
		free(p[n]);
	CHECK_EQ(ash_check(), 0);
}

TEST(names_aligned, 10)
{
	size_t before = live();
	void *p = &before, *q;

	CHECK_EQ(posix_memalign(&p, 4096, 100), 0);
	CHECK(p != &before && (uintptr_t)p % 4096 == 0);
	free(p);
	p = &before;
	CHECK_EQ(posix_memalign(&p, 4, 100), INVALID);
	CHECK_EQ(posix_memalign(&p, 48, 100), INVALID);
	CHECK_EQ(posix_memalign(&p, 4096, SIZE_MAX - 4096), NO_MEMORY);
	CHECK(p == &before);
	CHECK(aligned_alloc(48, 100) == NULL && aligned_alloc(0, 100) == NULL);
	p = aligned_alloc(64, 100);
	q = memalign(48, 100); /* rounded up */
	CHECK(p != NULL && (uintptr_t)p % 64 == 0 && q != NULL && (uintptr_t)q % 64 == 0);
	free(p);
	free(q);
	CHECK(memalign(SIZE_MAX, 100) == NULL);
	CHECK_EQ(live(), before);
}

/* pvalloc's blocks are whole pages, and no more of them than are needed. */
TEST(names_pages, 10)
{
	size_t before = live();
	char *p = valloc(100), *q;

	CHECK(p != NULL && (uintptr_t)p % 4096 == 0);
	free(p);
	for (size_t pages = 1; pages < 4; pages++) {
		q = ash_aligned_alloc(PAGE, pages * PAGE);
		p = pvalloc((pages - 1) * PAGE + 1);
		CHECK(p != NULL && (uintptr_t)p % 4096 == 0);
		CHECK(malloc_usable_size(p) >= (pages - 1) * PAGE + 4096);
		CHECK(malloc_usable_size(p) <= ash_usable_size(q));
		free(p);
		p = pvalloc(pages * PAGE);
		CHECK(p != NULL && malloc_usable_size(p) >= pages * PAGE);
		CHECK(malloc_usable_size(p) <= ash_usable_size(q));
		free(p);
		ash_release(q);
	}
	CHECK(pvalloc(SIZE_MAX - 100) == NULL && pvalloc(SIZE_MAX) == NULL);
	CHECK_EQ(live(), before);
}
