/* SPDX-License-Identifier: MIT */
/*
 * A process that is stopped at its system calls, and others that change the heap there: at one
 * call, at each call, or one that dies after so many instructions of its own.
 *
 *   one      attach: call .... call .... call .... attached, all that was there is there
 *                     |         |         |
 *   others            act       act       act     (processes of their own)
 */
#ifndef TESTS_STORE_PROGRAM_BESIDE_H
#define TESTS_STORE_PROGRAM_BESIDE_H

#include "store/program/beside_heap.h"
#include "support/wrap.h"
#include "trap_flag.h"

enum { DIED = 50 };

/* ---- the one, and where it is stopped ---- */

static bool counting;
static size_t calls, stop_from, stop_to;
static void (*stopped)(void);

static void count(void)
{
	if (!counting || ++calls < stop_from || calls > stop_to)
		return;
	counting = false;
	stopped();
	counting = true;
}

#define CALL(name, parameters, arguments)                                                          \
	WRAP(long, arch_##name, parameters)                                                        \
	{                                                                                          \
		count();                                                                           \
		return __real_arch_##name arguments;                                               \
	}
CALL(munmap, (void *a, size_t l), (a, l))
CALL(fstat, (long fd, struct arch_stat *out), (fd, out))
CALL(pread64, (long fd, void *b, size_t l, long o), (fd, b, l, o))
CALL(msync, (void *a, size_t l, long f), (a, l, f))

static size_t fallocates, fails_at; /* this one finds no room, when it may go on */
static void (*fails)(void);

WRAP(long, arch_fallocate, (long fd, long mode, long at, long length))
{
	enum { ENOSPC = 28 };

	count();
	if (++fallocates == fails_at) {
		fails();
		return -ENOSPC;
	}
	return __real_arch_fallocate(fd, mode, at, length);
}

static void (*mapped)(void); /* is done when the file has been mapped */

WRAP(long, arch_mmap, (void *a, size_t l, long p, long f, long fd, long o))
{
	long at;

	count();
	at = __real_arch_mmap(a, l, p, f, fd, o);
	if (mapped != NULL && fd == file && at > 0)
		mapped();
	return at;
}

/* ---- an actor: asked by the one, as what that has mapped is not to be in its way ---- */

static struct control {
	_Atomic unsigned asked, done;
	_Atomic size_t act, dies_at; /* instruction of the act; SIZE_MAX: it does not */
	_Atomic size_t steps;	     /* that the actor made                   */
	_Atomic size_t calls;	     /* that the one made                     */
} *control;

static size_t boundary;

static void trap(UNUSED int number, UNUSED void *info, void *context)
{
	control->steps = boundary;
	if (in_steps && boundary++ == control->dies_at)
		rt_exit(DIED);
	trap_go_on(context, in_steps);
	trap_string(context);
}

static void step(void)
{
	rt_signal(SIGTRAP_NUMBER, trap);
	in_steps = true;
	trap_begin();
}

static _Noreturn void actor(void)
{
	theirs = attach();
	if (control->dies_at != SIZE_MAX)
		step();
	acts[control->act].act();
	in_steps = false;
	rt_exit(0);
}

/* The parent of the actors. */
static _Noreturn void server(void)
{
	int status;

	rt_end_with_parent();
	for (;;) {
		while (control->asked == turn)
			rt_sleep(20000);
		turn++;
		status = rt_wait(CHILD(actor()));
		CHECK(status == 0 || status == DIED);
		control->done = turn;
	}
}

static inline void ask(void)
{
	unsigned n = ++control->asked;

	while (control->done != n)
		rt_sleep(20000);
}

static struct control *shared_page(void)
{
	return rt_map_shared(4096);
}

static inline long server_begin(void)
{
	control->asked = control->done = turn = 0;
	return CHILD(server());
}

#endif
