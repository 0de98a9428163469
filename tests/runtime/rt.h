/* SPDX-License-Identifier: MIT */
/*
 * The runtime of tests, demos and benchmarks: what they need of the system, without
 * a libc, beyond libashlar_start.a.  Nothing here calls Ashlar, so that a test sees only its own
 * allocations; one exception: a thread of rt_thread_start calls ash_thread_detach at its end.
 */
#ifndef RT_H
#define RT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)
#define UNUSED __attribute__((unused))

/* ---- start-up, by libashlar_start.a: a program without a main of its own runs its tests (main.c) ---- */
int main(int argc, char **argv, char **envp);
char **rt_envp(void);
unsigned long rt_auxv(unsigned long type); /* 0: not in the auxiliary vector */
bool rt_under_qemu(void);		   /* RT_QEMU=1 in the environment: smaller tests */
bool rt_emulated(void);		   /* the same, or RT_SLOW: an emulated kernel; all takes longer */
bool rt_in_full(void); /* STEPS_FULL=1 or STEPS_SOAK=1 (make test-long, make soak): nothing is thinned */
size_t rt_share(void);	 /* n of STEPS_SHARE=n, or 1: make test-long makes an nth of its repetitions (.ci/run) */
const char *rt_getenv(const char *name);
_Noreturn void rt_exit(int status); /* ends the whole process */

