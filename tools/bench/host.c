/* SPDX-License-Identifier: MIT */
/* What the benchmarks use of rt.h, over a libc.  Nothing in here calls malloc. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "rt.h"

enum { THREADS = 10240 };

/* Of a table: a benchmark's own bookkeeping is no work for the malloc under test. */
struct rt_thread {
	pthread_t id;
	void (*body)(void *);
	void *argument;
	bool used; /* by the thread that starts and joins, which is one */
};
static struct rt_thread threads[THREADS];

void rt_print(const char *format, ...)
{
	char line[256];
	va_list arguments;
	int n;

	va_start(arguments, format);
	n = vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	if (n > 0 && write(1, line, (size_t)n) != n)
		_exit(1);
}

_Noreturn void rt_exit(int status)
{
	_exit(status);
}

size_t rt_strlen(const char *s)
{
	return strlen(s);
}

int rt_strcmp(const char *a, const char *b)
{
	return strcmp(a, b);
}

uint64_t rt_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void rt_sleep(uint64_t nanoseconds)
{
	struct timespec t = {(time_t)(nanoseconds / 1000000000u), (long)(nanoseconds % 1000000000u)};

	nanosleep(&t, NULL);
}

void *rt_map(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

void rt_unmap(void *p, size_t bytes)
{
	munmap(p, bytes);
}

const void *rt_map_file(const char *path, size_t *length)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat about;
	void *p = MAP_FAILED;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &about) == 0 && about.st_size > 0)
		p = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	*length = (size_t)about.st_size;
	return p == MAP_FAILED ? NULL : p;
}

/* The bytes of a line of /proc/self/status; 0: there is none. */
static size_t status(const char *name)
{
	char text[4096];
	int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	const char *line;
	size_t kib = 0;

	close(fd);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	line = strstr(text, name);
	for (line = line != NULL ? line + strlen(name) : ""; *line != '\n' && *line != '\0'; line++)
		if (*line >= '0' && *line <= '9')
			kib = kib * 10 + (size_t)(*line - '0');
	return kib * 1024;
}

size_t rt_resident(void)
{
	return status("VmRSS:");
}

size_t rt_resident_peak(void)
{
	return status("VmHWM:");
}

unsigned long rt_faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (unsigned long)usage.ru_minflt;
}

void rt_resident_peak_reset(void)
{
	int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, "5", 1) != 1)
		(void)0; /* then the peak is that of the whole process: more, not less */
	close(fd);
}

static void *thread_main(void *p)
{
	struct rt_thread *thread = p;

	thread->body(thread->argument);
	return NULL;
}

struct rt_thread *rt_thread_start(void (*body)(void *), void *argument)
{
	static size_t next; /* where to look first, as there may be thousands */
	struct rt_thread *thread;
	size_t i;

	for (i = 0; i < THREADS && threads[next % THREADS].used; i++)
		next++;
	if (i == THREADS)
		return NULL;
	thread = &threads[next++ % THREADS];
	thread->body = body;
	thread->argument = argument;
	thread->used = pthread_create(&thread->id, NULL, thread_main, thread) == 0;
	return thread->used ? thread : NULL;
}

void rt_thread_join(struct rt_thread *thread)
{
	pthread_join(thread->id, NULL);
	thread->used = false;
}

void rt_yield(void)
{
	sched_yield();
}
