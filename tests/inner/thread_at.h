/* SPDX-License-Identifier: MIT */
/*
 * Threads with their thread-local memory where the test puts it, which stays mapped when they have ended, as
 * a C library keeps it for the next one.
 */
#ifndef TESTS_INNER_THREAD_AT_H
#define TESTS_INNER_THREAD_AT_H

#include "ashlar_start.h"
#include "atomic.h"
#include "rt.h"
#include "syscall.h"

static _Alignas(64) char thread_memory[2][1 << 20];

static _Noreturn inline void thread_at_main(void *body)
{
	((void (*)(void))(uintptr_t)body)();
	for (;;)
		(void)arch_exit(0); /* without ash_thread_detach */
}

/* Runs it in a thread at place i, and waits until the kernel is done with that thread's memory. */
static inline void thread_at(unsigned i, void (*body)(void))
{
	enum {
		VM = 0x100,
		FS = 0x200,
		FILES = 0x400,
		SIGHAND = 0x800,
		THREAD = 0x10000,
		SEMAPHORES = 0x40000,
		TLS = 0x80000,
		PARENT_TID = 0x100000,
		CLEAR_TID = 0x200000
	};
	char *memory = thread_memory[i], *top = memory + sizeof thread_memory[i];
	int running = 1, tid, now;

	CHECK(ashlar_tls_size() <= sizeof thread_memory[i] / 2);
	memset(memory, 0, ashlar_tls_size());
	CHECK(arch_clone(VM | FS | FILES | SIGHAND | THREAD | SEMAPHORES | TLS | PARENT_TID | CLEAR_TID, top, &tid, &running,
			 ashlar_tls_init(memory), thread_at_main, (void *)(uintptr_t)body) > 0);
	while ((now = load_acquire(&running)) != 0) /* pairs with the kernel's store */
		arch_futex(&running, 0, now, NULL, NULL, 0);
}

#endif
