/* SPDX-License-Identifier: MIT */
/*
 * A heap in memory of the caller's makes no system call in its life.  The
 * kernel is told to kill at any that is no exit; an emulator that knows no
 * such filter is watched from within: every stub of the library is wrapped.
 */
/* promises: ash_heap_create_in, ash_heap_recover, ash_heap_release_owner, ash_heap_thread_detach, ash_heap_trim */
#include "program/calls.h"
#include "program/filter.h"
#include "support/blocks.h"

static bool watching;

/* Exits, since it must not print. */
static void watch(void)
{
	if (watching)
		arch_exit_group(99);
}

#define WATCH(call) WRAP_CALL(call, watch())
CALLS_OF_MEMORY(WATCH)
CALLS_THAT_ASK(WATCH)
WATCH(pread64)
WATCH(pwrite64)
WATCH(lseek)
WATCH(ftruncate)
WATCH(write)

enum { EXIT_GROUP = 231, SIGSYS = 31 };

enum { FORBIDDEN = 40, WATCHED = 50 };

static int see(void *context, UNUSED void *block, size_t size,
	       UNUSED const struct ash_heap_owner *owner)
{
	*(size_t *)context += size;
	return 0;
}

/* Every public call; to exhaustion and back.  Which line failed, if any. */
static int live(size_t bytes)
{
	static char memory[3 << 20];
	ash_heap *h = ash_heap_create_in(memory + 3, bytes);
	void *p, *q, **last = NULL;
	size_t seen = 0;

#define EXPECT(condition)                                                                          \
	do {                                                                                       \
		if (!(condition))                                                                  \
			return __LINE__ % 256;                                                     \
	} while (0)
	EXPECT(h != NULL);
	p = ash_heap_alloc(h, 100);
	q = ash_heap_zalloc(h, 10, 1000);
	EXPECT(p != NULL && q != NULL);
	EXPECT(ash_heap_aligned_alloc(h, 4096, 10) != NULL);
	EXPECT((p = ash_heap_resize(h, p, 20000)) != NULL);
	EXPECT((q = ash_resize(q, 50)) != NULL);
	EXPECT(ash_heap_usable_size(h, p) == 20000 && ash_usable_size(q) == 64);
	EXPECT(ash_heap_good_size(h, 17) == 32);
	ash_heap_release(h, p);
	ash_release(q);
	ash_heap_release_sized(h, ash_heap_alloc(h, 5), 5);
	ash_release_sized(ash_heap_alloc(h, 5), 5);
	while ((p = ash_heap_alloc(h, 1000)) != NULL) {
		*(void **)p = last;
		last = p;
	}
	EXPECT(ash_heap_alloc(h, SIZE_MAX) == NULL);
	EXPECT(ash_heap_resize(h, last, bytes) == NULL);
	EXPECT(ash_heap_walk(h, see, &seen) == 0 && seen > bytes / 10 * 9);
	EXPECT(stats_of(h).block_bytes == seen);
	for (; last != NULL; last = p) {
		p = *last;
		ash_release(last);
	}
	EXPECT(ash_heap_trim(h, 0) == 0 && ash_heap_recover(h) == 0 &&
	       ash_heap_release_owner(h, 1) == 0);
	ash_heap_set_root(h, h);
	EXPECT(ash_heap_root(h) == h && ash_heap_check(h) == 0);
	ash_heap_thread_detach(h);
	ash_heap_destroy(h);
	return 0;
}

struct life {
	int (*live)(size_t);
	size_t bytes;
};

static void child(void *argument)
{
	const struct life *l = argument;
	bool forbidden = filter_calls(EXIT_GROUP, FILTER_ALLOW, FILTER_KILL);
	int status;

	watching = true;
	status = l->live(l->bytes);
	arch_exit_group(status != 0 ? status : forbidden ? FORBIDDEN : WATCHED);
}

static int run(int (*body)(size_t), size_t bytes)
{
	struct life l = {body, bytes};
	char text[100];

	return rt_run_child(child, &l, text, sizeof text);
}

TEST(quiet_life, 20)
{
	size_t bytes[] = {64 << 10, 100001, (3 << 20) - 3}, i;

	for (i = 0; i < 3; i++) {
		int status = run(live, bytes[i]);

		/* Without the filter the wrapped stubs have seen nothing, which is something. */
		if (status == WATCHED && !rt_under_qemu())
			rt_skip("the kernel refuses a filter of system calls");
		CHECK_EQ(status, rt_under_qemu() ? WATCHED : FORBIDDEN);
	}
}

/* That both ways would tell. */
static int call_directly(UNUSED size_t bytes)
{
	(void)__real_arch_getpid(0, 0, 0, 0, 0, 0);
	return 0;
}

static int allocate_elsewhere(UNUSED size_t bytes)
{
	return ash_alloc(100) == NULL;
}

TEST(quiet_would_be_told, 20)
{
	int status = run(call_directly, 0);

	CHECK_EQ(run(allocate_elsewhere, 0), 99);
	if (status == WATCHED && !rt_under_qemu())
		rt_skip("the kernel refuses a filter of system calls");
	CHECK_EQ(status, rt_under_qemu() ? WATCHED : 1000 + SIGSYS);
}
