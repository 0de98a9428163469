/* SPDX-License-Identifier: MIT */
#include "kernel.h"
#include "rt.h"
#include "syscall.h"

long rt_fork(void)
{
	return arch_fork();
}

void rt_end_with_parent(void)
{
	arch_prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
}

static int how_ended(int status)
{
	return (status & 0x7f) != 0 ? 1000 + (status & 0x7f) : status >> 8 & 0xff;
}

int rt_wait(long pid)
{
	int status = 0;

	while (arch_wait4(pid, &status, 0, NULL) == -EINTR)
		;
	return how_ended(status);
}

long rt_next_ended(void)
{
	int told[32] = {0}; /* siginfo_t */
	long r;

	do
		r = arch_waitid(P_ALL, 0, told, WEXITED | WNOWAIT, NULL);
	while (r == -EINTR);
	return r < 0 ? r : told[4];
}

long rt_wait_any(int *status)
{
	int raw = 0;
	long pid;

	do
		pid = arch_wait4(-1, &raw, 0, NULL);
	while (pid == -EINTR);
	*status = how_ended(raw);
	return pid;
}

void rt_kill(long pid, int signal)
{
	(void)arch_kill(pid, signal);
}

bool rt_in_child(const char *file, int line, int expected)
{
	long pid = rt_fork();
	int status;

	if (pid == 0)
		return true;
	status = rt_wait(pid);
	if (status != expected)
		rt_fail_values(file, line, "how the child ends", (unsigned)status, (unsigned)expected);
	return false;
}

void rt_be_killed(void)
{
	for (;;)
		rt_kill(arch_getpid(), SIGKILL);
}

/* Reads to the end; text that does not fit is dropped, because otherwise the writer would block. */
static void read_text(long fd, char *text, size_t size)
{
	char dropped[256];
	size_t used = 0;
	long n;

	for (;;) {
		bool fits = used + 1 < size;

		n = fits ? arch_read(fd, text + used, size - 1 - used)
			 : arch_read(fd, dropped, sizeof(dropped));
		if (n == -EINTR)
			continue;
		if (n <= 0)
			break;
		if (fits)
			used += (size_t)n;
	}
	if (size > 0)
		text[used] = '\0';
}

/* QEMU reports the death of its guest on the same fd; this is removed. */
static void cut_qemu_notice(char *text)
{
	char *notice = rt_strstr(text, "qemu: uncaught target signal");

	if (notice != NULL)
		*notice = '\0';
}

int rt_run_child(void (*body)(void *), void *argument, char *text, size_t size)
{
	int ends[2];
	long pid;

	if (KERNEL_FAILED(arch_pipe2(ends, O_CLOEXEC)))
		rt_fail(__FILE__, __LINE__, "no pipe for a child");
	pid = rt_fork();
	if (KERNEL_FAILED(pid))
		rt_fail(__FILE__, __LINE__, "no child process");
	if (pid == 0) {
		arch_dup2(ends[1], 2);
		arch_close(ends[0]);
		arch_close(ends[1]);
		body(argument);
		rt_exit(0);
	}
	arch_close(ends[1]);
	read_text(ends[0], text, size);
	arch_close(ends[0]);
	if (size > 0)
		cut_qemu_notice(text);
	return rt_wait(pid);
}

/* The limit is read back, because QEMU accepts and ignores it. */
static bool limited(int what, size_t bytes)
{
	struct rlimit limit = {bytes, bytes}, now = {0, 0};

	return arch_setrlimit(what, &limit) == 0 && arch_getrlimit(what, &now) == 0 && now.soft == bytes;
}

bool rt_limit_address_space(size_t bytes)
{
	return limited(RLIMIT_AS, bytes);
}

bool rt_limit_data(size_t bytes)
{
	return limited(RLIMIT_DATA, bytes);
}
