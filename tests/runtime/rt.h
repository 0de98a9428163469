/* SPDX-License-Identifier: MIT */
/*
 * The tiny runtime: what a test, demo or benchmark of Ashlar needs of a
 * system when there is no libc.  Nothing in here calls Ashlar, so that a test
 * sees only its own allocations; the one exception is that a thread of
 * rt_thread_start ends with ash_thread_detach.
 */
#ifndef RT_H
#define RT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

/* ---- start-up (start.c): the program defines main ---- */
int main(int argc, char **argv, char **envp);
extern char **rt_envp;
unsigned long rt_auxv(unsigned long type); /* 0 when the kernel sent none */
bool rt_under_qemu(void);		   /* RT_QEMU=1 in the environment: tests run smaller */
bool rt_in_full(void); /* STEPS_FULL=1 or STEPS_SOAK=1 (make test-long, make soak): nothing is thinned */
const char *rt_getenv(const char *name);
_Noreturn void rt_exit(int status); /* the whole process */

/* ---- printing (print.c): %s %c %d %u %x %p %% with l/z/ll, width, 0, -, and %.Nf ---- */
void rt_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
void rt_fprint(int fd, const char *format, ...) __attribute__((format(printf, 2, 3)));
size_t rt_format(char *out, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
size_t rt_vformat(char *out, size_t size, const char *format, va_list arguments);
bool rt_is_terminal(int fd);

/* ---- strings and memory (memcpy, memmove, memset, memcmp come from the archive) ---- */
size_t rt_strlen(const char *s);
int rt_strcmp(const char *a, const char *b);
char *rt_strstr(const char *hay, const char *needle);
void *memcpy(void *restrict to, const void *restrict from, size_t n);
void *memmove(void *to, const void *from, size_t n);
void *memset(void *to, int byte, size_t n);
int memcmp(const void *a, const void *b, size_t n);

/* ---- raw memory, straight from the kernel; NULL when there is none ---- */
void *rt_map(size_t bytes);
void rt_unmap(void *p, size_t bytes);

/* ---- files ---- */
/* Maps a file read-only; NULL when it cannot. */
const void *rt_map_file(const char *path, size_t *length);
/* Reads a whole (proc) file into out, NUL-terminated; bytes read or -errno. */
long rt_read_file(const char *path, char *out, size_t size);
size_t rt_resident(void);	 /* bytes of RSS now, /proc/self/statm            */
size_t rt_resident_peak(void);	 /* VmHWM in bytes, of this address space         */
void rt_resident_peak_reset(void); /* writes 5 to /proc/self/clear_refs           */
size_t rt_address_space(void);	 /* bytes of VmSize                               */
size_t rt_mappings(void);	 /* lines of /proc/self/maps                      */
unsigned long rt_faults(void);	 /* minor page faults of this process so far      */

/* ---- time and chance ---- */
uint64_t rt_now(void); /* monotonic nanoseconds */
uint64_t rt_cpu_time(long pid); /* nanoseconds that its threads had so far; 0: nobody knows */
void rt_sleep(uint64_t nanoseconds);
struct rt_random {
	uint64_t state[2];
};
void rt_seed(struct rt_random *r, uint64_t seed);
uint64_t rt_next(struct rt_random *r);			 /* 64 random bits       */
uint64_t rt_below(struct rt_random *r, uint64_t bound);	 /* 0 ... bound-1        */
/* RT_SEED from the environment, else a fixed one; failing tests print it. */
uint64_t rt_test_seed(void);

/* ---- threads: raw clone, own stack with a guard page, own TLS block ---- */
struct rt_thread;
struct rt_thread *rt_thread_start(void (*body)(void *), void *argument); /* NULL: none to be had */
void rt_thread_join(struct rt_thread *thread); /* waits, then frees stack and TLS */
int rt_thread_tid(const struct rt_thread *thread);
struct rt_barrier {
	_Atomic unsigned arrived, round;
	unsigned count;
};
void rt_barrier_wait(struct rt_barrier *b); /* set count, zero the rest */
void rt_yield(void);			    /* lets another thread have the CPU */
void rt_pin(unsigned cpu);		    /* this thread to one CPU; ignored when refused */

/* ---- processes ---- */
long rt_fork(void);
/* Waits; returns the exit status 0..255, or 1000 + signal number. */
int rt_wait(long pid);
/* The same for the next child that ends; returns its pid, negative: there is none. */
long rt_wait_any(int *status);
void rt_kill(long pid, int signal);
/*
 * Runs body(argument) in a child whose fd 2 is caught.  Returns as rt_wait;
 * *text (of `size` bytes, NUL-terminated) is what it wrote there.  A body
 * that returns exits with 0.
 */
int rt_run_child(void (*body)(void *), void *argument, char *text, size_t size);
/* Address-space limit (RLIMIT_AS) of this process from now on. */
bool rt_limit_address_space(size_t bytes);

/* ---- signals ---- */
void rt_signal(int number, void (*handler)(int number, void *info, void *context));
void rt_timer(unsigned microseconds); /* SIGALRM every so often; 0 stops it */
/* The same for the calling thread alone; what ends it, from any thread, or -1. */
long rt_timer_here(unsigned microseconds);
void rt_timer_end(long timer);

/* ---- tests: a registry in a linker section, no list to keep ---- */
struct rt_test {
	const char *name;
	void (*body)(const void *argument);
	const void *argument;
	unsigned seconds; /* of CPU time; test.c has the factors for QEMU and for the clock */
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
_Noreturn void rt_fail(const char *file, int line, const char *what);
_Noreturn void rt_fail_values(const char *file, int line, const char *what, unsigned long long a,
			      unsigned long long b);
_Noreturn void rt_skip(const char *reason); /* this test: printed and counted as skipped */
/*
 * Runs all registered tests (or those whose name contains an argument, and
 * none of the arguments that begin with a minus), each in a child with its
 * limit; prints one line for each and last
 * "N passed, N failed, N skipped".  Returns 0 only when none failed.
 */
int rt_run_tests(int argc, char **argv);

#endif
