/* SPDX-License-Identifier: MIT */
/* The system, for the hosted sides of shared.c. */
#ifndef BENCH_SHARED_HOST_H
#define BENCH_SHARED_HOST_H

#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define print      printf
#define yield()    sched_yield()
#define same(a, b) (strcmp(a, b) == 0)

/* Of the heap's file, in memory as Ashlar's. */
static char heap_name[64];

static void *common_memory(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	/* tools/bench/shared names it, and removes it if it is interrupted. */
	if (getenv("BENCH_HEAP") != NULL)
		snprintf(heap_name, sizeof heap_name, "%s", getenv("BENCH_HEAP"));
	else
		snprintf(heap_name, sizeof heap_name, "/dev/shm/ashlar-bench-%ld", (long)getpid());
	return p == MAP_FAILED ? NULL : p;
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static bool start_process(void)
{
	fflush(stdout);
	return fork() == 0;
}

static long start_process_known(void)
{
	fflush(stdout);
	return fork();
}

static void kill_process(long pid)
{
	kill((pid_t)pid, SIGKILL);
}

static void pause_for(uint64_t nanoseconds)
{
	struct timespec t = {0, (long)nanoseconds};

	nanosleep(&t, NULL);
}

static void end_after(unsigned seconds)
{
	alarm(seconds);
}

static void leave(int status)
{
	fflush(stdout);
	_exit(status);
}

static bool process_ended_well(void)
{
	int status;

	return wait(&status) > 0 && status == 0;
}

static void heap_remove(void)
{
	unlink(heap_name);
}

/* Of the disk, or of memory. */
static uint64_t heap_file_bytes(void)
{
	struct stat s;

	return stat(heap_name, &s) == 0 ? (uint64_t)s.st_blocks * 512 : 0;
}

#endif
