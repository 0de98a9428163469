/* SPDX-License-Identifier: MIT */
/* What runs under the filter of filter.sh: peaks go back, and threads are inherited, there as elsewhere. */
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MIB = 1 << 20, BLOCKS = 20000 };

static long resident(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	long all = 0, here = 0;

	if (f == NULL || fscanf(f, "%ld %ld", &all, &here) != 2)
		exit(2);
	fclose(f);
	return here * (sysconf(_SC_PAGESIZE) / 1024); /* KiB */
}

static void fail(const char *what, long figure)
{
	fprintf(stderr, "%s: %ld\n", what, figure);
	exit(1);
}

static void *blocks[BLOCKS];

static void peak(size_t size, size_t n)
{
	long before = resident(), after;
	size_t i;

	for (i = 0; i < n; i++)
		memset(blocks[i] = malloc(size), 1, size);
	if (resident() - before < (long)(size * n / 1024 / 2))
		fail("no peak", resident());
	for (i = 0; i < n; i++)
		free(blocks[i]);
	for (i = 0; i < 40000; i++)
		free(malloc(40000 + i % 1000));
	malloc_trim(0);
	after = resident();
	if (after > before + 12 * 1024)
		fail("KiB stay of a peak", after - before);
}

static void *work(void *argument)
{
	void *mine[500];
	size_t i;

	for (i = 0; i < 500; i++)
		memset(mine[i] = malloc(16 + i * 40), 2, 16 + i * 40);
	for (i = 0; i < 500; i++)
		if (argument == NULL || i % 2 != 0)
			free(mine[i]);
		else
			blocks[i] = mine[i]; /* for another thread */
	return NULL;
}

static void threads(void)
{
	pthread_t t[4];
	unsigned round, i;
	long before = 0;

	for (round = 0; round < 200; round++) {
		for (i = 0; i < 4; i++)
			if (pthread_create(&t[i], NULL, work, i == 0 ? blocks : NULL) != 0)
				exit(2);
		for (i = 0; i < 4; i++)
			pthread_join(t[i], NULL);
		for (i = 0; i < 500; i += 2)
			free(blocks[i]);
		if (round == 20)
			before = resident();
	}
	if (resident() > before + 32 * 1024)
		fail("KiB more with each thread", resident() - before);
}

int main(int argc, char **argv)
{
	char *p = NULL;
	size_t i;
	int status;

	if (argc > 1 && strcmp(argv[1], "forbidden") == 0)
		malloc_stats();
	peak(6 * MIB / BLOCKS, BLOCKS);
	threads();
	peak(100000, 1000);
	peak(5 * MIB, 20);
	for (i = 1; i < 64 * MIB; i += i / 7 + 1) {
		p = realloc(p, i);
		if (p == NULL)
			fail("no memory for", (long)i);
		p[i - 1] = 3;
		free(calloc(1, i));
	}
	free(p);
	if (fork() == 0) {
		threads();
		peak(3000, BLOCKS);
		_exit(0);
	}
	if (wait(&status) < 0 || status != 0)
		fail("the child", status);
	return 0;
}
