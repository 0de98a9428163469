/* SPDX-License-Identifier: MIT */
/* The line of a misuse: where it goes, where it stays, and the program's hook. */
/* promises: ash_on_misuse */
#include "support/misuse.h"
#include "syscall.h"

enum { O_CREATE = 0100, O_READ_WRITE = 2, O_APPEND_TOO = 02000, O_SHORTEN = 01000 };
enum { HOOKED = 33 };

/* Several runs of this test may be at work at once, other users' too. */
static char file_name[64];

/* In the child that misuses: the process ends in the hook; else the hook returns. */
static enum { RETURNS, PRINTS, MISUSES, ALLOCATES } hook_does;
static _Atomic unsigned hook_calls;

void ash_on_misuse(const char *line)
{
	void *p;

	hook_calls++;
	if (line != ash_last_words || rt_strstr(line, "ashlar: ") != line)
		rt_exit(1);
	if (hook_does == RETURNS)
		return;
	if (hook_does == MISUSES) {
		rt_fprint(2, "%u\n", hook_calls);
		ash_release(&p);
	}
	if (hook_does == ALLOCATES) {
		p = ash_alloc(100);
		ash_release(ash_resize(p, 3000));
	}
	rt_fprint(2, "hook: %s", line);
	rt_exit(HOOKED);
}

TEST(last_words_hook, 10)
{
	char text[600], line[300], expected[600];
	struct bad bad;
	void *here = &bad;

	CHECK(ash_alloc(100) != NULL && ash_last_words[0] == '\0');
	bad_alone(&bad, here, FOREIGN);
	rt_format(line, sizeof line, "ashlar: ash_release(0x%lx): %s\n", (unsigned long)here, bad.fault);
	rt_format(expected, sizeof expected, "%shook: %s", line, line);
	hook_does = PRINTS;
	CHECK_EQ(rt_run_child(ash_release, here, text, sizeof text), HOOKED);
	CHECK_EQ(rt_strcmp(text, expected), 0);
	hook_does = ALLOCATES;
	CHECK_EQ(rt_run_child(ash_release, here, text, sizeof text), HOOKED);
	CHECK_EQ(rt_strcmp(text, expected), 0);
	/* Its own misuse is told, and ends the process without the hook. */
	hook_does = MISUSES;
	CHECK_EQ(rt_run_child(ash_release, here, text, sizeof text), misuse_status());
	CHECK(rt_strstr(text, line) == text && rt_strstr(text, "\n1\nashlar: ash_release(0x") != NULL);
	CHECK(rt_strstr(text, "\n2\n") == NULL);
}

/* ---- where fd 2 is a file ---- */

static struct {
	long flags;
	bool at_first; /* it is so before the heap gets its first memory */
} stderr_is;

static void misuse_there(UNUSED void *argument)
{
	long file;
	void *p = NULL;

	if (!stderr_is.at_first)
		p = ash_alloc(10);
	file = arch_open(file_name, O_CREATE | O_SHORTEN | O_READ_WRITE | stderr_is.flags, 0600);
	if (file < 0 || arch_dup2(file, 2) != 2)
		rt_exit(1);
	if (stderr_is.at_first)
		p = ash_alloc(10);
	/* Memory that the heap gets later does not count, nor does that of another heap. */
	CHECK(ash_alloc(40 * MIB) != NULL && ash_heap_alloc(ash_heap_create(NULL), 10) != NULL);
	(void)arch_write(2, "data\n", 5);
	ash_release((char *)p + 8);
}

/* The file's contents after the misuse. */
static const char *written(long flags, bool at_first)
{
	static char text[600];
	char unused[10];

	stderr_is.flags = flags;
	stderr_is.at_first = at_first;
	hook_does = RETURNS;
	CHECK_EQ(rt_run_child(misuse_there, NULL, unused, sizeof unused), misuse_status());
	CHECK(rt_read_file(file_name, text, sizeof text) >= 0);
	(void)arch_unlink(file_name);
	return text;
}

/* The test's process has no heap, and so each child its own beginning. */
TEST(last_words_in_a_file, 10)
{
	const char *text;

	rt_format(file_name, sizeof file_name, "/tmp/ashlar-last-words-%ld-%lu", arch_getpid(), rt_now());
	text = written(0, false);
	/* An emulator has a line of its own to add. */
	CHECK(rt_strstr(text, "data\n") == text && rt_strstr(text, "ashlar") == NULL);
	CHECK(rt_strstr(written(O_APPEND_TOO, false), "data\nashlar: ash_release(0x") != NULL);
	CHECK(rt_strstr(written(0, true), "data\nashlar: ash_release(0x") != NULL);
}
