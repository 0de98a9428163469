/* SPDX-License-Identifier: MIT */
/* Runs a program, and prints its peak of resident memory in KiB on standard error. */
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
	fprintf(stderr, "peak %ld\n", used.ru_maxrss);
	return 0;
}
