/* SPDX-License-Identifier: MIT */
/*
 * A thread is one mapping:
 *
 *	low                                                          high
 *	| guard page | stack, grows down ... | TLS block | ash_thread |
 *	                                     ^ stack top
 *
 * When the kernel no longer uses the memory of an ended thread, the kernel clears `running` and wakes the waiters, so
 * the joining thread may unmap the memory at once.
 */
#include "ashlar_start.h"
#include "atomic.h"
#include "kernel.h"
#include "syscall.h"
#include "tls.h"

enum { STACK = 256 * 1024, PAGE = 1 << CPU_PAGE_SHIFT_MOST };
enum { PROT_NONE = 0, MAP_STACK = 0x20000 };
enum {
	CLONE_VM = 0x100,
	CLONE_FS = 0x200,
	CLONE_FILES = 0x400,
	CLONE_SIGHAND = 0x800,
	CLONE_THREAD = 0x10000,
	CLONE_SYSVSEM = 0x40000,
	CLONE_SETTLS = 0x80000,
	CLONE_PARENT_SETTID = 0x100000,
	CLONE_CHILD_CLEARTID = 0x200000
};
enum { FUTEX_WAIT = 0, SIG_BLOCK = 0 };

struct ash_thread {
	void (*body)(void *);
	void *argument;
	void *mapping;
	size_t mapping_size;
	int tid;
	int running;   /* the kernel clears this when the thread has ended                        */
	uint64_t fate; /* the later of the thread's end and ash_thread_forget releases the memory */
};
enum { FATE_OPEN, FATE_FORGOTTEN, FATE_ENDED };

/* The calling thread, or NULL if ash_thread_start did not start it. */
static _Thread_local struct ash_thread *self;

/* Weak, because not every program has the allocator. */
__attribute__((weak)) void ash_thread_detach(void);

void ash_thread_end(void)
{
	static const uint64_t all = ~(uint64_t)0;
	struct ash_thread *t = self;

	if (ash_thread_detach != NULL)
		ash_thread_detach();
	/* Pairs with ash_thread_forget: the later of the two exchanges sees the other's value. */
	if (t != NULL && exchange_seq_cst(&t->fate, FATE_ENDED) == FATE_FORGOTTEN) {
		(void)arch_rt_sigprocmask(SIG_BLOCK, &all, NULL, sizeof all);
		/* Otherwise the kernel would clear a word that may then be in another mapping. */
		(void)arch_set_tid_address(NULL);
		arch_unmap_exit(t->mapping, t->mapping_size);
	}
	for (;;)
		arch_exit(0);
}

static _Noreturn void thread_main(void *p)
{
	struct ash_thread *t = p;

	self = t;
	t->body(t->argument);
	ash_thread_end();
}

/* Maps and lays out the memory of a thread as in the drawing above.  Returns NULL if there is no memory. */
static struct ash_thread *thread_create(size_t tls, size_t stack)
{
	size_t top = sizeof(struct ash_thread) + tls + 64;
	size_t size = (PAGE + stack + top + PAGE - 1) & ~(size_t)(PAGE - 1);
	struct ash_thread *t;
	long p;

	if (stack > SIZE_MAX / 2 || tls > SIZE_MAX / 4)
		return NULL;
	p = arch_mmap(NULL, size, PROT_READ_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
	if ((unsigned long)p > -4096ul)
		return NULL;
	if (arch_mprotect((void *)p, PAGE, PROT_NONE) != 0) {
		arch_munmap((void *)p, size);
		return NULL;
	}
	t = (void *)(p + (long)(size - sizeof *t));
	t->mapping = (void *)p;
	t->mapping_size = size;
	return t;
}

struct ash_thread *ash_thread_start(void (*body)(void *), void *argument, size_t stack)
{
	/* QEMU 7.2 treats a clone as a thread only with the first six flags. */
	const long flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
			   CLONE_SYSVSEM | CLONE_SETTLS | CLONE_PARENT_SETTID |
			   CLONE_CHILD_CLEARTID;
	struct ash_thread *t;
	struct tls tls;
	char *memory;
	long tid;

	tls_here(&tls);
	t = thread_create(tls.bytes, stack != 0 ? stack : STACK);
	if (t == NULL)
		return NULL;
	t->body = body;
	t->argument = argument;
	t->running = 1; /* before the child can end */
	memory = (char *)t - tls.bytes;
	tid = arch_clone(flags, memory, &t->tid, &t->running, tls_build(&tls, memory), thread_main, t);
	if (tid < 0) {
		arch_munmap(t->mapping, t->mapping_size);
		return NULL;
	}
	return t;
}

void ash_thread_join(struct ash_thread *t)
{
	int running;

	/* Pairs with the kernel's store, which follows all stores of the thread. */
	while ((running = load_acquire(&t->running)) != 0)
		arch_futex(&t->running, FUTEX_WAIT, running, NULL, NULL, 0);
	arch_munmap(t->mapping, t->mapping_size);
}

void ash_thread_forget(struct ash_thread *t)
{
	/* Pairs with ash_thread_end. */
	if (exchange_seq_cst(&t->fate, FATE_FORGOTTEN) == FATE_ENDED)
		ash_thread_join(t); /* the thread ended first, and left its memory behind */
}

int ash_thread_id(const struct ash_thread *t)
{
	return t->tid;
}
