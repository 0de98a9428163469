/* SPDX-License-Identifier: MIT */
/*
 * The number of the process, which a filter refuses from some moment on: the process is then
 * neither taken for a child of fork nor for one of vfork.
 */
#include "store/process/borrow.h"
#include "generation.h"
#include "process.h"
#include "rt.h"
#include "support/wrap.h"
#include "syscall.h"

enum { EPERM = 1 };

static bool filter_on, filter_unshare;
static long filter_error; /* of getpid; above 0: the number of another process */

WRAP(long, arch_getpid, (void))
{
	return filter_on ? filter_error : __real_arch_getpid();
}

WRAP(long, arch_unshare, (long flags))
{
	return filter_unshare ? -EPERM : __real_arch_unshare(flags);
}

/*
 * Where the kernel does not wipe fork marks (QEMU), numbers of processes are compared: a number that
 * is refused from now on, or known again, is not that of a child.
 */
TEST(refused_number_of_the_process_is_no_fork, 10)
{
	static const long errors[] = {-1, -22, -38, 0};
	uint64_t *mark, now;
	size_t i;

	generation_watch();
	now = generation_now();
	CHECK((mark = process_mark()) != NULL);
	for (i = 0; i < sizeof errors / sizeof *errors; i++) {
		filter_error = errors[i];
		filter_on = true;
		CHECK_EQ(generation_now(), now);
		CHECK(!process_has_forked(mark));
		process_set_mark(mark);
		filter_on = false;
		CHECK(!process_has_forked(mark));
		process_set_mark(mark);
		CHECK_EQ(generation_now(), now);
	}
}

/* The same, if the first entry is made while the number is refused. */
TEST(refused_number_of_the_first_entry, 10)
{
	uint64_t now;

	filter_error = -22;
	filter_on = true;
	generation_watch();
	now = generation_now();
	CHECK_EQ(generation_now(), now);
	filter_on = false;
	CHECK_EQ(generation_now(), now);
}

/* Where unshare is refused, too, the number says whether the memory is another process's. */
TEST(refused_number_is_no_borrowed_memory, 10)
{
	filter_unshare = true;
	filter_error = -EPERM;
	filter_on = true;
	CHECK(!memory_is_borrowed()); /* notes the number */
	CHECK(!memory_is_borrowed());
	filter_on = false;
	CHECK(!memory_is_borrowed());
}

TEST(refused_number_after_it_was_noted, 10)
{
	filter_unshare = true;
	CHECK(!memory_is_borrowed());
	filter_error = -EPERM;
	filter_on = true;
	CHECK(!memory_is_borrowed());
	if (!process_mark_is_wiped())
		return; /* there another number is a forked child's */
	filter_error = __real_arch_getpid() + 1;
	CHECK(memory_is_borrowed());
}
