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

enum { O_READ_WRITE = 2, O_CREATE = 0100, MODE = 0600, PAGE = 4096 };

static long disk;
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

/* Has the file written again and again: each moment between two of the worker's instructions may be on the disk. */
static long writer_start(int fd)
{
	const long pid = rt_fork();

	CHECK(pid >= 0);
	if (pid > 0)
		return pid;
	rt_end_with_parent();
	for (;;)
		(void)arch_fsync(fd);
}

static ash_heap *next(ash_heap *h, struct state *s, int fd)
{
	const long writer = s->number % 4 == 1 ? writer_start(fd) : 0;
	struct state other;
	long child;

	mark(MARK_BREAKING, s->number);
	/* A program that starts again: attaching breaks the seal. */
	if (s->number % 4 == 3) {
		ash_heap_destroy(h);
		h = NOT_NULL(ash_heap_attach_file(fd, NULL));
		mark(MARK_BROKEN, s->number);
	}

	if (s->number % 2 == 0) {
		CHECK(ash_heap_break_seal(h));
		mark(MARK_BROKEN, s->number);
	}
	other = *s;
	child = rt_fork();
	CHECK(child >= 0);
	if (child == 0) {
		half_of(h, &other, 1);
		/* Others end with what they hold, and ash_heap_sync takes it from them. */
		if (s->number % 3 == 0)
			ash_heap_thread_detach(h);
		rt_exit(0);
	}
	other = *s;
	half_of(h, &other, 0);
	CHECK_EQ(rt_wait(child), 0);
	if (writer != 0) {
		rt_kill(writer, SIGKILL);
		(void)rt_wait(writer);
	}
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
