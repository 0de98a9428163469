/* SPDX-License-Identifier: MIT */
/*
 * Runs a program, and prints on standard error its peak of resident memory in KiB, and the time of the processors in
 * microseconds, with that of the processes for which it waited.
 */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct rusage used;
	pid_t child;
	int status;

	(void)argc;
	child = fork();
	if (child == 0) {
		execv(argv[1], argv + 1);
		_exit(127);
	}
	if (wait4(child, &status, 0, &used) != child || status != 0)
		return 1;
	fprintf(stderr, "peak %ld\ntime %ld\n", used.ru_maxrss,
		(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000L + used.ru_utime.tv_usec + used.ru_stime.tv_usec);
	return 0;
}
