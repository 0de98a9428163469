/* SPDX-License-Identifier: MIT */
/*
 * ashlar_is_malloc in a program whose malloc, realloc and free are not at their own addresses:
 * its source sees entries here, as those of a PLT are, and a program's errno.
 */
/* promises: ashlar_is_malloc */
#include "malloc/facade.h"
#include "rt.h"

void ash_free(void *p)
{
	extern void release_null(void);

	if (p == NULL)
		release_null(); /* as front/remote.c */
	else
		ash_release(p);
}

void *ash_realloc(void *p, size_t size)
{
	return ash_resize(p, size);
}

#include "malloc/malloc.c"

enum of { MALLOC = 1, REALLOC = 2, FREE = 4, ALL = 7 };

static unsigned foreign; /* which of them are another library's */
static int number;

int *__errno_location(void)
{
	return &number;
}

static void *entry_malloc(size_t size)
{
	return (foreign & MALLOC) != 0 ? NULL : malloc(size);
}

static void *entry_realloc(void *p, size_t size)
{
	return (foreign & REALLOC) != 0 ? NULL : realloc(p, size);
}

static void entry_free(void *p)
{
	if ((foreign & FREE) == 0)
		free(p);
}

#define malloc	entry_malloc
#define realloc entry_realloc
#define free	entry_free
#include "malloc/is_malloc.c"
#undef malloc
#undef realloc
#undef free

static int asked(void)
{
	int answer;

	number = 77;
	answer = ashlar_is_malloc();
	CHECK_EQ(number, 77);
	return answer;
}

TEST(is_malloc_by_calls, 10)
{
	CHECK_EQ(asked(), 1);
	CHECK_EQ(asked(), 1);
}

static void one_is_foreign(void *which)
{
	foreign = *(unsigned *)which;
	CHECK_EQ(asked(), 0);
}

/* Answers stay, so each case is a process of its own. */
TEST(is_malloc_of_others, 10)
{
	char text[100];

	for (unsigned which = 1; which <= ALL; which++)
		CHECK_EQ(rt_run_child(one_is_foreign, &which, text, sizeof text), 0);
}

/* What is called when nobody asks is no answer. */
TEST(is_malloc_asks_no_longer_than_it_runs, 10)
{
	static const volatile size_t every_byte = SIZE_MAX;
	void *volatile p;

	foreign = ALL;
	CHECK_EQ(asked(), 0);
	foreign = 0;
	p = malloc(every_byte);
	CHECK(p == NULL && number == 12);
	p = realloc(NULL, every_byte);
	CHECK(p == NULL);
	free(NULL);
	foreign = ALL;
	CHECK_EQ(asked(), 0);
}
