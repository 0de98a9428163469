/* SPDX-License-Identifier: MIT */
/* What of arch/ neither the runtime nor the allocator proves by using it. */
#include "rt.h"
#include "syscall.h"

#include <stdatomic.h>

enum { STACK = 65536, FUTEX_WAIT = 0, SIG_BLOCK = 0 };

/* VM|FS|FILES|SIGHAND|THREAD|SYSVSEM, and CHILD_CLEARTID: see thread.c. */
enum { FLAGS = 0x100 | 0x200 | 0x400 | 0x800 | 0x10000 | 0x40000 | 0x200000 };

static _Atomic int running;
static uintptr_t stack_pointer;

static void body(void *stack)
{
	uint64_t all = UINT64_MAX;

	stack_pointer = (uintptr_t)__builtin_frame_address(0);
	arch_rt_sigprocmask(SIG_BLOCK, &all, NULL, sizeof(all));
	arch_unmap_exit(stack, STACK);
}

TEST(arch_thread_unmaps_its_own_stack, 10)
{
	unsigned char *stack = rt_map(STACK), page;
	int now;

	CHECK(stack != NULL);
	atomic_store(&running, 1);
	/* 8 off: arch_clone has to align the stack itself. */
	CHECK(arch_clone(FLAGS, stack + STACK - 8, NULL, (int *)&running, NULL, body, stack) > 0);
	while ((now = atomic_load(&running)) != 0)
		arch_futex(&running, FUTEX_WAIT, now, NULL, NULL, 0);
	CHECK(stack_pointer > (uintptr_t)stack && stack_pointer < (uintptr_t)stack + STACK);
	CHECK_EQ(stack_pointer % 16, 0);
	CHECK(arch_mincore(stack, 4096, &page) < 0); /* no mapping there any more */
}

TEST(arch_errors_are_negative_numbers, 5)
{
	CHECK_EQ(arch_close(-1), -9);                         /* EBADF  */
	CHECK_EQ(arch_munmap((void *)1, 4096), -22);          /* EINVAL */
	CHECK_EQ(arch_mmap(NULL, 4096, 3, 0x22, -1, 1), -22); /* the sixth argument arrives */
}
