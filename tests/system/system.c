/* SPDX-License-Identifier: MIT */
/*
 * libashlar-core.a: the allocator without a system call, on the system of array.c; beside
 * these, the ordinary tests of the default heap run on it.
 */
/* promises: ash_system_map, ash_system_write */
#include "ashlar_system.h"
#include "support/blocks.h"
#include "support/misuse.h"
#include "syscall.h"
#include "system/array.h"

const char misuse_traps = 1;

/* A tree without the store has neither. */
#pragma weak ash_heap_create_shared
#pragma weak ash_heap_attach_file

enum { BLOCKS = 3000 };

#define NO_FORK "the system of this program knows no fork"

const struct rt_left_out rt_left_out[] = {
	{"aligned_moves_without_faults", "the system of this program moves no pages"},
	{"fork_in_the_middle_of_threads", NO_FORK},
	{"signal_handlers_fork", NO_FORK},
	{NULL, NULL},
};

/* Misuse is written by the program, without its own hook. */
void ash_system_write(const char *line, size_t length)
{
	(void)arch_write(2, line, length);
}

/* ---- no system call ---- */

/* All calls of the default heap and of heaps; status 0: all was right. */
static int use_all(uint64_t seed)
{
	static struct {
		char *p;
		size_t size;
	} block[BLOCKS];
	static char memory[100000];
	struct rt_random random;
	struct ash_block found;
	ash_heap *heaps[2];
	size_t i, n;

	rt_seed(&random, seed);
	for (n = 0; n < 60000; n++) {
		size_t size = rt_below(&random, (size_t)8 << rt_below(&random, n % 64 == 0 ? 19 : 10));
		char *p;

		i = rt_below(&random, BLOCKS);
		p = block[i].p;
		if (p == NULL) {
			p = n % 3 == 0	 ? ash_zalloc(1, size)
			    : n % 7 == 0 ? ash_aligned_alloc(4096, size)
					 : ash_alloc(size);
			if (p == NULL || (n % 3 == 0 && size > 0 && (p[0] != 0 || p[size - 1] != 0)))
				return 1;
		} else if (block[i].size > 0 &&
			   (p[0] != (char)i || p[block[i].size - 1] != (char)i)) {
			return 2;
		} else if (n % 4 == 0) {
			p = ash_resize(p, size);
			if (p == NULL)
				return 3;
		} else {
			ash_release(p);
			p = NULL;
		}
		block[i].p = p;
		block[i].size = size;
		if (p != NULL && size > 0)
			p[0] = p[size - 1] = (char)i;
	}
	if (ash_check() != 0 || ash_find(block, &found) != ASH_FOREIGN)
		return 4;
	for (i = 0; i < BLOCKS; i++)
		ash_release(block[i].p);
	if (stats_now().blocks != 0 || ash_check() != 0)
		return 5;
	(void)ash_trim(0);
	heaps[0] = ash_heap_create(NULL);
	heaps[1] = ash_heap_create_in(memory, sizeof memory);
	for (i = 0; i < 2; i++) {
		void *p = heaps[i] == NULL ? NULL : ash_heap_alloc(heaps[i], 1000);

		if (p == NULL || ash_heap_check(heaps[i]) != 0)
			return 6;
		ash_heap_release(heaps[i], p);
		ash_heap_destroy(heaps[i]);
	}
	if (ash_heap_create_shared != NULL && (ash_heap_create_shared(1, NULL) != NULL || ash_heap_attach_file(0, NULL) != NULL))
		return 7;
	ash_thread_detach();
	return ash_alloc(1) != NULL ? 0 : 8;
}