/* ---- printing (print.c): %s %c %d %u %x %p %% with l/z/ll, width, 0, -, and %.Nf ---- */
void rt_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
void rt_fprint(int fd, const char *format, ...) __attribute__((format(printf, 2, 3)));
size_t rt_format(char *out, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
size_t rt_vformat(char *out, size_t size, const char *format, va_list arguments);
bool rt_is_terminal(int fd);

/* ---- strings and memory (memcpy and so on are in the archives: arch/x86_64/memory.c) ---- */
size_t rt_strlen(const char *s);
int rt_strcmp(const char *a, const char *b);
char *rt_strstr(const char *hay, const char *needle);
uint64_t rt_number_in(const char *text); /* the first number, or 0 */
void *memcpy(void *restrict to, const void *restrict from, size_t n);
void *memmove(void *to, const void *from, size_t n);
void *memset(void *to, int byte, size_t n);
int memcmp(const void *a, const void *b, size_t n);

/* ---- memory from the kernel, or NULL ---- */
void *rt_map(size_t bytes);
void *rt_map_shared(size_t bytes); /* children of fork write the same memory */
void rt_unmap(void *p, size_t bytes);
/* Makes a part of the program writable; false: refused. */
bool rt_code_writable(void *p, size_t bytes);

/* ---- files ---- */
/* Maps a file read-only; NULL: it cannot be mapped. */
const void *rt_map_file(const char *path, size_t *length);
/* A new file in memory, without a name in any folder: its descriptor, or -errno. */
int rt_memory_file(const char *name);
uint64_t rt_file_memory(int fd); /* the bytes that the file takes on the disk, or in memory */
/* Reads a whole (proc) file into out, NUL-terminated; bytes read or -errno. */
long rt_read_file(const char *path, char *out, size_t size);
bool rt_write_file(const char *path, const char *text); /* a setting; false: refused */
/* Returns the number behind `name` ("" stands for the first word) in a file of the kernel's, or SIZE_MAX. */
size_t rt_number_of(const char *path, const char *name);
size_t rt_resident(void);	 /* bytes of RSS now, as the pages are            */
size_t rt_resident_peak(void);	 /* VmHWM in bytes, of this address space         */
/* The same without files' pages: code that runs for the first time comes by 64 KiB and more. */
size_t rt_anonymous(void);
/* By so much the kernel's peak may lag: it is a sum of counters kept by CPU (usage.c). */
size_t rt_resident_slack(void);
void rt_resident_peak_reset(void); /* writes 5 to /proc/self/clear_refs           */
size_t rt_address_space(void);	 /* bytes of VmSize                               */
size_t rt_data(void);		 /* of VmData                                     */
size_t rt_mappings(void);	 /* lines of /proc/self/maps                      */
void rt_small_pages(void);	 /* no huge pages for this process, by faults or later by khugepaged */
unsigned long rt_faults(void);	 /* minor page faults of this process so far      */

/* ---- time and random numbers ---- */
uint64_t rt_now(void); /* monotonic nanoseconds */
uint64_t rt_cpu_time(long pid); /* CPU time of its threads so far, nanoseconds; 0: unknown */
void rt_sleep(uint64_t nanoseconds);
struct rt_random {
	uint64_t state[2];
};
void rt_seed(struct rt_random *r, uint64_t seed);
uint64_t rt_next(struct rt_random *r);			 /* 64 random bits       */
uint64_t rt_below(struct rt_random *r, uint64_t bound);	 /* 0 ... bound-1        */
/* RT_SEED from the environment, else a fixed one; failing tests print it. */
uint64_t rt_test_seed(void);

/* ---- threads: those of ashlar_start.h, with stacks of 256 KiB ---- */
struct rt_thread;
struct rt_thread *rt_thread_start(void (*body)(void *), void *argument); /* NULL: it failed */
void rt_thread_join(struct rt_thread *thread); /* waits, then frees stack and TLS */
void rt_threads_join(struct rt_thread *const *threads, size_t count);
int rt_thread_tid(const struct rt_thread *thread);
struct rt_barrier {
	_Atomic unsigned arrived, round;
	unsigned count;
};
void rt_barrier_wait(struct rt_barrier *b); /* initialise: count set, the rest 0 */
void rt_yield(void);			    /* sched_yield                        */
void rt_pin(unsigned cpu);		    /* binds this thread to a CPU, if allowed */

/* ---- processes ---- */
long rt_fork(void);
/* SIGKILL to the caller when its parent ends; call it first. */
void rt_end_with_parent(void);
/* Waits; returns the exit status 0..255, or 1000 + signal number. */
int rt_wait(long pid);
/* The same for the next child that ends; returns its pid, or a negative number: no child. */
long rt_wait_any(int *status);
/* Waits for the next that ends, and leaves it to rt_wait: until then no other process has its pid. */
long rt_next_ended(void);
void rt_kill(long pid, int signal);
/*
 * Runs body(argument) in a child and captures its fd 2 in text (`size` bytes,
 * NUL-terminated).  Returns as rt_wait.  A body that returns ends with status 0.
 */
int rt_run_child(void (*body)(void *), void *argument, char *text, size_t size);
/* Limits the address space (RLIMIT_AS) or the data (RLIMIT_DATA) of this process.  False: the limit has no effect. */
bool rt_limit_address_space(size_t bytes);
bool rt_limit_data(size_t bytes);

/* ---- signals ---- */
void rt_signal(int number, void (*handler)(int number, void *info, void *context));
void rt_timer(unsigned microseconds); /* SIGALRM with this period; 0 stops it */
/* The same for the calling thread only; returns a timer for rt_timer_end, or -1. */
long rt_timer_here(unsigned microseconds);
void rt_timer_end(long timer);

/* ---- tests, registered in a linker section ---- */
struct rt_test {
	const char *name;
	void (*body)(const void *argument);
	const void *argument;
	unsigned seconds; /* of CPU time; test.c has the shortest, and the factors for QEMU and for the clock */
};
#define RT_ENTRY(id, test_name, function, arg, limit)                                              \
	static const struct rt_test rt_test_##id                                                   \
		__attribute__((used, section("rt_tests"), aligned(8))) = {test_name, function,     \
									  arg, limit}
/* TEST(name, seconds) { body }: each runs in a child process of its own. */
#define TEST(id, limit)                                                                            \
	static void rt_body_##id(const void *);                                                    \
	RT_ENTRY(id, #id, rt_body_##id, NULL, limit);                                              \
	static void rt_body_##id(__attribute__((unused)) const void *argument)
/* A row of functions for a table, each of one statement: DOES(name, statement); */
#define DOES(name, ...)                                                                            \
	static void name(void)                                                                     \
	{                                                                                          \
		__VA_ARGS__;                                                                       \
	}                                                                                          \
	_Static_assert(true, "a semicolon follows")
/* A row of tests that are all one call: TEST_CALL(name, seconds, function(arguments that differ)); */
#define TEST_CALL(id, limit, call)                                                                 \
	TEST(id, limit)                                                                            \
	{                                                                                          \
		call;                                                                              \
	}                                                                                          \
	_Static_assert(true, "a semicolon follows")
#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition))                                                                  \
			rt_fail(__FILE__, __LINE__, #condition);                                   \
	} while (0)
#define CHECK_EQ(a, b)                                                                             \
	do {                                                                                       \
		unsigned long long rt_a = (unsigned long long)(a);                                 \
		unsigned long long rt_b = (unsigned long long)(b);                                 \
		if (rt_a != rt_b)                                                                  \
			rt_fail_values(__FILE__, __LINE__, #a " == " #b, rt_a, rt_b);              \
	} while (0)
/* The pointer, which must not be NULL. */
#define NOT_NULL(pointer)                                                                          \
	((__typeof__(pointer))rt_not_null((const void *)(pointer), __FILE__, __LINE__, #pointer))
/* IN_CHILD { body }: in a forked child.  It ends with status 0 after the body, for which the parent waits. */
#define IN_CHILD for (; rt_in_child(__FILE__, __LINE__, 0); rt_exit(0))
/* The same in one that is killed behind the body, so that nothing of it is put in order. */
#define IN_KILLED_CHILD for (; rt_in_child(__FILE__, __LINE__, 1000 + 9); rt_be_killed())
_Noreturn void rt_fail(const char *file, int line, const char *what);
_Noreturn void rt_fail_values(const char *file, int line, const char *what, unsigned long long a,
			      unsigned long long b);
static inline void *rt_not_null(const void *pointer, const char *file, int line, const char *what)
{
	if (pointer == NULL)
		rt_fail(file, line, what);
	return (void *)(uintptr_t)pointer;
}
bool rt_in_child(const char *file, int line, int expected);
/* CHILD(statement): the pid of a forked child that does this, and ends with status 0. */
#define CHILD(...)                                                                                 \
	({                                                                                         \
		long rt_child = rt_fork();                                                         \
		CHECK(rt_child >= 0);                                                              \
		if (rt_child == 0) {                                                               \
			__VA_ARGS__;                                                               \
			rt_exit(0);                                                                \
		}                                                                                  \
		rt_child;                                                                          \
	})
_Noreturn void rt_be_killed(void);
/* body(argument) in a thread of its own, which has ended when this returns. */
static inline void rt_in_thread(void (*body)(void *), void *argument)
{
	rt_thread_join(NOT_NULL(rt_thread_start(body, argument)));
}
/* A program may define rt_left_out[]: tests that are skipped; the last name is NULL. */
struct rt_left_out {
	const char *name, *reason;
};
_Noreturn void rt_skip(const char *reason); /* ends this test, counted as skipped */
/*
 * Runs the registered tests, each in a child process with its time limit.  Arguments
 * select by a part of the name, arguments with a leading minus exclude; without
 * selecting arguments all others run.  Prints a line for each test and last "N passed,
 * N failed, N skipped".  Returns 0 only if none failed.
 */
int rt_run_tests(int argc, char **argv);

#endif
