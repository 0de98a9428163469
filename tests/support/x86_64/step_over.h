/* SPDX-License-Identifier: MIT */
/*
 * Steps over (x86_64): over calls, from the first instruction of a function to the one after its
 * return, and over the rest of loops; by int3.  A stop by the trap flag costs some 10 us under a
 * hypervisor, which is most of what the harnesses of single steps cost.
 * For a process whose other threads, if any, are elsewhere meanwhile.
 */
#ifndef TESTS_SUPPORT_STEP_OVER_H
#define TESTS_SUPPORT_STEP_OVER_H

#include "trap_flag.h"

enum {
	CONTEXT_RSP = 160,
	INT3 = 0xcc,
	LONGEST_CALL = 8,
	PLACES = 4,
	DEEP = 32,
	TEXT_PAGE = 4096,
	TEXT_PAGES = (1 << 23) / TEXT_PAGE /* of the program: linker.ld */
};

static struct {
	uintptr_t before; /* the stop before this one */
	struct {
		uintptr_t at; /* of an int3; 0: there is none */
		unsigned char code; /* what it stands for */
	} put[PLACES];
	struct {
		uintptr_t back, stack; /* where it returns to, and the stack pointer at its first instruction */
	} called[DEEP];
	size_t depth;
	bool writable[TEXT_PAGES];
} over;

/* Takes back what is left of step_over. */
static inline void step_over_end(void)
{
	for (size_t i = 0; i < PLACES; i++)
		if (over.put[i].at != 0) {
			*(volatile unsigned char *)over.put[i].at = over.put[i].code;
			over.put[i].at = 0;
		}
}

/* The instruction that comes next; the handler asks first, and once. */
static inline uintptr_t step_over_pc(void *context)
{
	uint64_t *rip = trap_place(context, CONTEXT_RIP);

	if (over.put[0].at != 0) {
		--*rip;
		CHECK(*rip == over.put[0].at || *rip == over.put[1].at || *rip == over.put[2].at ||
		      *rip == over.put[3].at);
		step_over_end();
	}
	return *rip;
}

static inline void put_int3(size_t i, uintptr_t at)
{
	bool *writable = &over.writable[at / TEXT_PAGE % TEXT_PAGES];

	for (size_t k = 0; k < i; k++)
		if (at == 0 || over.put[k].at == at)
			return;
	if (!*writable)
		CHECK(rt_code_writable((void *)(at & -(uintptr_t)TEXT_PAGE), TEXT_PAGE));
	*writable = true;
	over.put[i].at = at;
	over.put[i].code = *(unsigned char *)at;
	*(volatile unsigned char *)at = INT3;
}

/* Behind the conditional jump there; 0: it is none. */
static inline uintptr_t behind_jump(uintptr_t at)
{
	const unsigned char *code = (const unsigned char *)at;

	if (code[0] >> 4 == 7)
		return at + 2;
	return code[0] == 0x0f && code[1] >> 4 == 8 ? at + 6 : 0;
}

/*
 * Last in the handler; wanted: if a function was just called, the next stop is behind the call; if
 * a loop begins again, behind the loop, or where its function returns to; or, before that, at one of
 * the functions watched, which may be 0.
 */
static inline void step_over(void *context, bool wanted, uintptr_t watched, uintptr_t watched_too)
{
	uintptr_t pc = *trap_place(context, CONTEXT_RIP), before = over.before;
	uintptr_t stack = *trap_place(context, CONTEXT_RSP), back = *(uintptr_t *)stack;
	bool called = back > before && back <= before + LONGEST_CALL && (pc < before || pc > back);

	over.before = pc;
	while (over.depth > 0 && over.called[over.depth - 1].stack < stack)
		over.depth--;
	if (called && wanted) {
		put_int3(0, back);
	} else if (called && over.depth < DEEP) {
		over.called[over.depth].back = back;
		over.called[over.depth++].stack = stack;
	} else if (wanted && pc < before && before - pc < TEXT_PAGE && over.depth > 0 && behind_jump(before) != 0) {
		put_int3(0, behind_jump(before));
		put_int3(1, over.called[over.depth - 1].back);
	}
	if (over.put[0].at != 0) {
		put_int3(2, watched);
		put_int3(3, watched_too);
		trap_go_on(context, false);
	}
}

#endif
