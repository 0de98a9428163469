/* SPDX-License-Identifier: MIT */
/* Running ashlar-look, and reading the figures that it prints with --json. */
#ifndef TESTS_PROGRAM_LOOK_RUN_H
#define TESTS_PROGRAM_LOOK_RUN_H

#include "rt.h"
#include "syscall.h"

enum { LOOK_TEXT = 1 << 20, LOOK_SECONDS = 600, LOOK_NO_END = 1000 + 14 /* SIGALRM */ };

static char look_text[LOOK_TEXT];

/* Beside the folder of this program. */
static const char *look_path(void)
{
	static char path[512];
	long n = arch_readlink("/proc/self/exe", path, sizeof path - 32);
	unsigned slashes = 0;

	CHECK(n > 0);
	while (n > 0 && slashes < 2)
		slashes += path[--n] == '/';
	memcpy(path + n, "/ashlar-look", sizeof "/ashlar-look");
	return path;
}

static void look_executes(void *arguments)
{
	/* 0, then seconds: no interval, one signal. */
	const int64_t limit[4] = {0, 0, LOOK_SECONDS, 0};

	(void)arch_dup2(2, 1);
	(void)arch_setitimer(0, limit, NULL);
	(void)arch_execve(look_path(), arguments, rt_envp());
	rt_exit(97);
}

/*
 * Runs it with these arguments, of which NULL is left out; look_text gets both of its outputs.
 * Returns as rt_wait; LOOK_NO_END if it does not end.
 */
static int look_run(const char *what, const char *option, const char *value)
{
	char *arguments[] = {(char *)"ashlar-look", (char *)what, (char *)option, (char *)value, NULL};

	return rt_run_child(look_executes, arguments, look_text, sizeof look_text);
}

static inline int look_process(long pid, const char *option)
{
	char number[16];

	rt_format(number, sizeof number, "%ld", pid);
	return look_run(number, option, NULL);
}

/* Looks at the process while all of its threads are stopped.  Skips the test where ptrace is refused. */
static inline void look_stopped(long pid)
{
	enum { SEIZE = 0x4206, DETACH = 17 };
	char number[16];

	rt_format(number, sizeof number, "%ld", pid);
	if (look_run(number, "--json", "--stop") == 0)
		return;
	if (arch_ptrace(SEIZE, pid, NULL, NULL) < 0)
		rt_skip("a process may not stop another's threads here");
	(void)arch_ptrace(DETACH, pid, NULL, NULL);
	CHECK_EQ(look_run(number, "--json", "--stop"), 0);
}

#define LOOK_NONE UINT64_MAX

/* The first figure with this name from the text on. */
static uint64_t look_figure(const char *from, const char *name)
{
	char key[64];
	const char *p;
	uint64_t value = 0;

	rt_format(key, sizeof key, "\"%s\": ", name);
	p = from == NULL ? NULL : rt_strstr((char *)(uintptr_t)from, key);
	if (p == NULL)
		return LOOK_NONE;
	for (p += rt_strlen(key); *p >= '0' && *p <= '9'; p++)
		value = value * 10 + (uint64_t)(*p - '0');
	return value;
}

/* A figure of the row of a class, by the bytes of its slots; 0: there is no such row. */
static inline uint64_t look_row(size_t size, const char *name)
{
	char key[64];
	const char *row;

	rt_format(key, sizeof key, "{\"size\": %zu, ", size);
	row = rt_strstr(look_text, key);
	return row == NULL ? 0 : look_figure(row, name);
}

/* Returns how often the text was printed. */
static inline unsigned times(const char *text)
{
	char *p = look_text;
	unsigned n = 0;

	while ((p = rt_strstr(p, text)) != NULL) {
		n++;
		p++;
	}
	return n;
}

#endif
