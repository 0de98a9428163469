/* SPDX-License-Identifier: MIT */
/*
 * The first process of a kernel that runs tests (tests/kernel/run).  It mounts what the tests need and follows /list, one
 * line after the other:
 *
 *	write PATH TEXT...	writes a setting of the kernel; one that the kernel refuses is said, and counts as skipped
 *	env NAME=VALUE		for the programs that follow
 *	run PROGRAM WORD...	runs it and counts the lines of its output that begin with ok, FAIL or skip
 *	works PROGRAM WORD...	runs it, which passes if its status is 0
 *	mount TYPE PATH [DISK]	mounts a file system
 *	load PATH		loads a module of the kernel (`modules: NAME...` in the list: tests/kernel/run)
 *	group FILE TEXT		the programs that follow run in a cgroup, with this setting of its memory
 *	leave			they run outside it again
 *	exhaust			this process takes memory until there is none; its heap is whole, and serves again
 *	skip TEXT...		counts as one, with its reason
 *
 * Then it prints the totals and turns the machine off.  No libc, no shell: libashlar_start.a and the tests' runtime.
 */
#include "kernel/exhaust.h"
#include "runtime/kernel.h"
#include "syscall.h"

enum { MOST_WORDS = 64, MOST_VARIABLES = 32, LIST_BYTES = 64 << 10 };
enum { MODE_FOLDER = 0755, AT_HERE = -100 };

static struct totals {
	size_t passed, failed, skipped;
} totals;

static char *variables[MOST_VARIABLES + 1] = {"RT_SLOW=1"}; /* all of it is emulated */
static bool grouped;

static void mount(const char *type, const char *where, const char *what)
{
	long r;

	(void)arch_mkdirat(AT_HERE, where, MODE_FOLDER);
	r = arch_mount(what != NULL ? what : type, where, type, 0, NULL);
	if (r != 0)
		rt_print("     init: %s is not mounted: %ld\n", type, r);
}

/* The words of a line, which is cut up. */
static size_t words_of(char *line, char **words)
{
	size_t n = 0;

	while (*line != '\0' && n < MOST_WORDS) {
		while (*line == ' ')
			*line++ = '\0';
		if (*line != '\0')
			words[n++] = line;
		while (*line != '\0' && *line != ' ')
			line++;
	}
	words[n] = NULL;
	return n;
}

static bool begins(const char *line, const char *with)
{
	while (*with != '\0')
		if (*line++ != *with++)
			return false;
	return true;
}

/* Counts what a line of output says; returns whether it says anything. */
static void count_line(const char *line, struct totals *t)
{
	t->passed += begins(line, "ok  ");
	t->failed += begins(line, "FAIL");
	t->skipped += begins(line, "skip");
}

/* Copies the output of a program to the serial line, and counts. */
static void follow(long fd, struct totals *t)
{
	static char line[512];
	size_t length = 0;
	char bytes[1024];
	long n;

	while ((n = arch_read(fd, bytes, sizeof(bytes))) > 0) {
		arch_write(1, bytes, (size_t)n);
		for (long i = 0; i < n; i++) {
			if (bytes[i] != '\n') {
				if (length < sizeof(line) - 1)
					line[length++] = bytes[i];
				continue;
			}
			line[length] = '\0';
			count_line(line, t);
			length = 0;
		}
	}
}

static _Noreturn void program(char **words, const int *ends)
{
	(void)arch_dup2(ends[1], 1);
	(void)arch_dup2(ends[1], 2);
	(void)arch_close(ends[0]);
	(void)arch_close(ends[1]);
	if (grouped)
		(void)rt_write_file("/sys/fs/cgroup/tests/cgroup.procs", "0");
	arch_setpgid(0, 0);
	rt_print("FAIL %s: it cannot be run: %ld\n", words[0], arch_execve(words[0], words, variables));
	rt_exit(1);
}

static void run(char **words, bool has_tests)
{
	struct totals t = {0, 0, 0};
	int ends[2], status;
	long pid, other;

	rt_print("== %s\n", words[0]);
	if (arch_pipe2(ends, 0) != 0 || (pid = rt_fork()) < 0) {
		rt_print("FAIL init: no process for %s\n", words[0]);
		totals.failed++;
		return;
	}
	if (pid == 0)
		program(words, ends);
	(void)arch_close(ends[1]);
	follow(ends[0], &t);
	(void)arch_close(ends[0]);
	/* Orphans of the tests are this process's children, too. */
	while ((other = rt_wait_any(&status)) != pid && other > 0)
		;
	if (other == pid && status != 0 && t.failed == 0) {
		rt_print("FAIL %s: it ended with %d\n", words[0], status);
		t.failed++;
	} else if (!has_tests) {
		rt_print("ok   %s\n", words[0]);
		t.passed++;
	} else if (t.passed + t.failed + t.skipped == 0) {
		rt_print("FAIL %s: no test ran\n", words[0]);
		t.failed++;
	}
	totals.passed += t.passed;
	totals.failed += t.failed;
	totals.skipped += t.skipped;
}

