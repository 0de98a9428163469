/* SPDX-License-Identifier: MIT */
/*
 * A filter of system calls that is put on while the program runs: one call of the
 * list is refused in all threads, from the k-th time on, with any error.  The
 * program then gets NULL or goes on.  No block is given twice, none is lost, and no thread hangs.
 */
/* promises: ash_alloc, ash_heap_attach_file, ash_heap_create, ash_heap_recover, ash_heap_sync */
#include "program/audit.h"
#include "program/child.h"
#include "heaps/benches.h"
#include "syscall.h"

#define CALLS(X)                                                                                   \
	X(mmap, (void *a, size_t b, long c, long d, long e, long f), (a, b, c, d, e, f))           \
	X(munmap, (void *a, size_t b), (a, b))                                                     \
	X(madvise, (void *a, size_t b, long c), (a, b, c))                                         \
	X(mremap, (void *a, size_t b, size_t c, long d, void *e), (a, b, c, d, e))                 \
	X(mincore, (void *a, size_t b, unsigned char *c), (a, b, c))                               \
	X(gettid, (void), ())                                                                      \
	X(getpid, (void), ())                                                                      \
	X(getppid, (void), ())                                                                     \
	X(tkill, (long a, long b), (a, b))                                                         \
	X(tgkill, (long a, long b, long c), (a, b, c))                                             \
	X(unshare, (long a), (a))                                                                  \
	X(open, (const char *a, long b, long c), (a, b, c))                                        \
	X(read, (long a, void *b, size_t c), (a, b, c))                                            \
	X(readlink, (const char *a, char *b, size_t c), (a, b, c))                                 \
	X(fstat, (long a, struct arch_stat *b), (a, b))                                            \
	X(fallocate, (long a, long b, long c, long d), (a, b, c, d))                               \
	X(ftruncate, (long a, long b), (a, b))                                                     \
	X(pread64, (long a, void *b, size_t c, long d), (a, b, c, d))                              \
	X(pwrite64, (long a, const void *b, size_t c, long d), (a, b, c, d))                       \
	X(msync, (void *a, size_t b, long c), (a, b, c))                                           \
	X(fcntl, (long a, long b, long c), (a, b, c))

#define CALL_NAME(name, parameters, arguments) CALL_##name,
enum call_of_list { CALLS(CALL_NAME) CALLS_OF_LIST };

#define CALL_TEXT(name, parameters, arguments) #name,
static const char *const names[] = {CALLS(CALL_TEXT)};

static struct {
	bool on;
	enum call_of_list call;
	size_t from; /* this many are let through */
	long error;
	_Atomic size_t made;
} filter;

static bool refused(enum call_of_list call)
{
	return filter.on && call == filter.call && filter.made++ >= filter.from;
}

