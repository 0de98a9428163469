/* SPDX-License-Identifier: MIT */
/*
 * Heaps in files that were made in one program, and attached in fresh ones, with
 * and without random addresses: never is anything else there.
 */
#ifndef TESTS_STORE_PROGRAM_APART_H
#define TESTS_STORE_PROGRAM_APART_H

#include "ashlar_heap.h"
#include "rt.h"

#include "syscall.h"

enum { APART_HEAPS = 2, APART_FIXED = 0x40000, APART_RDWR = 2 };

static const size_t apart_bytes[APART_HEAPS] = {(size_t)1 << 30, (size_t)64 << 30};

/* In a fresh program: the files, by number, can be attached, both at once. */
static int apart_attach(char **fd)
{
	int taken = 0;
	unsigned i;

	for (i = 0; i < APART_HEAPS; i++) {
		char path[64];
		enum ash_attach why;
		ash_heap *h;

		rt_format(path, sizeof path, "/proc/self/fd/%s", fd[i]);
		h = ash_heap_attach_file((int)arch_open(path, APART_RDWR, 0), &why);
		if (h == NULL)
			taken += why == ASH_ATTACH_TAKEN ? 1 : 50;
		else if (ash_heap_root(h) != ash_heap_root(h) || ash_heap_alloc(h, 100) == NULL)
			return 99;
		else
			ash_heap_thread_detach(h);
	}
	return taken;
}

static unsigned apart_fresh(const int *fd, bool fixed)
{
	char numbers[APART_HEAPS][16];
	char *arguments[] = {(char *)"apart", (char *)"attach", numbers[0], numbers[1], NULL};
	unsigned i;
	long pid;

	for (i = 0; i < APART_HEAPS; i++)
		rt_format(numbers[i], sizeof numbers[i], "%d", fd[i]);
	pid = rt_fork();
	if (pid == 0) {
		if (fixed)
			(void)arch_personality(APART_FIXED);
		(void)arch_execve("/proc/self/exe", arguments, rt_envp());
		rt_exit(97);
	}
	return (unsigned)rt_wait(pid);
}

static void apart_all(unsigned programs)
{
	unsigned taken = 0, n, i;
	int fd[APART_HEAPS];
	ash_heap *h[APART_HEAPS];

	for (n = 0; n < programs; n++) {
		/*
		 * New ones now and then: their addresses differ.  Both are made before one is
		 * destroyed, or by chance (1 pair in 1000) they would have addresses in common.
		 */
		for (i = 0; i < APART_HEAPS && n % 10 == 0; i++) {
			if (n > 0)
				arch_close(fd[i]);
			fd[i] = (int)arch_memfd_create("apart", 0);
			h[i] = NOT_NULL(ash_heap_create_file(fd[i], apart_bytes[i], NULL));
		}
		for (i = 0; i < APART_HEAPS && n % 10 == 0; i++)
			ash_heap_destroy(h[i]);
		i = apart_fresh(fd, n % 2 != 0);
		if (i == 97 && rt_under_qemu())
			rt_skip("QEMU starts no programs of another CPU");
		CHECK(i <= APART_HEAPS);
		taken += i;
	}
	rt_print("     %u programs, %u heaps, %u times taken\n", programs, programs * APART_HEAPS,
		 taken);
	CHECK_EQ(taken, 0);
}

static int apart_main(int argc, char **argv)
{
	if (argc == 2 + APART_HEAPS && rt_strcmp(argv[1], "attach") == 0)
		return apart_attach(argv + 2);
	return rt_run_tests(argc, argv);
}

#endif
