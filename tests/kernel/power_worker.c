/* SPDX-License-Identifier: MIT */
/*
 *	power_worker DISK PATH STATES
 *
 * Makes a heap in the file and changes it, with a second process, from sealed state to sealed state
 * (power_state.h), while each write is recorded.  Marks on the disk say how far it is (power.h).
 */
#include "kernel.h"
#include "kernel/power.h"
#include "kernel/power_state.h"
#include "syscall.h"

enum { SIGCONT = 18, SIGSTOP = 19, O_READ_WRITE = 2, O_CREATE = 0100, MODE = 0600, PAGE = 4096 };

static long disk;
static volatile bool *stopping;
static char page[PAGE] __attribute__((aligned(4096)));

static void mark(enum phase phase, uint64_t number)
{
	const struct mark m = {POWER_MAGIC, (uint64_t)phase, number};

	memcpy(page, &m, sizeof(m));
	CHECK_EQ(arch_pwrite64(disk, page, PAGE, (long)POWER_BYTES), PAGE);
}

/* The file's name is durable, too. */
static void folder_sync(const char *path)
{
	char folder[128];
	size_t n = rt_strlen(path);
	long fd;

	while (path[--n] != '/')
		;
	CHECK(n > 0 && n < sizeof(folder));
	memcpy(folder, path, n);
	folder[n] = '\0';
	fd = arch_open(folder, O_RDONLY, 0);
	CHECK(fd >= 0 && arch_fsync(fd) == 0);
	(void)arch_close(fd);
}

static void half_of(ash_heap *h, struct state *s, unsigned half)
{
	for (unsigned i = 0; i < CHANGES; i++) {
		const struct change c = state_change(s, half, i);

		heap_change(h, c);
		/* The kernel writes at any moment, where it is asked to (vm.dirty_...). */
		if (i == 3 && s->number % 5 == 4)
			rt_sleep(30000000);
		if (i == 0 && half == 0 && !c.in_place)
			mark(MARK_BROKEN, s->number);
	}
}

/* Stops the worker again and again and has the file written: any moment between two instructions may be on the disk. */
static _Noreturn void stopper(long worker, int fd, uint64_t number)
{
	struct rt_random r;

	rt_end_with_parent();
	rt_seed(&r, number);
	while (*stopping) {
		rt_kill(worker, SIGSTOP);
		CHECK_EQ(arch_fsync(fd), 0);
		rt_kill(worker, SIGCONT);
		for (uint64_t n = rt_below(&r, 30000); n > 0; n--)
			__asm__ volatile("");
	}
	rt_exit(0);
}

static long stopper_start(int fd, uint64_t number)
{
	const long worker = arch_getpid();

	*stopping = true;
	return CHILD(stopper(worker, fd, number));
}

/* A second process makes the other half. */
static long other_start(ash_heap *h, const struct state *s)
{
	const long pid = rt_fork();
	struct state other = *s;

	CHECK(pid >= 0);
	if (pid > 0)
		return pid;
	half_of(h, &other, 1);
	/* Others end with what they hold, and ash_heap_sync takes it from them. */
	if (s->number % 3 == 0)
		ash_heap_thread_detach(h);
	rt_exit(0);
}

static ash_heap *next(ash_heap *h, struct state *s, int fd)
{
	const bool late = state_is_broken_late(s);
	struct state other = *s;
	long process = 0;

	if (late)
		process = stopper_start(fd, s->number);
	mark(MARK_BREAKING, s->number);
	/* As a program that starts again. */
	if (state_is_attached(s)) {
		ash_heap_destroy(h);
		h = NOT_NULL(ash_heap_attach_file(fd, NULL));
	}
	if (state_is_broken_first(s))
		CHECK(ash_heap_break_seal(h));
	if (!late) {
		mark(MARK_BROKEN, s->number);
		process = other_start(h, s);
	}
	half_of(h, &other, 0);
	if (late) {
		*stopping = false;
		CHECK_EQ(rt_wait(process), 0);
		process = other_start(h, s);
	}
	CHECK_EQ(rt_wait(process), 0);
	state_next(s);
	return h;
}

int main(int argc, char **argv, UNUSED char **envp)
{
	static struct state s;
	uint64_t states;
	unsigned own;
	ash_heap *h;
	int fd;

	CHECK_EQ(argc, 4);
	states = rt_number_in(argv[3]);
	stopping = NOT_NULL(rt_map_shared(PAGE));
	disk = arch_open(argv[1], O_WRONLY | ABI_O_DIRECT, 0);
	CHECK(disk >= 0);
	mark(MARK_MAKING, 0);
	fd = (int)arch_open(argv[2], O_READ_WRITE | O_CREATE, MODE);
	CHECK(fd >= 0);
	h = heap_make(fd);
	own = heap_count(h);
	CHECK_EQ(ash_heap_sync(h), ASH_SYNC_SEALED);
	folder_sync(argv[2]);
	mark(MARK_SEALED, 0);
	while (s.number < states) {
		h = next(h, &s, fd);
		if (s.number % 8 == 0)
			heap_is(h, &s, own);
		mark(MARK_SEALING, s.number);
		CHECK_EQ(ash_heap_sync(h), ASH_SYNC_SEALED);
		mark(MARK_SEALED, s.number);
		rt_print("     sealed: state %lu\n", s.number);
	}
	rt_print("ok   power_worker: %lu states, seed %lu\n", s.number, rt_test_seed());
	return 0;
}