TEST(system_makes_no_system_call, 20)
{
	enum { PR_SET_SECCOMP = 22, SECCOMP_MODE_STRICT = 1 };
	long pid;

	if (rt_under_qemu()) /* whose own system calls would be those that are refused */
		rt_skip("QEMU has the system calls of its own");
	pid = rt_fork();
	if (pid == 0) {
		/* Whatever is not read, write, exit or sigreturn ends the process, by SIGKILL. */
		if (arch_prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0) != 0)
			rt_exit(77);
		(void)arch_exit(use_all(rt_test_seed()));
	}
	switch (rt_wait(pid)) {
	case 77:
		rt_skip("the kernel has no seccomp");
	case 0:
		break;
	default:
		rt_fail(__FILE__, __LINE__, "no system call, and all as it should be");
	}
	/* One call more is noticed. */
	pid = rt_fork();
	if (pid == 0) {
		(void)arch_prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0);
		(void)arch_gettid();
		(void)arch_exit(0);
	}
	CHECK_EQ(rt_wait(pid), 1009);
}

TEST(system_all_calls, 20)
{
	CHECK_EQ(use_all(rt_test_seed()), 0);
}

/* Everything comes out of the array, and NULL when it is full; then released blocks serve. */
TEST(system_full, 20)
{
	size_t first = array_left(), n = 0, again = 0;
	void **last = NULL, **p;
	char *from = NULL;

	while ((p = ash_alloc(300000)) != NULL) {
		from = from == NULL ? (char *)p : from;
		CHECK((uintptr_t)p - (uintptr_t)from < ARRAY_BYTES ||
		      (uintptr_t)from - (uintptr_t)p < ARRAY_BYTES);
		*p = last;
		last = p;
		n++;
	}
	rt_print("     %zu of %zu MiB in blocks, %zu KiB left\n", n * 300000 / MIB, first / MIB,
		 array_left() / KIB);
	CHECK(n * 300000 > first / 4 * 3 && array_left() < 4 * MIB);
	CHECK_EQ(ash_check(), 0);
	for (; last != NULL; last = p) {
		p = *last;
		ash_release(last);
	}
	/* Nothing was unmapped: it serves other sizes. */
	while ((p = ash_alloc(3 * MIB / 2)) != NULL) {
		*p = last;
		last = p;
		again++;
	}
	CHECK(again * 2 * MIB > first / 10 * 9);
	CHECK_EQ(ash_check(), 0);
}

/*
 * The plainest system, which hands out one piece after the other: neither records between chunks
 * nor the ends of units may cost much.
 */
TEST(system_plain_array, 20)
{
	static void *small[1000], *block[1000];
	size_t n = 0, i, k;

	array_plain(64 * MIB);
	for (i = 0; i < 1000; i++)
		CHECK((small[i] = ash_alloc(i * 13 + 1)) != NULL);
	release_each(small, 1000);
	while (n < 1000 && (block[n] = ash_alloc(100000)) != NULL)
		memset(block[n], (int)n, 100000), n++;
	rt_print("     %zu blocks\n", n);
	CHECK(n >= 560 && n < 700);
	CHECK_EQ(ash_check(), 0);
	for (i = 0; i < n; i++)
		for (k = 0; k < 100000; k += 99999)
			CHECK_EQ(((unsigned char *)block[i])[k], i % 256);
	/* Blocks of slabs of several slots: in any order, in place, and as a heap's memory. */
	for (i = 0; i < n; i += 2)
		ash_release(block[i]);
	for (i = 1; i < n; i += 2) {
		ash_heap *heap = ash_heap_create_in(block[i], 100000);

		CHECK(heap != NULL && ash_heap_alloc(heap, 100) != NULL);
		if (i % 4 == 1)
			CHECK((block[i] = ash_resize(block[i], 106000)) != NULL);
		ash_release(block[i]);
		block[i] = NOT_NULL(ash_alloc(100000));
		heap = ash_heap_create_in(block[i], 100000); /* the first one went with its block */
		CHECK(heap != NULL);
		ash_heap_destroy(heap);
	}
	for (i = 1; i < n; i += 2)
		ash_release(block[i]);
	CHECK_EQ(ash_check(), 0);
	for (i = 0; (block[i] = ash_alloc(200000)) != NULL;)
		i++;
	rt_print("     %zu blocks\n", i);
	CHECK(i >= 260);
	CHECK_EQ(ash_check(), 0);
}
