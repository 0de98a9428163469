/* SPDX-License-Identifier: MIT */
/*
 * The test runner.  The registry is the section rt_tests, whose bounds the linker
 * script defines.  Each test is a child that leads a process group, so that all
 * processes of a test that hangs can be killed.
 */
#include "kernel.h"
#include "rt.h"
#include "syscall.h"

/* Exit statuses by which a child reports; values that tests do not use. */
enum { STATUS_PASSED = 0, STATUS_SKIPPED = 98, STATUS_FAILED = 99 };

enum {
	RT_QEMU_FACTOR = 20,
	RT_CPU_FACTOR = 4, /* several threads, and their contention */
	RT_CLOCK_FACTOR = 10, /* a busy machine: other processes take the rest */
	RT_NAPS_FACTOR = 60,
	LEAST_SECONDS = 60,   /* no limit is shorter: machines differ, and others compute beside */
	MILLISECOND = 1000000,
	SHORTEST_NAP = MILLISECOND / 20,
	LONGEST_NAP = 5 * MILLISECOND
};
#define SECOND 1000000000ull

extern const struct rt_test __start_rt_tests[], __stop_rt_tests[];

struct totals {
	unsigned passed, failed, skipped;
};

static const char *current = "main"; /* the test that this process runs */

static _Noreturn void fail_with(const char *file, int line, const char *text)
{
	rt_print("     %s: %s:%d: %s (RT_SEED=%lu)\n", current, file, line, text, rt_test_seed());
	rt_exit(STATUS_FAILED);
}

_Noreturn void rt_fail(const char *file, int line, const char *what)
{
	fail_with(file, line, what);
}

_Noreturn void rt_fail_values(const char *file, int line, const char *what, unsigned long long a,
			      unsigned long long b)
{
	char text[512];

	rt_format(text, sizeof(text), "%s: %llu (0x%llx) and %llu (0x%llx)", what, a, a, b, b);
	fail_with(file, line, text);
}

_Noreturn void rt_skip(const char *reason)
{
	rt_print("skip %s: %s\n", current, reason);
	rt_exit(STATUS_SKIPPED);
}

static const char *signal_name(int number)
{
	static const struct {
		int number;
		const char *name;
	} names[] = {
		{SIGILL, "SIGILL"},   {SIGTRAP, "SIGTRAP"}, {SIGABRT, "SIGABRT"},
		{SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},   {SIGKILL, "SIGKILL"},
		{SIGSEGV, "SIGSEGV"}, {SIGPIPE, "SIGPIPE"}, {SIGALRM, "SIGALRM"},
		{SIGTERM, "SIGTERM"},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].number == number)
			return names[i].name;
	return "signal";
}

/* Of a program that has the tests of another library: those that are not for its own. */
extern const struct rt_left_out rt_left_out[] __attribute__((weak));

static void leave_out(const char *name)
{
	const struct rt_left_out *l;

	for (l = rt_left_out; l != NULL && l->name != NULL; l++)
		if (rt_strcmp(l->name, name) == 0)
			rt_skip(l->reason);
}

static _Noreturn void run_child(const struct rt_test *test)
{
	static const struct rlimit no_core = {0, 0};

	arch_setpgid(0, 0);
	rt_end_with_parent();
	arch_setrlimit(RLIMIT_CORE, &no_core);
	current = test->name;
	leave_out(test->name);
	test->body(test->argument);
	rt_exit(STATUS_PASSED);
}

/*
 * The limit only ends a hang; it is no criterion.  So it is a limit of the CPU time of the
 * test's process, which hardly depends on the machine's load.  A test that hangs asleep, or in
 * its children, uses no CPU time: one that used none for much longer is ended, and, last, one
 * that naps for ever.  RT_SLOW=1: this machine is as slow as QEMU (tests/kernel).  RT_LEAST=1 makes a
 * second the shortest, for tests of the runner itself.
 */
struct progress {
	uint64_t limit, start, processor, since; /* since: when the CPU time was last seen to be more */
};

static bool time_is_up(long pid, struct progress *p)
{
	uint64_t processor = rt_cpu_time(pid), now = rt_now();

	if (processor > p->processor) {
		p->processor = processor;
		p->since = now;
	}
	return processor >= p->limit * RT_CPU_FACTOR || now - p->since >= p->limit * RT_CLOCK_FACTOR ||
	       now - p->start >= p->limit * RT_NAPS_FACTOR;
}

/* True: it has ended.  It is not reaped by this, so no other process has its id. */
static bool has_ended(long pid)
{
	int told[32] = {0}; /* siginfo_t; 0 at first: it has not */

	return arch_waitid(P_PID, pid, told, WEXITED | WNOHANG | WNOWAIT, NULL) == 0 && told[0] != 0;
}

