/* SPDX-License-Identifier: MIT */
/*
 * Tests that the stack can be unwound from every instruction of Ashlar, as profilers,
 * crash reporters and debuggers do.  The trap flag stops a call after each instruction;
 * there the compiler's unwinder walks from the signal handler to main.
 *
 * Each call is made by `step_call`, which sets the callee-saved registers to known
 * values.  A walk is right if it meets step_call once, finds these values and
 * step_call's frame there, and then main.
 *
 * -DNAMES: with libashlar.a, by Ashlar's own names.  Argument "plant": steps through a
 * function whose unwind table lacks a push; that must be found.
 */
#define _GNU_SOURCE
#include <malloc.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pthread.h>
#include <ucontext.h>
#include <unwind.h>

#include "unwind_call.h"

#ifdef NAMES
#include "ashlar.h"
#define malloc		ash_alloc
#define calloc		ash_zalloc
#define realloc		ash_resize
#define aligned_alloc	ash_aligned_alloc
#define free		ash_release
#define malloc_trim	ash_trim
#define new_one		ash_alloc
#define DETACH()	call(ash_thread_detach, 0, 0)
#define INFO()		((void)nowhere)
#define OTHERS()	((void)0)
#else
/* A strong reference links the operators from the archive; a weak one needs no C++ library. */
#ifndef STATIC
__attribute__((weak))
#endif
void *new_one(size_t size) __asm__("_Znwm");
#define DETACH() ((void)0)
/* Functions that use the same paths. */
#define OTHERS()                                                                                   \
	do {                                                                                       \
		void *p;                                                                           \
                                                                                                   \
		call(malloc_usable_size, call(reallocarray, call(memalign, 64, 100), 100), 0);     \
		call(free, call(valloc, 1, 0), 0);                                                 \
		call(free, call(pvalloc, 1, 0), 0);                                                \
		call(posix_memalign, &p, 8);                                                       \
		call(mallopt, 1, 1);                                                               \
		call(malloc_stats, 0, 0);                                                          \
	} while (0)
#ifdef STATIC /* glibc's memcpy is called by a PLT entry, which has no unwind table there */
#define INFO() ((void)nowhere)
#else
#define INFO() call(malloc_info, 0, nowhere)
#endif
#endif

int main(int argc, char **argv);

enum { FRAMES = 40 };

static struct {
	unsigned long steps, walks, wrong;
	const char *path;
} state;

static FILE *nowhere;

struct walk {
	unsigned frames;
	unsigned callers; /* times that step_call was met with the right values */
	int main;
};

static _Unwind_Reason_Code look(struct _Unwind_Context *c, void *walk)
{
	struct walk *w = walk;

	if (_Unwind_GetIP(c) == (uintptr_t)step_return)
		w->callers += _Unwind_GetGR(c, 3) == RBX && _Unwind_GetGR(c, 12) == R12 &&
			      _Unwind_GetGR(c, 13) == R13 && _Unwind_GetGR(c, 14) == R14 &&
			      _Unwind_GetGR(c, 15) == R15 &&
			      _Unwind_GetGR(c, 6) == step_frame;
	if (_Unwind_GetRegionStart(c) == (uintptr_t)main)
		w->main = 1;
	return ++w->frames == FRAMES || w->main ? _URC_END_OF_STACK : _URC_NO_REASON;
}

static void say(const char *text)
{
	(void)!write(1, text, strlen(text));
}

static void walk_from_here(uintptr_t pc)
{
	struct walk w = {0, 0, 0};
	char line[200];

	(void)_Unwind_Backtrace(look, &w);
	state.walks++;
	if (w.callers == 1 && w.main)
		return;
	if (state.wrong++ >= 10)
		return;
	snprintf(line, sizeof line, "%s: incomplete walk from %p (malloc is at %p): %u frames, %s\n", state.path,
		 (void *)pc, (void *)(uintptr_t)malloc, w.frames, w.main ? "main" : "not main");
	say(line);
}

static void stopped(int signal, siginfo_t *info, void *context)
{
	uintptr_t pc = (uintptr_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];

	(void)signal, (void)info;
	state.steps++;
	/* In step_call itself the registers do not have the known values. */
	if (pc - (uintptr_t)step_call < (uintptr_t)planted - (uintptr_t)step_call)
		return;
	walk_from_here(pc);
}

