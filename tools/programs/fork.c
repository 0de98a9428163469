/* SPDX-License-Identifier: MIT */
/* Forks often while eight threads allocate; each child allocates, too, and starts a thread. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 8, LIVE = 300 };

static _Atomic int stop;

static void churn(uint32_t seed, unsigned rounds)
{
	char *live[LIVE] = {0};
	unsigned i;

	for (i = 0; i < rounds && !stop; i++) {
		char **p;

		seed = seed * 1664525 + 1013904223;
		p = &live[(seed >> 8) % LIVE];
		free(*p);
		*p = malloc((seed >> 10) % ((seed >> 28) == 0 ? 200000 : 2000) + 1);
		if (*p == NULL)
			abort();
		**p = 1;
	}
	for (i = 0; i < LIVE; i++)
		free(live[i]);
}

static void *work(void *number)
{
	while (!stop)
		churn((uint32_t)(uintptr_t)number, 100000);
	return NULL;
}

static void *short_work(void *number)
{
	churn((uint32_t)(uintptr_t)number, 200);
	return NULL;
}

int main(int argc, char **argv)
{
	int forks = argc > 1 ? atoi(argv[1]) : 1000, i, status;
	pthread_t t[THREADS], mine;

	for (i = 0; i < THREADS; i++)
		if (pthread_create(&t[i], NULL, work, (void *)(uintptr_t)(i + 1)) != 0)
			abort();
	for (i = 0; i < forks; i++) {
		pid_t child = fork();

		if (child < 0)
			abort();
		if (child == 0) {
			alarm(1800); /* a hang */
			churn((uint32_t)i, 3000);
			if (i % 8 == 0) {
				if (pthread_create(&mine, NULL, short_work, (void *)7) != 0)
					abort();
				pthread_join(mine, NULL);
			}
			_exit(0);
		}
		if (waitpid(child, &status, 0) != child || status != 0) {
			printf("child %d: status %#x\n", i, status);
			return 1;
		}
		free(malloc((size_t)i * 100));
	}
	stop = 1;
	for (i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	printf("%d forks\n", forks);
	return 0;
}
