/* SPDX-License-Identifier: MIT */
#include "panic.h"

#include "atomic.h"
#include "cpu.h"
#include "memory.h"

char ash_last_words[PANIC_WORDS];
static uintptr_t line_written; /* 1 once a thread has begun its last line */

#if IS_SO
/* The program's function, if there is one, because the hooks of a shared object are otherwise its own. */
__attribute__((weak)) void ash_on_misuse(const char *line);
#define hook_call(line) (ash_on_misuse != NULL ? ash_on_misuse(line) : (void)0)
#else
__attribute__((weak)) void ash_on_misuse(const char *line)
{
	(void)line;
}
#define hook_call(line) ash_on_misuse(line)
#endif

#if IS_FIELD
/* There is no system to ask, and no fd 2: the hook gets the line. */
#define panic_may_write()	      false
#define write_last_line(line, length) ((void)0)
#define abort_here()		      ((void)0)
#elif IS_SYSTEM
#include "ashlar_system.h"

void panic_note_stderr(void)
{
}

#define panic_may_write()	      true
#define write_last_line(line, length) ash_system_write((line), (length))
#define abort_here()		      ((void)0)
#else
#include "kernel.h"
#include "syscall.h"

enum { STDERR = 2, EBADF = 9 };
enum { TYPES = 0170000, TYPE_PIPE = 0010000, TYPE_CHARACTERS = 0020000 };

/*
 * fd 2 when the heap first grew.  A program that closes its standard error, like a daemon, may get the number 2 for a
 * file of its own, into which the line must not be written.
 */
static struct {
	uint64_t device, inode; /* inode 0: unknown; NO_FILE: closed */
} first_stderr;
#define NO_FILE (~(uint64_t)0)

void panic_note_stderr(void)
{
	struct arch_stat st;
	long r;

	r = arch_fstat(STDERR, &st);
	if (r == 0) {
		store_relaxed(&first_stderr.device, st.device);
		store_release(&first_stderr.inode, st.inode); /* pairs with panic_may_write */
	} else if (r == -EBADF) {
		store_release(&first_stderr.inode, NO_FILE);
	}
}

/*
 * Returns false if fd 2 is another file than at first, and does not look like a log: no terminal or other character
 * device, no pipe, not open for appending.
 */
bool panic_may_write(void)
{
	uint64_t inode = load_acquire(&first_stderr.inode);
	struct arch_stat st;
	uint32_t type;

	if (inode == 0 || arch_fstat(STDERR, &st) != 0)
		return true;
	type = st.mode & TYPES;
	return type == TYPE_PIPE || type == TYPE_CHARACTERS ||
	       (st.inode == inode && st.device == load_relaxed(&first_stderr.device)) ||
	       (arch_fcntl(STDERR, F_GETFL, 0) & O_APPEND) != 0;
}

/* A failed write is ignored, because there is no other place for a report. */
#define write_last_line(line, length) ((void)arch_write(STDERR, (line), (length)))

/*
 * Like abort(3), which the program may not have: handlers of SIGABRT run first.  Shells and supervisors name this
 * end.  Returns if a filter refuses the calls.
 */
static void abort_here(void)
{
	enum { SIGABRT = 6, SIG_UNBLOCK = 1 };
	static const uint64_t set = (uint64_t)1 << (SIGABRT - 1), default_action[4];
	unsigned i;

	(void)arch_rt_sigprocmask(SIG_UNBLOCK, &set, NULL, sizeof set);
	for (i = 0; i < 2; i++) {
		(void)arch_tgkill(arch_getpid(), arch_gettid(), SIGABRT);
		/* The signal is ignored, or its handler has returned. */
		(void)arch_rt_sigaction(SIGABRT, default_action, NULL, sizeof set);
	}
}
#endif

_Noreturn void panic_line(const char *line, size_t length)
{
	/* Pairs with itself: only one of several threads writes ash_last_words. */
	bool first = exchange_seq_cst(&line_written, 1) == 0;

	if (first)
		memcpy(ash_last_words, line, length);
	if (panic_may_write())
		write_last_line(line, length);
	/* The hook is called only once: not for misuse by another thread, nor for misuse by the hook. */
	if (first)
		hook_call(ash_last_words);
	abort_here();
	cpu_stop(); /* if there is no SIGABRT: by SIGILL */
}
