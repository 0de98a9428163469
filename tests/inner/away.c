/* SPDX-License-Identifier: MIT */
/*
 * Threads and processes that go away from a shared heap otherwise than by
 * dying: the heap is taken out of the process, the process becomes another
 * program, or was only ever borrowed (vfork).
 */
#include "ashlar_heap.h"
#include "heaps/instance.h"
#include "kernel.h"
#include "rt.h"
#include "shm/lives.h"
#include "shm/seats.h"
#include "syscall.h"
#include "thread/seat.h"

#undef seat /* here the object's own name, not the way to it (thread/seat.h) */

enum { VFORK = 0x4000 | CLONE_VM | 17 /* SIGCHLD */, STACK = 64 * 1024, NEW_PID = 0x20000000, NEW_TIME = 0x80 };

/* ---- a heap in a file ---- */

static int make_file(size_t capacity)
{
	long fd = arch_memfd_create("heap", 0);
	ash_heap *h;

	CHECK(fd >= 0);
	h = ash_heap_create_file((int)fd, capacity, NULL);
	CHECK(h != NULL);
	ash_heap_destroy(h);
	return (int)fd;
}

static ash_heap *attach(int fd)
{
	enum ash_attach why;
	ash_heap *h = ash_heap_attach_file(fd, &why);

	CHECK_EQ(why, ASH_ATTACHED);
	return h;
}

static int copy_of(int fd)
{
	static char page[4096];
	long copy = arch_memfd_create("copy", 0), at = 0, n;
	uint64_t any;
	size_t i;

	while ((n = arch_pread64(fd, page, sizeof page, at)) > 0) {
		for (any = 0, i = 0; i < sizeof page / 8; i++)
			any |= ((const uint64_t *)(const void *)page)[i];
		/* Holes stay holes. */
		CHECK_EQ(arch_lseek(copy, at, 0), at);
		if (any != 0)
			CHECK_EQ(arch_write(copy, page, (size_t)n), n);
		at += n;
	}
	CHECK_EQ(arch_ftruncate(copy, at), 0);
	return (int)copy;
}

/* Another thread, which does something when it is told to. */
static struct helper {
	ash_heap *_Atomic heap;
	_Atomic unsigned asked, done;
	void (*act)(void);
	struct owner *_Atomic seat;
} helper;

static void help(__attribute__((unused)) void *argument)
{
	for (;;) {
		while (helper.asked == helper.done)
			rt_yield();
		helper.act();
		helper.done++;
	}
}

static void helper_does(void (*act)(void))
{
	if (helper.asked == 0)
		CHECK(rt_thread_start(help, NULL) != NULL);
	helper.act = act;
	helper.asked++;
	while (helper.asked != helper.done)
		rt_yield();
}

static void use(void)
{
	void *p = ash_heap_alloc(helper.heap, 100);

	CHECK(p != NULL);
	ash_heap_release(helper.heap, p);
	helper.seat = seats_self(heap_of(helper.heap));
}

/* A backup of a heap has the heap's id, and its address; but nobody has a seat in it. */
TEST(inner_away_second_copy, 20)
{
	int fd = make_file(4 * MIB), copy = copy_of(fd);

	helper.heap = attach(fd);
	helper_does(use);
	ash_heap_destroy(helper.heap);
	CHECK(attach(copy) == helper.heap);
	use();
	helper_does(use); /* by a seat of the other file? */
	CHECK(helper.seat != NULL && helper.seat != seats_self(heap_of(helper.heap)));
	CHECK_EQ(ash_heap_check(helper.heap), 0);
}

static size_t fill(ash_heap *h, void **out)
{
	size_t n = 0;
	void *p;

	while ((p = ash_heap_alloc(h, 1000)) != NULL)
		out[n++] = p;
	return n;
}

static void *blocks[8192];
static size_t taken, kept;

static void fill_and_release_most(void)
{
	size_t i;

	taken = fill(helper.heap, blocks);
	for (i = 0; i < taken; i++)
		if (i % 31 == 0)
			kept++;
		else
			ash_heap_release(helper.heap, blocks[i]);
}

/* The heap leaves the process: another one can have what its threads had free. */
TEST(inner_away_destroy_lets_go, 20)
{
	int fd = make_file(4 * MIB);
	long pid;

	helper.heap = attach(fd);
	helper_does(fill_and_release_most);
	ash_heap_destroy(helper.heap);
	pid = rt_fork();
	if (pid == 0) {
		ash_heap *h = attach(fd);
		size_t more = fill(h, blocks);

		CHECK(more + kept + 64 > taken);
		CHECK_EQ(ash_heap_check(h), 0);
		rt_exit(0);
	}
	CHECK_EQ(rt_wait(pid), 0);
}

/* Not only blocks: the helper was in the middle of a call, and jumped out of it. */
static void stop_while_building(void)
{
	struct owner *o;

	use();
	o = seats_self(heap_of(helper.heap));
	o->building++;
	o->flight = (uint64_t)(uintptr_t)ash_heap_alloc(helper.heap, 100);
}