#define CALL_WRAP(name, parameters, arguments)                                                     \
	long __real_arch_##name parameters;                                                        \
	long __wrap_arch_##name parameters;                                                        \
	long __wrap_arch_##name parameters                                                         \
	{                                                                                          \
		return refused(CALL_##name) ? filter.error : __real_arch_##name arguments;         \
	}
CALLS(CALL_WRAP)

/* ---- what the program does ---- */

enum { THREADS = 3, BLOCKS = 80, ROUNDS = 2 };

static unsigned char *blocks[THREADS][BLOCKS];
static size_t sizes[THREADS][BLOCKS];
static struct rt_barrier turns;

static unsigned char byte_of(size_t t, size_t i)
{
	return (unsigned char)(t * 61 + i * 7 + 1);
}

/* Sizes of all kinds; one in 40 is a span. */
static void take(size_t t)
{
	for (size_t i = 0; i < BLOCKS; i++) {
		size_t size = i % 40 == 0 ? 3 * MIB : (i * i * 37 + t) % 40000 + 1;

		blocks[t][i] = i % 3 == 0 ? ash_zalloc(1, size) : ash_alloc(size);
		sizes[t][i] = size < 600 ? size : 600;
		if (blocks[t][i] == NULL)
			continue;
		if (i % 3 == 0)
			holds(blocks[t][i], sizes[t][i], 0);
		memset(blocks[t][i], byte_of(t, i), sizes[t][i]);
	}
}

static void give(size_t t)
{
	for (size_t i = 0; i < BLOCKS; i++) {
		unsigned char *p = blocks[t][i], *moved;

		if (p == NULL)
			continue;
		holds(p, sizes[t][i], byte_of(t, i));
		if (i % 5 == 0 && (moved = ash_resize(p, 5 * MIB)) != NULL)
			p = moved;
		holds(p, sizes[t][i], byte_of(t, i));
		ash_release(p);
	}
}

static void thread_body(void *argument)
{
	size_t t = (size_t)(uintptr_t)argument;

	for (unsigned round = 0; round < ROUNDS; round++) {
		take(t);
		rt_barrier_wait(&turns);
		give((t + 1) % THREADS); /* another's */
		rt_barrier_wait(&turns);
	}
	if (t == 0)
		(void)arch_exit(0); /* without a word */
}

/* Heaps beside the default one; any may be NULL. */
static void work_in(ash_heap *heap)
{
	unsigned char *p[20];

	if (heap == NULL)
		return;
	for (unsigned i = 0; i < 20; i++) {
		p[i] = ash_heap_alloc(heap, 100 + 3000 * i);
		if (p[i] != NULL)
			memset(p[i], byte_of(7, i), 100);
	}
	for (unsigned i = 0; i < 20; i++) {
		if (p[i] == NULL)
			continue;
		holds(p[i], 100, byte_of(7, i));
		ash_heap_release(heap, p[i]);
	}
	(void)ash_heap_recover(heap);
	(void)ash_heap_trim(heap, 0);
	(void)ash_heap_sync(heap);
	CHECK_EQ(ash_heap_check(heap), 0);
}

static void work_in_others(void)
{
	long fd = arch_memfd_create("heap", 0);
	enum ash_attach why;
	ash_heap *heaps[3];

	heaps[0] = ash_heap_create(NULL);
	heaps[1] = ash_heap_create_shared(8 * MIB, NULL);
	heaps[2] = ash_heap_open_file((int)fd, 8 * MIB, NULL, &why);
	for (unsigned i = 0; i < 3; i++) {
		work_in(heaps[i]);
		ash_heap_destroy(heaps[i]);
	}
	heaps[2] = ash_heap_attach_file((int)fd, &why);
	work_in(heaps[2]);
	ash_heap_destroy(heaps[2]);
	(void)arch_close(fd);
}

static void in_forked_child(UNUSED void *argument)
{
	take(0);
	give(0);
	work_in_others();
	CHECK_EQ(ash_check(), 0);
}

static void program(UNUSED void *argument)
{
	struct rt_thread *threads[THREADS];
	struct ash_statistics stats;

	ash_release(ash_alloc(1));
	turns.count = THREADS;
	for (size_t t = 0; t < THREADS; t++)
		CHECK((threads[t] = rt_thread_start(thread_body, (void *)(uintptr_t)t)) != NULL);
	filter.on = true;
	work_in_others();
	rt_threads_join(threads, THREADS);
	CHECK_EQ(in_child(in_forked_child, NULL), 0);
	take(0);
	give(0);
	(void)ash_trim(0);
	CHECK_EQ(ash_check(), 0);
	ash_stats(&stats);
	CHECK_EQ(stats.blocks, 0);
}

/* ---- each call in turn ---- */

TEST(refused_each_call_of_the_list, 120)
{
	static const long errors[] = {-1, -38, -22, -12, -11, -3, -14, -9, -4, -13};
	static const size_t from[] = {0, 1, 2, 3, 5, 8, 13, 21, 34, 55};
	const size_t kinds = sizeof errors / sizeof *errors;
	/* Under QEMU, where a run takes seconds: each error, at each moment, and every other call; natively all of them. */
	const size_t every = rt_under_qemu() ? 2 : 1;

	for (size_t call = 0; call < CALLS_OF_LIST; call += every)
		for (size_t k = every == 1 ? 0 : call / every % kinds; k < kinds; k += every == 1 ? 1 : kinds) {
			char text[256];
			int status;

			filter.call = (enum call_of_list)call;
			filter.from = from[k];
			filter.error = errors[(k + call) % kinds];
			status = rt_run_child(program, NULL, text, sizeof text);
			if (status != 0 || text[0] != '\0')
				rt_print("     %s from call %zu on, error %d: status %d %s\n",
					 names[call], from[k] + 1, (int)-filter.error, status,
					 text);
			CHECK_EQ(status, 0);
			CHECK_EQ(text[0], '\0');
		}
}

/* A thread whose id is refused has a bench of its own, which no other thread takes. */
static void benches_without_id(long error)
{
	struct bench *b[3];
	size_t i, k;

	for (i = 0; i < 3; i++)
		CHECK((b[i] = bench_take(SEATS_OF_PROCESS)) != NULL);
	for (i = 0; i < 3; i++)
		bench_leave(b[i]);
	filter.call = CALL_gettid;
	filter.error = error;
	filter.on = true;
	for (i = 0; i < 3; i++) {
		CHECK((b[i] = bench_take(SEATS_OF_PROCESS)) != NULL);
		for (k = 0; k < i; k++)
			CHECK(b[k] != b[i]);
	}
	filter.on = false;
}

TEST(refused_id_of_a_bench, 10)
{
	benches_without_id(-1);
	benches_without_id(0); /* a filter's error may be 0 */
}