/* Joins the words from the second on again. */
static const char *joined(char **words)
{
	for (size_t i = 0; words[i] != NULL && words[i + 1] != NULL; i++)
		for (char *at = words[i] + rt_strlen(words[i]); at < words[i + 1]; at++)
			*at = ' ';
	return words[0] != NULL ? words[0] : "";
}

static void set(char **words)
{
	const char *path = words[1], *text = joined(words + 2);
	char there[128];
	long n = 0;

	if (rt_write_file(path, text)) {
		n = rt_read_file(path, there, sizeof(there));
		rt_print("     %s: %s\n", path, n > 0 ? there : text);
		return;
	}
	rt_print("skip kernel: %s cannot be set to %s\n", path, text);
	totals.skipped++;
}

static void group(const char *file, const char *text)
{
	char path[128];

	rt_format(path, sizeof(path), "/sys/fs/cgroup/tests/%s", file);
	grouped = rt_write_file("/sys/fs/cgroup/cgroup.subtree_control", "+memory") &&
		  (arch_mkdirat(AT_HERE, "/sys/fs/cgroup/tests", MODE_FOLDER), true) && rt_write_file(path, text);
	if (!grouped) {
		rt_print("skip kernel: no memory cgroup with %s\n", file);
		totals.skipped++;
	}
}

/* Where the kernel promises more than it has, it would end all others and then stop. */
static void exhaust(void)
{
	char text[8];

	if (rt_read_file("/proc/sys/vm/overcommit_memory", text, sizeof(text)) <= 0 || text[0] != '2') {
		rt_print("skip init: out of memory the kernel would stop\n");
		totals.skipped++;
	} else if (!exhausted()) {
		rt_print("FAIL init: the first process out of memory\n");
		totals.failed++;
	} else {
		rt_print("ok   init: the first process out of memory\n");
		totals.passed++;
	}
}

static void load(const char *path)
{
	long fd = arch_open(path, 0, 0), r = fd;

	if (fd >= 0) {
		r = arch_finit_module(fd, "", 0);
		(void)arch_close(fd);
	}
	if (r != 0)
		rt_print("     init: %s is not loaded: %ld\n", path, r);
}

static void obey(char *line)
{
	static size_t count = 1;
	char *words[MOST_WORDS + 1];

	if (words_of(line, words) == 0 || words[0][0] == '#')
		return;
	if (rt_strcmp(words[0], "write") == 0 && words[1] != NULL && words[2] != NULL) {
		set(words);
	} else if (rt_strcmp(words[0], "env") == 0 && words[1] != NULL && count < MOST_VARIABLES) {
		variables[count++] = words[1];
	} else if (rt_strcmp(words[0], "group") == 0 && words[1] != NULL && words[2] != NULL) {
		group(words[1], words[2]);
	} else if (rt_strcmp(words[0], "leave") == 0) {
		grouped = false;
	} else if (rt_strcmp(words[0], "mount") == 0 && words[1] != NULL && words[2] != NULL) {
		mount(words[1], words[2], words[3]);
	} else if (rt_strcmp(words[0], "load") == 0 && words[1] != NULL) {
		load(words[1]);
	} else if (rt_strcmp(words[0], "exhaust") == 0) {
		exhaust();
	} else if (rt_strcmp(words[0], "run") == 0 && words[1] != NULL) {
		run(words + 1, true);
	} else if (rt_strcmp(words[0], "works") == 0 && words[1] != NULL) {
		run(words + 1, false);
	} else if (rt_strcmp(words[0], "skip") == 0) {
		rt_print("skip %s\n", joined(words + 1));
		totals.skipped++;
	} else {
		rt_print("FAIL init: no such line: %s\n", joined(words));
		totals.failed++;
	}
}

int main(__attribute__((unused)) int argc, __attribute__((unused)) char **argv,
	 __attribute__((unused)) char **envp)
{
	static char list[LIST_BYTES], version[256];
	char *line = list, *end;

	mount("proc", "/proc", NULL);
	mount("sysfs", "/sys", NULL);
	mount("devtmpfs", "/dev", NULL);
	mount("tmpfs", "/tmp", NULL);
	mount("cgroup2", "/sys/fs/cgroup", NULL);
	if (rt_read_file("/proc/version", version, sizeof(version)) > 0)
		rt_print("     %s", version);
	rt_print("     pages of %lu bytes\n", rt_auxv(AT_PAGESZ));
	if (rt_read_file("/list", list, sizeof(list)) <= 0) {
		rt_print("FAIL init: no /list\n");
		totals.failed++;
	}
	for (; *line != '\0'; line = end) {
		for (end = line; *end != '\0' && *end != '\n'; end++)
			;
		if (*end == '\n')
			*end++ = '\0';
		obey(line);
	}
	rt_print("kernel: %lu passed, %lu failed, %lu skipped\n", totals.passed, totals.failed, totals.skipped);
	(void)arch_reboot(0xfee1dead, 672274793, 0x4321fedc, NULL); /* power off */
	for (;;)
		rt_sleep(1000000000);
}
