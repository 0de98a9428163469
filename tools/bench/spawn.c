/* SPDX-License-Identifier: MIT */
/*
 *	spawn LIBRARY FILE PROGRAM [ARGUMENT...]
 *
 * Runs the program with LD_PRELOAD=LIBRARY (-: without) and appends to FILE what it took,
 * the children it waited for included: "time" of the wall, "cpu" of all threads in the
 * program and in the kernel, "peak" of the one that was largest, "faults" of pages.  Exits
 * as the program does.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static unsigned long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (unsigned long long)t.tv_sec * 1000000000u + (unsigned long long)t.tv_nsec;
}

static unsigned long long micros(struct timeval t)
{
	return (unsigned long long)t.tv_sec * 1000000u + (unsigned long long)t.tv_usec;
}

int main(int argc, char **argv)
{
	unsigned long long start, time;
	struct rusage usage;
	int status;
	pid_t pid;
	FILE *out;

	if (argc < 4)
		return 2;
	if (strcmp(argv[1], "-") != 0)
		setenv("LD_PRELOAD", argv[1], 1);
	else
		unsetenv("LD_PRELOAD");
	start = now();
	/* No copy of this process: what it has resident would count as the program's. */
	pid = vfork();
	if (pid == 0) {
		execvp(argv[3], argv + 3);
		_exit(127);
	}
	if (pid < 0)
		return 1;
	while (wait4(pid, &status, 0, &usage) < 0)
		if (errno != EINTR)
			return 1;
	time = now() - start;
	if (!WIFEXITED(status))
		return 128 + WTERMSIG(status);
	if (WEXITSTATUS(status) == 0) {
		out = fopen(argv[2], "a");
		if (out == NULL)
			return 1;
		fprintf(out, "time %llu ps\ncpu %llu ps\npeak %ld KiB\nfaults %ld\n", time * 1000,
			(micros(usage.ru_utime) + micros(usage.ru_stime)) * 1000000,
			usage.ru_maxrss, usage.ru_minflt);
		fclose(out);
	}
	return WEXITSTATUS(status);
}
