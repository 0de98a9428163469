/* SPDX-License-Identifier: MIT */
/* A maker of a heap in a file that is stopped at each of its system calls. */
#ifndef TESTS_STORE_PROGRAM_CLAIM_H
#define TESTS_STORE_PROGRAM_CLAIM_H

#include "ashlar_heap.h"
#include "rt.h"

#include "heaps/instance.h"
#include "store/file/open.h"
#include "support/wrap.h"
#include "syscall.h"
#include "store/process/world.h"

enum { CAPACITY = 8 << 20, EIO = 5, ENOMEM = 12, ENOSPC = 28, EOPNOTSUPP = 95, SEEK_SET = 0, SEEK_CUR = 1, SEEK_END = 2 };

/* ---- system calls ---- */

static size_t calls, stop_at;
static void (*stopped)(void);
static long fallocate_fails, failing;

static bool counted(void)
{
	if (stopped == NULL || ++calls != stop_at)
		return false;
	stopped();
	return failing != 0;
}

#define CALL(name, parameters, arguments, error)                                                   \
	WRAP(long, arch_##name, parameters)                                                        \
	{                                                                                          \
		if (counted())                                                                     \
			return -(error);                                                           \
		return __real_arch_##name arguments;                                               \
	}
CALL(mmap, (void *a, size_t l, long p, long f, long fd, long o), (a, l, p, f, fd, o), ENOMEM)
CALL(munmap, (void *a, size_t l), (a, l), ENOMEM)
CALL(fstat, (long fd, struct arch_stat *out), (fd, out), failing)
CALL(pwrite64, (long fd, const void *b, size_t l, long o), (fd, b, l, o), failing)
CALL(ftruncate, (long fd, long l), (fd, l), failing)
CALL(pread64, (long fd, void *b, size_t l, long o), (fd, b, l, o), failing)
WRAP(long, arch_fallocate, (long fd, long mode, long offset, long length))
{
	if (counted())
		return -failing;
	return fallocate_fails != 0 ? -fallocate_fails
				    : __real_arch_fallocate(fd, mode, offset, length);
}

static void (*asked_for_life)(uint64_t life);
WRAP(bool, life_thread_is_over, (uint64_t life))
{
	if (asked_for_life != NULL)
		asked_for_life(life);
	return __real_life_thread_is_over(life);
}

/* Who waits for one that is stopped here waits in vain; so no time passes, but for what is set. */
static void (*paused)(void);
WRAP(void, share_pause, (void))
{
	if (paused != NULL)
		paused();
}

/* ---- makers ---- */

enum outcome { MADE, ATTACHED, UNFINISHED, NOTHING };

static int file;
static bool by_open; /* ash_heap_open_file, or ash_heap_create_file */
static ash_heap *heap_made;

/* Two of them in their own way: the first to set the root has made it. */
static enum outcome make_one(void)
{
	enum ash_attach why = ASH_ATTACH_NO_HEAP;
	ash_heap *h = by_open ? ash_heap_open_file(file, CAPACITY, NULL, &why)
			      : ash_heap_create_file(file, CAPACITY, NULL);
	enum outcome made;
	void *p;

	heap_made = h;
	if (h == NULL)
		return why == ASH_ATTACH_UNFINISHED ? UNFINISHED : NOTHING;
	CHECK(!by_open || why == ASH_ATTACHED);
	made = ash_heap_root(h) == NULL ? MADE : ATTACHED;
	p = NOT_NULL(ash_heap_alloc(h, 1000));
	if (made == MADE)
		ash_heap_set_root(h, p);
	CHECK_EQ(ash_heap_check(h), 0);
	return made;
}

/* Another process does so, now. */
static enum outcome make_beside(void)
{
	return (enum outcome)rt_wait(CHILD(stopped = NULL; rt_exit((int)make_one())));
}

static enum outcome other;

static inline void other_makes(void)
{
	other = make_beside();
}

static inline void dies(void)
{
	rt_exit(50);
}

static void nothing(void)
{
}

/* The capacity is there: so many blocks of a chunk, beside a chunk of slabs, or two of a race. */
static void heap_has(size_t blocks)
{
	IN_CHILD {
		enum ash_attach why;
		ash_heap *h = ash_heap_attach_file(file, &why);
		size_t i;

		stopped = NULL;
		CHECK_EQ(why, ASH_ATTACHED);
		CHECK_EQ(ash_heap_check(h), 0);
		for (i = 0; i < blocks; i++)
			CHECK(ash_heap_alloc(h, CHUNK_SIZE) != NULL);
		if (blocks == CAPACITY / CHUNK_SIZE - 1)
			CHECK(ash_heap_alloc(h, CHUNK_SIZE) == NULL);
		CHECK(ash_heap_alloc(h, 1000) != NULL);
	}
}

static void heap_is_good(void)
{
	heap_has(CAPACITY / CHUNK_SIZE - 1);
}

static void begin(void)
{
	file = (int)arch_memfd_create("claim", 0);
	CHECK(file >= 0);
	calls = 0;
}

/* The call that is tried next: under QEMU, where the calls are those of the native run, one in three. */
static size_t next_call(size_t k)
{
	return k + (rt_under_qemu() ? 3 : 1);
}

static size_t calls_of_one(void)
{
	long pid;

	begin();
	stopped = nothing;
	stop_at = SIZE_MAX;
	pid = CHILD(CHECK_EQ(make_one(), MADE); rt_exit((int)calls));
	arch_close(file);
	stopped = NULL;
	return (size_t)rt_wait(pid);
}

/* One makes it and is stopped at each of its calls in turn: in a child; then there is a heap. */
static inline size_t at_each_call(void (*one_makes)(void))
{
	size_t k, count = calls_of_one();

	CHECK(count > 5 && count < 100);
	for (k = 1; k <= count; k = next_call(k)) {
		begin();
		stop_at = k;
		if (rt_wait(CHILD(one_makes())) != 0) {
			rt_print("     at call %zu of %zu\n", k, count);
			CHECK(false);
		}
		heap_is_good();
		arch_close(file);
	}
	return count;
}

#endif
