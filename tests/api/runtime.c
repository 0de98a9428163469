/* SPDX-License-Identifier: MIT */
/* The runtime itself: what all other tests stand on.  Ashlar is not called. */
#include "rt.h"

#include <stdatomic.h>

enum { SIGILL = 4, SIGKILL = 9, SIGSEGV = 11, SIGALRM = 14 };
enum { THREADS = 8, ROUNDS = 100 };

/* ---- thread-local storage ---- */

static _Thread_local uint64_t tls_value = 0x1122334455667788;
static _Thread_local char tls_zero[24];
static _Thread_local _Alignas(64) char tls_aligned[64] = "aligned";

static bool tls_is_fresh(void)
{
	bool zero = true;

	for (size_t i = 0; i < sizeof(tls_zero); i++)
		zero = zero && tls_zero[i] == 0;
	return zero && tls_value == 0x1122334455667788 && (uintptr_t)tls_aligned % 64 == 0 &&
	       rt_strcmp(tls_aligned, "aligned") == 0;
}

static void tls_body(void *result)
{
	*(bool *)result = tls_is_fresh();
	tls_value = 1;
	memset(tls_zero, 0xff, sizeof(tls_zero));
	memset(tls_aligned, 0xff, sizeof(tls_aligned));
}

TEST(runtime_tls_is_fresh_in_every_thread, 10)
{
	CHECK(tls_is_fresh());
	for (int i = 0; i < 3; i++) {
		bool fresh = false;
		struct rt_thread *thread = NOT_NULL(rt_thread_start(tls_body, &fresh));

		rt_thread_join(thread);
		CHECK(fresh);
	}
	CHECK(tls_is_fresh()); /* the threads wrote to copies of their own */
}

/* ---- threads ---- */

static struct {
	struct rt_barrier barrier;
	_Atomic unsigned counter;
	_Atomic unsigned late; /* rounds in which a thread was missing */
} crowd;

static void crowd_body(__attribute__((unused)) void *argument)
{
	for (unsigned i = 1; i <= ROUNDS; i++) {
		atomic_fetch_add(&crowd.counter, 1);
		rt_barrier_wait(&crowd.barrier);
		if (atomic_load(&crowd.counter) != i * THREADS)
			atomic_fetch_add(&crowd.late, 1);
		rt_barrier_wait(&crowd.barrier);
	}
}

TEST(runtime_barrier_keeps_threads_in_step, 20)
{
	struct rt_thread *threads[THREADS];
	size_t before = rt_mappings();

	crowd.barrier.count = THREADS;
	for (int i = 0; i < THREADS; i++) {
		threads[i] = NOT_NULL(rt_thread_start(crowd_body, NULL));
		for (int k = 0; k < i; k++)
			CHECK(rt_thread_tid(threads[i]) != rt_thread_tid(threads[k]));
	}
	rt_threads_join(threads, THREADS);
	CHECK_EQ(atomic_load(&crowd.counter), ROUNDS * THREADS);
	CHECK_EQ(atomic_load(&crowd.late), 0);
	if (!rt_under_qemu()) /* where the emulator's own mappings change */
		CHECK_EQ(rt_mappings(), before);
}

/* Each level looks at the frame of its caller, so that none can be optimized away. */
static void dig(volatile char *above, int depth)
{
	volatile char frame[4096];

	frame[0] = (char)(above[0] + 1);
	if (depth > 0)
		dig(frame, depth - 1);
	above[0] = frame[0];
}

static void dig_body(void *depth)
{
	volatile char bottom = 0;

	dig(&bottom, *(int *)depth);
	*(int *)depth = bottom;
}

static void overflow_body(__attribute__((unused)) void *argument)
{
	int depth = 1000; /* times 4 KiB: far beyond the stack */

	rt_thread_join(rt_thread_start(dig_body, &depth));
}

TEST(runtime_guard_page_ends_a_deep_recursion, 10)
{
	int depth = 40;
	char text[256];

	rt_thread_join(rt_thread_start(dig_body, &depth));
	CHECK_EQ(depth, 41);
	CHECK_EQ(rt_run_child(overflow_body, NULL, text, sizeof(text)), 1000 + SIGSEGV);
}

/* ---- memory, files, figures ---- */

TEST(runtime_maps_memory_and_files, 5)
{
	char *p = rt_map(4096);
	size_t length = 0;
	const char *elf = rt_map_file("/proc/self/exe", &length);

	CHECK(p != NULL && p[0] == 0 && p[4095] == 0);
	p[4095] = 1;
	rt_unmap(p, 4096);
	CHECK(elf != NULL && length > 64 && memcmp(elf, "\177ELF", 4) == 0);
	CHECK(rt_map_file("/nonexistent", &length) == NULL);
	CHECK_EQ(rt_read_file("/nonexistent", (char[8]){0}, 8), -2);
	CHECK(rt_auxv(6) == 4096 && rt_auxv(9999) == 0); /* AT_PAGESZ */
}

