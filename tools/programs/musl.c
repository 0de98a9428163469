/* SPDX-License-Identifier: MIT */
/*
 * malloc inside of musl (tools/musl): the promises of C, POSIX and musl, blocks that threads and a library of dlopen
 * give each other, and a handler that allocates in the midst of other calls.  With an argument, which is the library
 * (-DLIBRARY), the program loads it.
 */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#ifdef LIBRARY
static char *early;

__attribute__((constructor)) static void begin(void)
{
	early = malloc(3000);
	memset(early, 'e', 3000);
}

char *library_swap(char *p);
char *library_swap(char *p)
{
	char *mine = early;

	early = realloc(p, 5000);
	return mine;
}

__attribute__((destructor)) static void end(void)
{
	free(early);
}
#else
#include <dlfcn.h>

#ifndef MOVED
#define MOVED 0
#endif
static __thread volatile char local[MOVED + 1]; /* with many bytes the dynamic linker moves the main thread */

#define CHECK(truth) ((truth) ? (void)0 : fail(#truth, __LINE__))

static void fail(const char *truth, int line)
{
	fprintf(stderr, "musl.c:%d: %s\n", line, truth);
	abort();
}

/* Returns whether the block reads zero, after it wrote to all of it. */
static int was_zero(char *p, size_t size)
{
	size_t i;
	int zero = 1;

	for (i = 0; i < size; i++)
		zero &= p[i] == 0;
	memset(p, 0xa5, size);
	return zero;
}

static void sizes(void)
{
	size_t size;
	char *p;

	for (size = 0; size < 3000000; size += 1 + size / 3) {
		CHECK((p = malloc(size)) != NULL && (uintptr_t)p % 16 == 0 && malloc_usable_size(p) >= size);
		memset(p, 1, size);
		CHECK((p = realloc(p, size * 2 + 1)) != NULL && (size == 0 || (p[0] == 1 && p[size - 1] == 1)));
		free(p);
		/* Twice: the second block may be the memory of the first, which was written. */
		CHECK((p = calloc(1, size)) != NULL && was_zero(p, size));
		free(p);
		CHECK((p = calloc(size, 1)) != NULL && was_zero(p, size));
		CHECK((p = realloc(p, size / 3)) != NULL);
		free(p);
	}
	free(NULL);
	CHECK((p = realloc(NULL, 10)) != NULL && (p = realloc(p, 0)) != NULL);
	free(p);
	CHECK(malloc_usable_size(NULL) == 0);
}

static void alignments(void)
{
	size_t alignment;
	void *p, *q;

	for (alignment = 1; alignment <= (size_t)4 << 20; alignment *= 2) {
		CHECK((p = aligned_alloc(alignment, 100)) != NULL && (uintptr_t)p % alignment == 0 && (uintptr_t)p % 16 == 0);
		CHECK((q = memalign(alignment, 70000)) != NULL && (uintptr_t)q % alignment == 0);
		memset(q, 2, 70000);
		free(p);
		p = &alignment;
		CHECK(alignment < sizeof(void *) ? posix_memalign(&p, alignment, 1) == EINVAL && p == &alignment :
						   posix_memalign(&p, alignment, 1) == 0 && (uintptr_t)p % alignment == 0);
		if (alignment >= sizeof(void *))
			free(p);
		free(q);
	}
}

static void refusals(void)
{
	volatile size_t huge = PTRDIFF_MAX;
	void *p = malloc(10);

#define REFUSES(call, error) CHECK((errno = 0, (call) == NULL && errno == (error)))
	REFUSES(malloc(huge + 1), ENOMEM);
	REFUSES(malloc(SIZE_MAX - (huge & 7)), ENOMEM);
	REFUSES(calloc(huge, 3), ENOMEM);
	REFUSES(realloc(p, huge + 1), ENOMEM);
	REFUSES(reallocarray(p, huge, 4), ENOMEM);
	REFUSES(aligned_alloc(24, 100), EINVAL);
	REFUSES(aligned_alloc(64, huge + 1), ENOMEM);
	CHECK(posix_memalign(&p, 64, huge + 1) == ENOMEM);
	/* A call that has memory leaves errno as it was. */
	errno = 77;
	free(malloc(2000000));
	CHECK(errno == 77);
	free(p);
}

static void *other(void *p)
{
	free(p);
	return strdup("of a thread");
}

static void threads(void)
{
	pthread_t t;
	void *p;
	int i;

	for (i = 0; i < 200; i++) {
		CHECK(pthread_create(&t, NULL, other, malloc((size_t)i * 1000)) == 0 && pthread_join(t, &p) == 0);
		CHECK(strcmp(p, "of a thread") == 0);
		free(p);
	}
}

static pthread_barrier_t all;

static void *visit(void *unused)
{
	char *blocks[64];
	unsigned i;

	for (i = 0; i < 64; i++)
		memset(blocks[i] = malloc(20 + i * 40), 1, 20 + i * 40);
	for (i = 0; i < 64; i++)
		free(blocks[i]);
	pthread_barrier_wait(&all);
	return unused;
}

static long resident(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	long pages = 0;

	CHECK(f != NULL && fscanf(f, "%*d %ld", &pages) == 1);
	fclose(f);
	return pages;
}

/* What threads held is free when they ended: each leaves less than 32 KiB (18; without ash_thread_detach 58). */
static void ended(void)
{
	enum { THREADS = 200 };
	pthread_t t[THREADS];
	long before = resident();
	unsigned i;

	pthread_barrier_init(&all, NULL, THREADS);
	for (i = 0; i < THREADS; i++)
		CHECK(pthread_create(&t[i], NULL, visit, NULL) == 0);
	for (i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	CHECK(resident() - before < (long)(THREADS * 32768 / sysconf(_SC_PAGESIZE)));
}

static volatile sig_atomic_t handled;

static void handler(int number)
{
	static char *kept;
	char *p = malloc((size_t)(handled % 5) * 700 + 1);

	(void)number;
	*p = 1;
	free(kept);
	kept = p;
	handled = handled + 1;
}

/* Ends after 200 interruptions, each at most 100 us after the one before. */
static void interrupted(void)
{
	struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
	char *live[50] = {0};
	unsigned i;

	signal(SIGALRM, handler);
	setitimer(ITIMER_REAL, &often, NULL);
	for (i = 0; handled < 200; i++) {
		char **p = &live[i * 7919 % 50];

		if (*p != NULL)
			CHECK(**p == (char)(i * 7919 % 50));
		free(*p);
		CHECK((*p = malloc(1 + i * 977 % 4000)) != NULL);
		memset(*p, (int)(i * 7919 % 50), 1 + i * 977 % 4000);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	for (i = 0; i < 50; i++)
		free(live[i]);
}

int main(int argc, char **argv)
{
	char *(*swap)(char *), *p;
	void *library;
	int i;

	local[MOVED] = 1;
	sizes();
	alignments();
	refusals();
	threads();
	ended();
	interrupted();
	for (i = 0; argc > 1 && i < 20; i++) {
		CHECK((library = dlopen(argv[1], RTLD_NOW)) != NULL && (swap = (char *(*)(char *))dlsym(library, "library_swap")) != NULL);
		p = swap(malloc(100));
		CHECK(p != NULL);
		free(p);
		dlclose(library);
	}
	puts("all is well");
	return 0;
}
#endif
