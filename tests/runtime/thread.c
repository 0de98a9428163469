/* SPDX-License-Identifier: MIT */
/*
 * A thread is one mapping:
 *
 *	low                                                         high
 *	| guard page | stack, grows down ... | TLS block | rt_thread |
 *	                                     ^ stack top
 *
 * When the kernel no longer uses the memory of an ended thread, it clears `running`
 * and wakes the waiters, so the joining thread may unmap the memory at once.
 */
#include "kernel.h"
#include "rt.h"
#include "syscall.h"
#include "tls.h"

#include <stdatomic.h>

enum { STACK = 256 * 1024, YIELDS = 50 };

struct rt_thread {
	void (*body)(void *);
	void *argument;
	void *mapping;
	size_t mapping_size;
	int tid;
	_Atomic int running;
};

/* Weak, as not every program links Ashlar. */
__attribute__((weak)) void ash_thread_detach(void);

static _Noreturn void thread_main(void *p)
{
	struct rt_thread *thread = p;

	thread->body(thread->argument);
	if (ash_thread_detach != NULL)
		ash_thread_detach();
	for (;;)
		arch_exit(0);
}

/* Maps and lays out what the drawing shows; NULL: no memory. */
static struct rt_thread *thread_create(size_t tls_bytes)
{
	size_t top = sizeof(struct rt_thread) + tls_bytes + 64;
	size_t size = (KERNEL_PAGE + STACK + top + KERNEL_PAGE - 1) & ~(size_t)(KERNEL_PAGE - 1);
	long p = arch_mmap(NULL, size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
	struct rt_thread *thread;

	if (KERNEL_FAILED(p))
		return NULL;
	if (arch_mprotect((void *)p, KERNEL_PAGE, PROT_NONE) != 0) {
		arch_munmap((void *)p, size);
		return NULL;
	}
	thread = (void *)(p + (long)(size - sizeof(*thread)));
	thread->mapping = (void *)p;
	thread->mapping_size = size;
	return thread;
}

struct rt_thread *rt_thread_start(void (*body)(void *), void *argument)
{
	/* QEMU 7.2 treats a clone as a thread only with the first six flags. */
	const long flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
			   CLONE_SYSVSEM | CLONE_SETTLS | CLONE_PARENT_SETTID |
			   CLONE_CHILD_CLEARTID;
	size_t tls_bytes = tls_size();
	struct rt_thread *thread = thread_create(tls_bytes);
	char *tls_memory;
	long tid;

	if (thread == NULL)
		return NULL;
	thread->body = body;
	thread->argument = argument;
	atomic_store(&thread->running, 1); /* before the child can end */
	tls_memory = (char *)thread - tls_bytes;
	tid = arch_clone(flags, tls_memory, &thread->tid, (int *)&thread->running,
			 tls_build(tls_memory), thread_main, thread);
	if (KERNEL_FAILED(tid)) {
		rt_unmap(thread->mapping, thread->mapping_size);
		return NULL;
	}
	return thread;
}

void rt_thread_join(struct rt_thread *thread)
{
	int running;

	while ((running = atomic_load(&thread->running)) != 0)
		arch_futex(&thread->running, FUTEX_WAIT, running, NULL, NULL, 0);
	rt_unmap(thread->mapping, thread->mapping_size);
}

int rt_thread_tid(const struct rt_thread *thread)
{
	return thread->tid;
}

/*
 * Yields first: running threads start closer to each other than threads that a futex
 * wakes one by one.  Not a private futex, as the barrier may be in memory shared by
 * processes.
 */
void rt_barrier_wait(struct rt_barrier *b)
{
	unsigned round = atomic_load(&b->round);

	if (atomic_fetch_add(&b->arrived, 1) + 1 == b->count) {
		atomic_store(&b->arrived, 0);
		atomic_fetch_add(&b->round, 1);
		arch_futex(&b->round, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
		return;
	}
	for (int i = 0; i < YIELDS && atomic_load(&b->round) == round; i++)
		arch_sched_yield();
	while (atomic_load(&b->round) == round)
		arch_futex(&b->round, FUTEX_WAIT, (long)round, NULL, NULL, 0);
}

void rt_yield(void)
{
	arch_sched_yield();
}

void rt_pin(unsigned cpu)
{
	uint64_t mask[16] = {0};

	mask[cpu / 64 % 16] = (uint64_t)1 << cpu % 64;
	arch_sched_setaffinity(0, sizeof(mask), mask);
}