TEST(runtime_counts_memory_and_faults, 10)
{
	enum { PAGE = 4096 };
	const size_t bytes = 8 * MIB + 4 * rt_resident_slack();
	size_t resident = rt_resident(), space = rt_address_space();
	unsigned long faults = rt_faults();
	volatile char *p;

	if (rt_under_qemu())
		rt_skip("these are figures of the emulator");
	rt_resident_peak_reset();
	p = rt_map(bytes);
	CHECK(p != NULL && rt_address_space() >= space + bytes);
	for (size_t i = 0; i < bytes; i += PAGE)
		p[i] = 1;
	CHECK(rt_faults() > faults);
	CHECK(rt_resident() > resident + bytes / 2);
	rt_unmap((void *)(uintptr_t)p, bytes);
	CHECK(rt_resident() < resident + bytes / 2);
	CHECK(rt_resident_peak() > resident + bytes / 2);
	rt_resident_peak_reset();
	CHECK(rt_resident_peak() < resident + bytes / 2);
}

TEST(runtime_limits_address_space, 5)
{
	if (!rt_limit_address_space(64 << 20))
		rt_skip("QEMU ignores the limit");
	CHECK(rt_map(128 << 20) == NULL);
	CHECK(rt_map(1 << 20) != NULL);
}

/* ---- time and chance ---- */

TEST(runtime_time_goes_on, 10)
{
	uint64_t start = rt_now();

	rt_sleep(3000000);
	CHECK(rt_now() - start >= 3000000);
}

TEST(runtime_random_follows_its_seed, 10)
{
	struct rt_random a, b, c;
	unsigned equal = 0, seen = 0;

	rt_seed(&a, rt_test_seed());
	rt_seed(&b, rt_test_seed());
	rt_seed(&c, rt_test_seed() + 1);
	for (int i = 0; i < 1000; i++) {
		uint64_t x = rt_next(&a);

		CHECK_EQ(x, rt_next(&b));
		equal += x == rt_next(&c);
		x = rt_below(&a, 10);
		CHECK(x < 10);
		CHECK_EQ(x, rt_below(&b, 10));
		seen |= 1u << x;
	}
	CHECK_EQ(equal, 0);
	CHECK_EQ(seen, 0x3ff); /* all ten values occurred */
}

/* ---- processes and signals ---- */

TEST(runtime_fork_and_wait, 10)
{
	static volatile int here = 1;
	long pid = rt_fork();

	if (pid == 0) {
		here = 2; /* in the child's copy */
		rt_exit(40 + here);
	}
	CHECK(pid > 0);
	CHECK_EQ(rt_wait(pid), 42);
	CHECK_EQ(here, 1);
}

static void talk_and_fault(void *text)
{
	rt_fprint(2, "%s\n", (const char *)text);
	*(volatile char *)1 = 1;
}

static void talk_much(__attribute__((unused)) void *argument)
{
	for (int i = 0; i < 3000; i++) /* more than a pipe holds */
		rt_fprint(2, "%063d\n", i);
}

TEST(runtime_run_child_catches_text_and_signal, 10)
{
	char text[256] = "";
	char little[64];

	CHECK_EQ(rt_run_child(talk_and_fault, "last words", text, sizeof(text)), 1000 + SIGSEGV);
	CHECK(rt_strcmp(text, "last words\n") == 0);
	CHECK_EQ(rt_run_child(talk_much, NULL, little, sizeof(little)), 0);
	CHECK_EQ(rt_strlen(little), 63);
}

static _Atomic int alarms;
static volatile int last_signal;

static void count_signal(int number, __attribute__((unused)) void *info,
			 __attribute__((unused)) void *context)
{
	last_signal = number;
	atomic_fetch_add(&alarms, 1);
}

TEST(runtime_timer_and_handler, 20)
{
	uint64_t start;
	int seen;

	rt_signal(SIGALRM, count_signal);
	rt_timer(2000);
	while (atomic_load(&alarms) < 5)
		;
	rt_timer(0);
	seen = atomic_load(&alarms);
	CHECK_EQ(last_signal, SIGALRM);
	start = rt_now();
	while (rt_now() - start < 10000000)
		;
	CHECK(atomic_load(&alarms) <= seen + 1);

	/* A sleep that signals interrupt still lasts its time. */
	rt_timer(1000);
	start = rt_now();
	rt_sleep(10000000);
	CHECK(rt_now() - start >= 10000000);
	rt_timer(0);
}

static void exit_in_handler(int number, __attribute__((unused)) void *info,
			    __attribute__((unused)) void *context)
{
	rt_exit(number);
}

static void fault_with_handler(void *address)
{
	rt_signal(SIGSEGV, exit_in_handler);
	*(volatile char *)address = 1;
}

TEST(runtime_fault_reaches_the_handler, 10)
{
	char text[64];

	CHECK_EQ(rt_run_child(fault_with_handler, (void *)8, text, sizeof(text)), SIGSEGV);
}
