/* SPDX-License-Identifier: MIT */
/* ashlar_start.h, as far as a program that it started can show; tests/check/start.sh has other programs. */
#include <ashlar.h>
#include <ashlar_start.h>

#include "support/blocks.h"

#include <stdatomic.h>

enum { AT_PAGESZ = 6, MANY = 200, SIGILL = 4 };

TEST(start_arguments, 5)
{
	const struct ash_arguments *a = ash_start_arguments();
	char **entry;
	int n = 0;

	CHECK(a->argc >= 1 && a->argv[0] != NULL && a->argv[a->argc] == NULL);
	CHECK(a->envp == a->argv + a->argc + 1);
	for (entry = a->envp; *entry != NULL; entry++)
		n++;
	CHECK(a->auxv == (unsigned long *)(void *)(a->envp + n + 1));
	CHECK(ash_start_auxv(AT_PAGESZ) >= 4096 && ash_start_auxv(AT_PAGESZ) % 4096 == 0);
	CHECK_EQ(ash_start_auxv(99999), 0);
}

TEST(start_getenv, 5)
{
	struct ash_arguments *a = (struct ash_arguments *)(uintptr_t)ash_start_arguments();
	char *entries[] = {"ONE=1", "ONE_MORE=2", "=odd", "EMPTY=", "ONLY", NULL};

	a->envp = entries;
	CHECK(rt_strcmp(ash_start_getenv("ONE"), "1") == 0);
	CHECK(rt_strcmp(ash_start_getenv("ONE_MORE"), "2") == 0);
	CHECK(rt_strcmp(ash_start_getenv("EMPTY"), "") == 0);
	CHECK(ash_start_getenv("ONLY") == NULL && ash_start_getenv("ON") == NULL);
	CHECK(ash_start_getenv("") == NULL && ash_start_getenv("ONE=1") == NULL);
	a->envp = NULL;
	CHECK(ash_start_getenv("ONE") == NULL);
}

TEST(start_write, 5)
{
	CHECK_EQ(ash_write(-1, "x", 1), -9); /* EBADF */
	CHECK_EQ(ash_write(1, "", 0), 0);
}

/* ---- threads ---- */

static _Atomic unsigned ran;

static void run(void *argument)
{
	if (argument != NULL)
		*(int *)argument = 7;
	atomic_fetch_add(&ran, 1);
}

static void end_inside(void *argument)
{
	run(argument);
	ash_thread_end();
}

TEST(start_thread_returns_or_ends, 10)
{
	int a = 0, b = 0;
	struct ash_thread *one = ash_thread_start(run, &a, 0), *two = ash_thread_start(end_inside, &b, 0);

	CHECK(one != NULL && two != NULL && ash_thread_id(one) != ash_thread_id(two));
	ash_thread_join(one);
	ash_thread_join(two);
	CHECK(a == 7 && b == 7);
}

/* Each touches all of its stack. */
static void fill_stack(void *size)
{
	volatile char here[4096];
	size_t left = *(size_t *)size;

	here[0] = 1;
	if (left <= 2 * sizeof here)
		return;
	left -= sizeof here + 1024; /* a frame takes more */
	fill_stack(&left);
	here[1] = here[0];
}

TEST(start_thread_stack_sizes, 20)
{
	size_t sizes[] = {16384, 1 << 20, 32 << 20};
	unsigned i;

	for (i = 0; i < 3; i++) {
		struct ash_thread *t = NOT_NULL(ash_thread_start(fill_stack, &sizes[i], sizes[i]));

		ash_thread_join(t);
	}
	CHECK(ash_thread_start(run, NULL, SIZE_MAX) == NULL);
	CHECK(ash_thread_start(run, NULL, SIZE_MAX / 2) == NULL);
	CHECK(ash_thread_start(run, NULL, (size_t)1 << 60) == NULL);
}

static void wait_for_threads(unsigned n)
{
	while (atomic_load(&ran) < n)
		rt_yield();
}

/* The threads are ending; one that leaves its mappings behind ends the test by its limit. */
static void wait_for_mappings(size_t before)
{
	while (rt_mappings() > before)
		rt_sleep(1000000);
	CHECK_EQ(rt_mappings(), before);
}

/* Forgotten at once, or when they have most likely ended: either side may be the second. */
TEST(start_thread_forget, 20)
{
	struct ash_thread *t;
	size_t before;
	unsigned i;

	ash_release(ash_alloc(1));
	before = rt_mappings();
	for (i = 0; i < MANY; i++) {
		t = NOT_NULL(ash_thread_start(run, NULL, 0));
		if (i % 3 == 1)
			rt_sleep(200000);
		if (i % 3 == 2)
			wait_for_threads(i + 1);
		ash_thread_forget(t);
	}
	wait_for_threads(MANY);
	if (!rt_under_qemu())
		wait_for_mappings(before);
}

static void allocate(void *place)
{
	*(void **)place = ash_alloc(100);
}

/* The record of the thread that ended is there for the next one. */
TEST(start_thread_end_detaches, 10)
{
	struct ash_thread *t;
	void *p[MANY];
	unsigned i;

	for (i = 0; i < MANY; i++) {
		t = NOT_NULL(ash_thread_start(allocate, &p[i], 0));
		ash_thread_join(t);
		CHECK(p[i] != NULL);
	}
	CHECK(stats_now().owners <= 2);
	release_each(p, MANY);
}

/* ---- thread-local storage ---- */

static _Thread_local uint64_t word = 0x1234;
static _Thread_local _Alignas(256) char zero[300];

/* A function of its own: a compiler takes the thread pointer for constant in one. */
static __attribute__((noinline)) bool fresh(void)
{
	return word == 0x1234 && zero[299] == 0 && (uintptr_t)zero % 256 == 0 && ash_alloc(100) != NULL;
}

TEST(start_tls_by_hand, 10)
{
	static _Alignas(16) char memory[32768];
	size_t size = ashlar_tls_size();
	void *pointer = ashlar_tls_init(memory + 1);

	CHECK(size > sizeof zero + sizeof word && size < sizeof memory - 1);
	CHECK((char *)pointer >= memory && (char *)pointer <= memory + 1 + size);
	CHECK(fresh());
	word = 1;
	zero[299] = 1;
	CHECK(!fresh());
	/* From here on this thread's words are others, until it ends. */
	CHECK_EQ(ashlar_tls_use(pointer), 0);
	ashlar_tls_check();
	CHECK(fresh());
}

static void check_without(UNUSED void *unused)
{
	(void)ashlar_tls_use(NULL);
	ashlar_tls_check();
}

TEST(start_tls_check_says_what_is_missing, 10)
{
	char text[200];

	CHECK_EQ(rt_run_child(check_without, NULL, text, sizeof text), 1000 + SIGILL);
	CHECK(rt_strcmp(text, "ashlar: no thread-local storage in this thread, see ashlar_start.h\n") == 0);
}
