/* SPDX-License-Identifier: MIT */
/*
 * A program with functions in the places of munmap, madvise and mremap, as caches of registered memory have them
 * (neighbours.sh).  From its start on a filter of system calls lets memory go back by these alone: they pass a word more,
 * which the kernel ignores.  They change errno, allocate, and are interrupted by a handler that does, too.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORD = 0x7e11, MIB = 1 << 20, KEPT = 5 };
enum kind { UNMAPPED, LEFT, MOVED, KINDS };

static volatile long told[KINDS];
static struct range {
	char *from, *to;
} left[1024]; /* what madvise was told last */
static int depth;
static volatile int handled; /* memory may go back before main, too */
extern int ash_check(void) __attribute__((weak));

static void say(const char *text)
{
	(void)!write(1, text, strlen(text));
}

static void fail(const char *why)
{
	say(why);
	_exit(9);
}

static void on_trap(int signal)
{
	(void)signal;
	fail("memory went back past the functions\n");
}

static void work(size_t size)
{
	char *p = malloc(size);

	p[0] = p[size - 1] = 1;
	free(p);
}

static void on_signal(int signal)
{
	(void)signal;
	work(3 * MIB);
	work(100);
}

/* One of the functions: counts, works, and makes the call. */
static long call(enum kind kind, long number, long a, long b, long c, long d, long e)
{
	long r;

	told[kind]++;
	if (depth++ == 0) {
		work(500);
		if (told[kind] % 16 == 1) {
			work(40 * MIB);
			if (handled)
				raise(SIGUSR1);
		}
	}
	depth--;
	r = syscall(number, a, b, c, d, e, WORD);
	(void)syscall(SYS_getppid, 0, 0, 0, 0, 0, 0); /* the word is in no register now */
	if (r != -1)
		errno = 77;
	return r;
}

int munmap(void *p, size_t n)
{
	return (int)call(UNMAPPED, SYS_munmap, (long)p, (long)n, 0, 0, 0);
}

int madvise(void *p, size_t n, int advice)
{
	left[told[LEFT] % 1024] = (struct range){p, (char *)p + n};
	return (int)call(LEFT, SYS_madvise, (long)p, (long)n, advice, 0, 0);
}

void *mremap(void *p, size_t old, size_t n, int flags, ...)
{
	__builtin_va_list list;
	int known = 0;
	char *to;

	__builtin_va_start(list, flags);
	to = __builtin_va_arg(list, void *);
	__builtin_va_end(list);
	/* What is mapped over loses its pages, too, and somebody may have registered those.  A page of its own is a probe. */
	if ((flags & MREMAP_FIXED) != 0 && n >= MIB) {
		for (int i = 0; i < 1024; i++)
			known |= left[i].from <= to && left[i].to >= to + n;
		if (!known)
			fail("pages were moved to a range that was not told to be forgotten\n");
	}
	return (void *)call(MOVED, SYS_mremap, (long)p, (long)old, (long)n, flags, (long)to);
}

#ifdef WAITS /* musl's own would wait here */
static volatile long waits;
void __vm_wait(void) { waits++; }
void __vm_lock(void) {}
void __vm_unlock(void) {}
#endif

#define GIVES_BACK(advice) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, advice, 2, 0)
#define WORD_AT(n)	   BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[n]))
static void only_by_functions(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_munmap, 9, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mremap, 0, 9),
		WORD_AT(3),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, MREMAP_MAYMOVE, 5, 7),
		WORD_AT(2),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MADV_DONTNEED, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MADV_FREE, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MADV_REMOVE, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		WORD_AT(5),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, WORD, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
	};
	struct sock_fprog program = {sizeof code / sizeof *code, code};

	signal(SIGSYS, on_trap);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
		say("no filter can be had\n");
		_exit(77);
	}
}

/* Peaks of small, of large and of very large blocks, and some that move. */
static void peaks(void)
{
	static const size_t sizes[] = {100, 5000, 300000, MIB, 3 * MIB, 20 * MIB, 64 * MIB};
	static char *blocks[20000];
	size_t n, i, k;

	for (k = 0; k < sizeof sizes / sizeof *sizes; k++)
		for (int round = 0; round < 3; round++) {
			n = (size_t)96 * MIB / sizes[k] < 20000 ? (size_t)96 * MIB / sizes[k] : 20000;
			for (i = 0; i < n; i++)
				memset(blocks[i] = malloc(sizes[k]), 1, sizes[k]);
			for (i = 0; i < n; i++)
				free(blocks[i]);
		}
	for (i = 1; i <= 12; i++) {
		blocks[0] = realloc(i == 1 ? NULL : blocks[0], i * 5 * MIB);
		memset(blocks[0], 1, i * 5 * MIB);
		blocks[i] = malloc(5 * MIB);
	}
	for (i = 0; i <= 12; i++)
		free(blocks[i]);
}

int main(void)
{
	long before;
	int status = 0;

	signal(SIGUSR1, on_signal);
	handled = 1;
#ifndef WAITS
	only_by_functions();
#endif
	errno = KEPT;
	peaks();
	if (errno != KEPT)
		fail("errno is another one\n");
	before = told[UNMAPPED] + told[LEFT];
	if (vfork() == 0) {
		peaks();
		_exit(0);
	}
	wait(&status);
	if (status != 0 || errno != KEPT)
		fail("a child of vfork\n");
#ifdef WAITS
	if (waits != 0 || told[UNMAPPED] + told[MOVED] != 0)
		fail("musl waits\n");
#else
	if (told[UNMAPPED] == 0 || told[UNMAPPED] + told[LEFT] == before)
		fail("nothing was told\n");
#endif
	if (ash_check != NULL && ash_check() != 0)
		fail("ash_check\n");
	if (told[MOVED] == 0)
		say("nothing moved\n");
	say("told\n");
	return 0;
}