TEST(inner_away_destroy_after_jump, 20)
{
	int fd = make_file(4 * MIB);
	struct ash_stats st;

	helper.heap = attach(fd);
	helper_does(stop_while_building);
	ash_heap_destroy(helper.heap);
	helper.heap = attach(fd);
	CHECK_EQ(ash_heap_check(helper.heap), 0);
	ash_heap_stats(helper.heap, &st);
	CHECK_EQ(st.blocks, 0);
	CHECK((heap_of(helper.heap)->owners->building & 1) == 0);
}

/* ---- exec ---- */

TEST(inner_away_exec, 20)
{
	ash_heap *h = ash_heap_create_shared(4 * MIB, NULL);
	char *const words[] = {"sleep", "1000", NULL};
	int ends[2];
	char byte;
	long pid;

	CHECK(h != NULL);
	CHECK_EQ(arch_pipe2(ends, O_CLOEXEC), 0);
	pid = rt_fork();
	if (pid == 0) {
		CHECK(ash_heap_alloc(h, 1000) != NULL);
		CHECK_EQ(arch_execve("/bin/sleep", words, rt_envp), 0);
	}
	(void)arch_close(ends[1]);
	CHECK_EQ(arch_read(ends[0], &byte, 1), 0); /* closed: it is another program */
	CHECK_EQ(arch_kill(pid, 0), 0);
	CHECK_EQ(ash_heap_recover(h), 1);
	CHECK_EQ(ash_heap_release_owner(h, 1), 1);
	rt_kill(pid, SIGKILL);
	(void)rt_wait(pid);
}

/* ---- vfork ---- */

static ash_heap *heap;
static void *_Atomic *left; /* what the child allocated last */

static void heap_make(void)
{
	heap = ash_heap_create_shared(8 * MIB, NULL);
	CHECK(heap != NULL);
	left = ash_heap_zalloc(heap, 1, sizeof *left);
	CHECK(left != NULL);
	/* The caller has no seat. */
	ash_heap_thread_detach(heap);
	thread_bench_leave();
}

static void work(unsigned seed)
{
	void *p[64];
	size_t i;

	for (i = 0; i < 64; i++) {
		p[i] = ash_heap_alloc(heap, (i + seed) % 5 * 300 + 8);
		CHECK(p[i] != NULL);
		*(size_t *)p[i] = seed + i;
	}
	p[0] = ash_heap_resize(heap, p[0], 3 * MIB);
	for (i = 0; i < 64; i++) {
		CHECK(p[i] != NULL && *(size_t *)p[i] == seed + i);
		ash_heap_release(heap, p[i]);
	}
}

static _Noreturn void work_and_end(__attribute__((unused)) void *argument)
{
	work(7);
	*left = ash_heap_alloc(heap, 100);
	CHECK_EQ(ash_heap_recover(heap), 0);
	for (;;)
		arch_exit_group(0);
}

static void vfork_works(void)
{
	static char stack[STACK];
	long pid = arch_clone(VFORK, stack + STACK, NULL, NULL, NULL, work_and_end, NULL);

	CHECK(pid > 0);
	CHECK_EQ(rt_wait(pid), 0);
}

/* What another process takes for a dead one's records. */
static int recovered_by_another(void)
{
	long pid = rt_fork();

	if (pid == 0) {
		size_t records = ash_heap_recover(heap);

		ash_heap_thread_detach(heap);
		rt_exit((int)records);
	}
	return rt_wait(pid);
}

static void vfork_and_go_on(void)
{
	struct owner *before = seats_self(heap_of(heap));

	vfork_works();
	/* An emulator makes it a fork: that child has a record of its own. */
	CHECK_EQ(recovered_by_another(), rt_under_qemu() ? 1 : 0);
	CHECK(seats_self(heap_of(heap)) == before);
	work(9);
	CHECK(seats_self(heap_of(heap)) != NULL);
	CHECK(*left != NULL);
	ash_heap_release(heap, *left);
	CHECK_EQ(recovered_by_another(), 0);
	CHECK_EQ(ash_heap_check(heap), 0);
}

static void check_empty(void)
{
	struct ash_stats st;

	ash_heap_stats(heap, &st);
	CHECK_EQ(st.blocks, 1); /* `left` */
}

/* The first call of the thread is its child's. */
TEST(inner_away_vfork_first, 20)
{
	heap_make();
	vfork_and_go_on();
	vfork_and_go_on();
	check_empty();
}

TEST(inner_away_vfork_of_child, 20)
{
	long pid;

	heap_make();
	work(3);
	pid = rt_fork();
	if (pid == 0) {
		vfork_and_go_on();
		rt_exit(0);
	}
	CHECK_EQ(rt_wait(pid), 0);
	CHECK_EQ(ash_heap_recover(heap), 1);
	check_empty();
}

static void in_thread(__attribute__((unused)) void *argument)
{
	vfork_and_go_on();
}

TEST(inner_away_vfork_of_thread, 20)
{
	struct rt_thread *t;

	heap_make();
	work(1);
	t = rt_thread_start(in_thread, NULL);
	CHECK(t != NULL);
	rt_thread_join(t);
	CHECK_EQ(ash_heap_check(heap), 0);
}

