/* SPDX-License-Identifier: MIT */
/* What a handler of SIGTRAP sees and changes of the call it stopped (x86_64). */
#ifndef TESTS_SUPPORT_TRAP_FLAG_H
#define TESTS_SUPPORT_TRAP_FLAG_H

#include "rt.h"

/* Places in the ucontext of a signal. */
enum {
	SIGTRAP_NUMBER = 5,
	TRAP_FLAG = 0x100,
	CONTEXT_RDI = 104,
	CONTEXT_RSI = 112,
	CONTEXT_RAX = 144,
	CONTEXT_RCX = 152,
	CONTEXT_RIP = 168,
	CONTEXT_FLAGS = 176
};

static inline uint64_t *trap_place(void *context, size_t at)
{
	return (uint64_t *)(void *)((char *)context + at);
}

/* A repeated string instruction traps once for each byte: we do all of them at once. */
static inline void trap_string(void *context)
{
	uint64_t *rdi = trap_place(context, CONTEXT_RDI), *rsi = trap_place(context, CONTEXT_RSI);
	uint64_t *rcx = trap_place(context, CONTEXT_RCX), *rip = trap_place(context, CONTEXT_RIP);
	const unsigned char *code = (const unsigned char *)(uintptr_t)*rip;

	if (code[0] != 0xf3 || (code[1] != 0xaa && code[1] != 0xa4))
		return;
	if (code[1] == 0xaa) {
		memset((void *)(uintptr_t)*rdi, (int)*trap_place(context, CONTEXT_RAX), *rcx);
	} else {
		memmove((void *)(uintptr_t)*rdi, (void *)(uintptr_t)*rsi, *rcx);
		*rsi += *rcx;
	}
	*rdi += *rcx;
	*rcx = 0;
	*rip += 2;
}

/* Ends a test that needs single steps, where there are none: here all can. */
static inline void trap_need(void)
{
}

/* The instruction that comes next. */
static inline uintptr_t trap_pc(void *context)
{
	return *trap_place(context, CONTEXT_RIP);
}

/* In the handler: whether it is called again after the next instruction. */
static inline void trap_go_on(void *context, bool stepping)
{
	uint64_t *flags = trap_place(context, CONTEXT_FLAGS);

	*flags = (*flags & ~(uint64_t)TRAP_FLAG) | (stepping ? TRAP_FLAG : 0);
}

/* int3 calls the handler, which sets the flag. */
static inline void trap_begin(void)
{
	__asm__ volatile("int3" ::: "memory");
}

#endif
