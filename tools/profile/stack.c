/* SPDX-License-Identifier: MIT */
/*
 * Two ways: by unwind tables, if the host has libgcc_s; else, as with musl alone, by frame
 * pointers.  What is compiled without these hides its callers: behind the first such function the
 * chain ends, or goes on where the last pointer led.  All of it is checked: a frame lies above the
 * one before, not far from it, and the kernel copies it, so that nothing faults.
 */
#include "profile.h"

struct _Unwind_Context;
typedef int step_function(struct _Unwind_Context *frame, void *to);
enum { GO_ON = 0, STOP = 4, RTLD_NOW = 2 };

IF_PRESENT void *dlopen(const char *name, int flags);
IF_PRESENT void *dlsym(void *handle, const char *name);

/* Set once, before there are samples. */
static int (*unwind)(step_function *step, void *to);
static uintptr_t (*address_of)(struct _Unwind_Context *frame);

/* The linker's: this library's first byte, and the end of its code. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char etext[] __attribute__((visibility("hidden")));

static bool is_ours(uintptr_t address)
{
	return address - (uintptr_t)__ehdr_start < (uintptr_t)etext - (uintptr_t)__ehdr_start;
}

struct stack {
	uintptr_t *out;
	unsigned depth;
};

static int step(struct _Unwind_Context *frame, void *to)
{
	struct stack *s = to;
	uintptr_t address = address_of(frame);

	if (address == 0)
		return STOP;
	if (s->depth > 0 || !is_ours(address))
		s->out[s->depth++] = address;
	return s->depth < STACK_MOST ? GO_ON : STOP;
}

/* What a function's frame pointer points at, on most CPUs. */
struct frame {
	uintptr_t caller; /* its frame pointer */
	uintptr_t address;
};
#ifndef FRAME_RECORD
#define FRAME_RECORD 0 /* bytes from the pointer to the record */
#endif
struct vector {
	void *base;
	size_t length;
};
#ifndef ADDRESS_BITS
#define ADDRESS_BITS 64 /* the others sign the address: pointer authentication */
#endif
enum { FRAME_MOST = 8 << 20 };

IF_PRESENT long process_vm_readv(int pid, const struct vector *to, unsigned long to_count, const struct vector *from,
				 unsigned long from_count, unsigned long flags);
IF_PRESENT int getpid(void);

static bool read_frame(struct frame *out, uintptr_t at)
{
	struct vector to = {out, sizeof *out}, from = {(void *)(at + (uintptr_t)(intptr_t)FRAME_RECORD), sizeof *out};

	return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (long)sizeof *out;
}

/* Its own frame is the first; all of this library has them (tools/make/products.mk). */
__attribute__((noinline)) static unsigned take_by_frames(uintptr_t *out)
{
	uintptr_t at = (uintptr_t)__builtin_frame_address(0), before;
	struct frame frame;
	unsigned depth = 0;

	do {
		if (at % sizeof(uintptr_t) != 0 || !read_frame(&frame, at) || frame.address == 0)
			break;
		frame.address &= ~(uintptr_t)0 >> (64 - ADDRESS_BITS);
		if (depth > 0 || !is_ours(frame.address))
			out[depth++] = frame.address;
		before = at;
		at = frame.caller;
	} while (depth < STACK_MOST && at > before && at - before < FRAME_MOST);
	return depth;
}

unsigned stack_take(uintptr_t *out)
{
	struct stack s = {out, 0};

	if (unwind == NULL)
		return take_by_frames(out);
	(void)unwind(step, &s);
	return s.depth;
}

enum stack_way stack_begin(void)
{
	uintptr_t stack[STACK_MOST];
	void *library = dlopen != NULL && dlsym != NULL ? dlopen("libgcc_s.so.1", RTLD_NOW) : NULL;

	if (library != NULL) {
		*(void **)&address_of = dlsym(library, "_Unwind_GetIP");
		if (address_of != NULL)
			*(void **)&unwind = dlsym(library, "_Unwind_Backtrace");
		/* The first time it may initialise something. */
		if (unwind != NULL && stack_take(stack) > 0)
			return STACK_TABLES;
		unwind = NULL;
	}
	return process_vm_readv != NULL && getpid != NULL && stack_take(stack) > 0 ? STACK_FRAMES : STACK_NONE;
}