/* ---- other namespaces ---- */

/* There the parent's ids mean nothing, or somebody else. */
TEST(inner_away_vfork_new_pids, 20)
{
	static const struct { uint64_t soft, hard; } none = {0, 0};

	heap_make();
	work(1);
	/* One whose record could be taken over. */
	helper.heap = heap;
	helper_does(use);
	if (arch_unshare(NEW_PID) != 0)
		rt_skip("no new namespaces here (needs root)");
	/* RLIMIT_NOFILE: nothing can be opened, so nobody learns more than what ids tell. */
	CHECK_EQ(arch_setrlimit(7, &none), 0);
	vfork_works();
	work(2);
	helper_does(use);
	CHECK_EQ(ash_heap_recover(heap), 0);
	CHECK_EQ(ash_heap_check(heap), 0);
}

static _Atomic unsigned *turns;

static void turn(unsigned n)
{
	while (*turns != n)
		rt_yield();
}

/* A child whose id is nobody's in the namespace of this /proc. */
static void become_nobody(void)
{
	char path[32];
	long pid, fd = 0;
	unsigned i;

	for (i = 0; i < 2000 && fd >= 0; i++) {
		pid = rt_fork();
		if (pid != 0)
			rt_exit(rt_wait(pid));
		/* Emulators replace what stands in the process's own file, but not here. */
		(void)rt_format(path, sizeof path, "/proc/%ld/task/%ld/stat", arch_getpid(),
				arch_getpid());
		fd = arch_open(path, 0, 0);
		(void)arch_close(fd);
	}
	CHECK(fd < 0);
}

static void child_in_new_pids(void)
{
	void *p[100];
	size_t i;

	become_nobody();

	for (i = 0; i < 100; i++) {
		p[i] = ash_heap_alloc(heap, 64);
		*(size_t *)p[i] = i;
	}
	work(4);
	*turns = 1;
	turn(2);
	/* It judges nobody, and has left nothing that could be taken over. */
	CHECK_EQ(ash_heap_recover(heap), 0);
	CHECK_EQ(lives_thread(heap_of(heap)), 0);
	for (i = 0; i < 100; i++) {
		CHECK_EQ(*(size_t *)p[i], i);
		ash_heap_release(heap, p[i]);
	}
	work(6);
	CHECK_EQ(ash_heap_check(heap), 0);
	rt_exit(0);
}

TEST(inner_away_fork_new_pids, 20)
{
	void *p[100];
	size_t i;
	long pid;

	heap_make();
	turns = ash_heap_zalloc(heap, 1, sizeof *turns);
	if (arch_unshare(NEW_PID) != 0)
		rt_skip("no new namespaces here (needs root)");
	pid = rt_fork();
	if (pid == 0)
		child_in_new_pids();
	turn(1);
	CHECK_EQ(ash_heap_recover(heap), 0);
	for (i = 0; i < 100; i++) {
		p[i] = ash_heap_alloc(heap, 64);
		*(size_t *)p[i] = 1000 + i;
	}
	*turns = 2;
	CHECK_EQ(rt_wait(pid), 0);
	for (i = 0; i < 100; i++)
		CHECK_EQ(*(size_t *)p[i], 1000 + i);
	work(5);
	CHECK_EQ(ash_heap_check(heap), 0);
}

static void refused_then_adopted(int fd, long flags)
{
	enum ash_attach why;
	long pid;

	if (arch_unshare(flags) != 0)
		rt_skip("no new namespaces here (needs root)");
	pid = rt_fork();
	if (pid == 0) {
		CHECK(ash_heap_attach_file(fd, &why) == NULL);
		CHECK_EQ(why, ASH_ATTACH_NAMESPACE);
		CHECK(ash_heap_adopt_file(fd));
		heap = attach(fd);
		work(1);
		CHECK_EQ(ash_heap_check(heap), 0);
		rt_exit(0);
	}
	CHECK_EQ(rt_wait(pid), 0);
	/* Now it is us who are elsewhere. */
	CHECK(ash_heap_attach_file(fd, &why) == NULL);
	CHECK_EQ(why, ASH_ATTACH_NAMESPACE);
	CHECK(ash_heap_adopt_file(fd));
	heap = attach(fd);
	work(2);
	CHECK_EQ(ash_heap_check(heap), 0);
}

TEST(inner_away_attach_new_pids, 20)
{
	refused_then_adopted(make_file(8 * MIB), NEW_PID);
}

TEST(inner_away_attach_new_time, 20)
{
	refused_then_adopted(make_file(8 * MIB), NEW_TIME);
}

TEST(inner_away_adopt_no_heap, 20)
{
	long fd = arch_memfd_create("nothing", 0);

	CHECK(!ash_heap_adopt_file((int)fd) && !ash_heap_adopt_file(-1));
	CHECK_EQ(arch_ftruncate(fd, 1 << 20), 0);
	CHECK(!ash_heap_adopt_file((int)fd));
}
