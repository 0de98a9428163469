/* SPDX-License-Identifier: MIT */
/*
 * What another process does between two system calls of one that opens a file without a heap,
 * or vouches for a file: it gives up making a heap; it vouches, too, and attaches.
 */
/* promises: ash_heap_create_file, ash_heap_open_file, ash_heap_vouch_file */
#include "store/program/beside.h"
#include "store/recover/builders.h"

/* ---- a process that gives up making a heap ---- */

enum { BEGUN = 1, GO_ON };

/* The heap is half made, and the file as long as it. */
static void wait_for_the_other(void)
{
	control->done = BEGUN;
	while (control->asked != GO_ON)
		rt_sleep(20000);
}

static long maker;

static void other_begins(void)
{
	maker = rt_fork();
	if (maker == 0) {
		rt_end_with_parent();
		fallocates = 0;
		fails_at = 2; /* the first one makes the file a page long */
		fails = wait_for_the_other;
		counting = false;
		CHECK(ash_heap_create_file(file, (size_t)CHUNKS << 21, NULL) == NULL);
		control->done = BEGUN; /* also if the one was there before */
		rt_exit(0);
	}
	while (control->done != BEGUN)
		rt_sleep(20000);
}

static void other_gives_up(void)
{
	control->asked = GO_ON;
	CHECK_EQ(rt_wait(maker), 0);
}

static size_t begins_at;

/* At one call it begins, at a later one it gives up. */
static void begins_or_gives_up(void)
{
	if (calls == begins_at)
		other_begins();
	else if (calls == stop_to)
		other_gives_up();
}

static _Noreturn void opens(void)
{
	enum ash_attach why;
	ash_heap *h;

	rt_end_with_parent();
	calls = 0;
	counting = true;
	h = ash_heap_open_file(file, (size_t)CHUNKS << 21, NULL, &why);
	counting = false;
	/* It makes one, or has met the other one; there is nothing else in the file. */
	CHECK(h != NULL || why == ASH_ATTACH_UNFINISHED);
	control->calls = calls;
	rt_exit(0);
}

static size_t open_beside(size_t from, size_t to)
{
	int status;

	file = (int)arch_memfd_create("beside", 0);
	control->asked = control->done = 0;
	begins_at = stop_from = from;
	stop_to = to;
	stopped = begins_or_gives_up;
	status = rt_wait(CHILD(opens()));
	if (status != 0)
		rt_print("     another one makes a heap from call %zu to call %zu\n", from, to);
	CHECK_EQ(status, 0);
	arch_close(file);
	return control->calls;
}

TEST(beside_one_that_gives_up, 60)
{
	size_t n, from, to;

	control = shared_page();
	n = open_beside(SIZE_MAX, SIZE_MAX);
	CHECK(n > 5);
	/* Its own heap is made in the last calls. */
	for (from = 1; from <= n; from += rt_under_qemu() ? 4 : 1)
		for (to = from + 1; to <= n && to < from + 12; to++)
			(void)open_beside(from, to);
}

/* ---- two that vouch for a file ---- */

static const long seal_at = offsetof(struct store, seal);

static void other_vouches(void)
{
	IN_CHILD {
		counting = false;
		stopped = NULL;
		CHECK(ash_heap_vouch_file(file));
		theirs = attach();
		CHECK(ash_heap_alloc(theirs, 100) != NULL);
	}
}

/* Then it has attached, and changes the heap: the seal that it has broken stays so. */
TEST(beside_another_voucher, 20)
{
	uint64_t seal;
	size_t k = 0;

	stopped = other_vouches;
	do {
		begin();
		CHECK_EQ(arch_pread64(file, &seal, 8, seal_at), 8);
		seal ^= (uint64_t)6 << SEAL_BOOT; /* another start of the system */
		CHECK(seal_is_torn(seal));
		CHECK_EQ(arch_pwrite64(file, &seal, 8, seal_at), 8);
		stop_from = stop_to = ++k;
		calls = 0;
		counting = true;
		CHECK(ash_heap_vouch_file(file));
		counting = false;
		CHECK_EQ(arch_pread64(file, &seal, 8, seal_at), 8);
		CHECK_EQ(seal_state(seal), calls >= k ? SEAL_OPEN : SEAL_WHOLE);
		arch_close(file);
	} while (calls >= k);
	rt_print("     %zu calls\n", k - 1);
	CHECK(k > 3);
}