/* Misuse ends in a trap; the stack must be walkable from there, too. */
static void trapped(int signal, siginfo_t *info, void *context)
{
	unsigned long before = state.wrong;

	(void)signal, (void)info;
	walk_from_here((uintptr_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP]);
	_exit(state.wrong != before || state.steps < 100);
}

static uintptr_t step(const char *path, function *f, uintptr_t a, uintptr_t b)
{
	state.path = path;
	return step_call(f, a, b);
}

#define call(f, a, b) step(#f, (function *)(uintptr_t)(f), (uintptr_t)(a), (uintptr_t)(b))

static const size_t sizes[] = {1,     24,    100,    1000,    1100,	  5000,
			       20000, 40000, 300000, 3 << 20, 40 << 20};

enum { SIZES = sizeof sizes / sizeof *sizes, MANY = 70 };

/* Volatile, so that the compiler does not optimise the calls away. */
static void *(*volatile operator_new)(size_t) = new_one;

static void each_size(void)
{
	static void *blocks[MANY];
	unsigned i, k, n;

	for (i = 0; i < SIZES; i++) {
		size_t size = sizes[i];

		n = size < 2000 ? MANY : 3;
		for (k = 0; k < n; k++)
			blocks[k] = (void *)call(malloc, size, 0);
		/* Not all sizes: string instructions trap once for each byte. */
		for (k = 0; k < n && (size <= 100 || size > 3 << 20); k++)
			blocks[k] = (void *)call(realloc, blocks[k], k % 2 ? size * 2 : size / 2 + 1);
		for (k = 0; k < n; k++)
			call(free, blocks[k], 0);
		for (k = 0; k < n / 8 + 1 && (size <= 100 || size > 3 << 20); k++)
			call(free, call(calloc, 3, size), 0);
		call(free, call(aligned_alloc, 4096, size), 0);
		if (operator_new != NULL)
			call(free, call(operator_new, size, 0), 0);
	}
}

static void *passed[1000];

static void *release_all(void *unused)
{
	unsigned i;

	(void)unused;
	for (i = 0; i < 1000; i++)
		free(passed[i]);
	passed[0] = malloc(100);
	return NULL;
}

/* Another thread releases blocks, and leaves one when it ends. */
static void threads(void)
{
	pthread_t t;
	unsigned i;

	for (i = 0; i < 1000; i++)
		passed[i] = malloc(300);
	if (pthread_create(&t, NULL, release_all, NULL) != 0 || pthread_join(t, NULL) != 0)
		abort();
	call(free, passed[0], 0);
	for (i = 0; i < 200; i++)
		passed[i] = (void *)call(malloc, 300, 0);
	for (i = 0; i < 200; i++)
		call(free, passed[i], 0);
}

static int misuse(void)
{
	struct sigaction trap = {.sa_sigaction = trapped, .sa_flags = SA_SIGINFO};
	char *p = malloc(100);
	pid_t child = fork();
	int status;

	if (child == 0) {
		(void)sigaction(SIGILL, &trap, NULL);
		(void)sigaction(SIGABRT, &trap, NULL);
		call(free, p + 1, 0);
		_exit(9);
	}
	free(p);
	return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

int main(int argc, char **argv)
{
	struct sigaction trap = {.sa_sigaction = stopped, .sa_flags = SA_SIGINFO};

	(void)argv;
	nowhere = fopen("/dev/null", "w");
	if (nowhere == NULL || sigaction(SIGTRAP, &trap, NULL) != 0)
		return 9;
	if (argc > 1) {
		call(planted, 0, 0);
		puts(state.wrong > 0 && state.walks > state.wrong ? "found" : "not found");
		return 0;
	}
	each_size();
	threads();
	OTHERS();
	call(malloc_trim, 0, 0);
	INFO();
	DETACH();
	if (!misuse()) {
		state.wrong++;
		puts("incomplete walk from a trap");
	}
	printf("%lu steps, %lu walks, %lu wrong\n", state.steps, state.walks, state.wrong);
	puts(state.wrong == 0 && state.walks > 20000 ? "every walk was complete" : "incomplete walks");
	return 0;
}