/*
 * Waits by sleeping, with doubling intervals: signal handlers and timers belong to the
 * tests.  False: the limit was reached.  The process group is killed in either case, before the
 * test is reaped: from then on both ids may be those of another runner's test.
 */
static bool wait_for(long pid, struct progress p, int *status, struct rusage *used)
{
	uint64_t nap = SHORTEST_NAP;
	bool ended;

	while (!(ended = has_ended(pid)) && !time_is_up(pid, &p)) {
		rt_sleep(nap);
		if (nap < LONGEST_NAP)
			nap *= 2;
	}
	arch_kill(-pid, SIGKILL); /* also processes that the test left behind */
	arch_kill(pid, SIGKILL);
	while (arch_wait4(pid, status, 0, used) == -EINTR)
		;
	return ended;
}

/* Its time by the clock, and of processors (its own and its children's), in milliseconds. */
struct cost {
	uint64_t clock, processor;
};
#define COST_FORMAT "(%lu ms, %lu ms CPU)\n"

static uint64_t processor_time(const struct rusage *used)
{
	return (uint64_t)(used->user.seconds + used->system.seconds) * 1000 +
	       (uint64_t)(used->user.microseconds + used->system.microseconds) / 1000;
}

static void report(const struct rt_test *test, bool in_time, int status, struct cost cost,
		   struct totals *totals)
{
	int ended_by = status & 0x7f, code = status >> 8 & 0xff;

	if (in_time && ended_by == 0 && code == STATUS_SKIPPED) {
		totals->skipped++; /* the child has printed the reason */
		return;
	}
	if (in_time && ended_by == 0 && code == STATUS_PASSED) {
		totals->passed++;
		rt_print("ok   %s " COST_FORMAT, test->name, cost.clock, cost.processor);
		return;
	}
	totals->failed++;
	if (!in_time)
		rt_print("FAIL %s: timeout " COST_FORMAT, test->name, cost.clock, cost.processor);
	else if (ended_by != 0)
		rt_print("FAIL %s: %s %d " COST_FORMAT, test->name, signal_name(ended_by), ended_by,
			 cost.clock, cost.processor);
	else if (code == STATUS_FAILED)
		rt_print("FAIL %s " COST_FORMAT, test->name, cost.clock, cost.processor);
	else
		rt_print("FAIL %s: exit status %d " COST_FORMAT, test->name, code, cost.clock, cost.processor);
}

static uint64_t limit_of(const struct rt_test *test)
{
	uint64_t least = rt_getenv("RT_LEAST") != NULL ? 1 : LEAST_SECONDS;
	return (test->seconds > least ? test->seconds : least) * SECOND * (rt_emulated() ? RT_QEMU_FACTOR : 1);
}

static void run_test(const struct rt_test *test, struct totals *totals)
{
	uint64_t limit = limit_of(test);
	uint64_t start = rt_now();
	struct rusage used = {0};
	int status = 0;
	bool in_time;
	long pid = rt_fork();

	if (pid == 0)
		run_child(test);
	if (KERNEL_FAILED(pid)) {
		totals->failed++;
		rt_print("FAIL %s: no process\n", test->name);
		return;
	}
	arch_setpgid(pid, pid); /* also done by the child: either may be first */
	in_time = wait_for(pid, (struct progress){limit, start, 0, start}, &status, &used);
	report(test, in_time, status,
	       (struct cost){(rt_now() - start) / MILLISECOND, processor_time(&used)}, totals);
}

/* Matched by an argument, or no argument selects; and by no argument with a leading minus. */
static bool is_wanted(const char *name, int argc, char **argv)
{
	bool named = false, names = false;

	for (int i = 1; i < argc; i++)
		if (argv[i][0] != '-') {
			names = true;
			named |= rt_strstr(name, argv[i]) != NULL;
		} else if (rt_strstr(name, argv[i] + 1) != NULL) {
			return false;
		}
	return named || !names;
}

int rt_run_tests(int argc, char **argv)
{
	struct totals totals = {0};
	bool named = false, found = false;

	for (int i = 1; i < argc; i++)
		named |= argv[i][0] != '-';
	for (const struct rt_test *t = __start_rt_tests; t < __stop_rt_tests; t++)
		if (is_wanted(t->name, argc, argv)) {
			found = true;
			run_test(t, &totals);
		}
	if (named && !found) {
		totals.failed++;
		rt_print("FAIL %s: no test has such a name\n", argv[0]);
	}
	rt_print("%u passed, %u failed, %u skipped\n", totals.passed, totals.failed,
		 totals.skipped);
	return totals.failed == 0 ? 0 : 1;
}
