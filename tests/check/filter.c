/* SPDX-License-Identifier: MIT */
/*
 * Preloaded behind libashlar_malloc.so: from main on the kernel judges each system call that the
 * library's code makes, and no other, by the address of the instruction.  FILTER=kill: all but four
 * end the process; else it is the errno that they get.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WORD(member, half) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member) + (half) * 4)
#define IF(test, k, yes, no) BPF_JUMP(BPF_JMP | BPF_##test | BPF_K, k, yes, no)
#define RETURN(what) BPF_STMT(BPF_RET | BPF_K, what)

static void fail(const char *why)
{
	dprintf(2, "filter: %s\n", why);
	_exit(77);
}

/* The library's code; false: it is not there. */
static int code(unsigned long *from, unsigned long *to)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[4096], rights[8];
	int found = 0;

	while (maps != NULL && !found && fgets(line, sizeof line, maps) != NULL)
		found = strstr(line, "/libashlar_malloc.so") != NULL && sscanf(line, "%lx-%lx %7s", from, to, rights) == 3 &&
			rights[2] == 'x';
	if (maps != NULL)
		fclose(maps);
	return found;
}

__attribute__((constructor)) static void begin(void)
{
	const char *how = getenv("FILTER");
	unsigned long from, to;
	unsigned action;

	if (how == NULL)
		return;
	if (!code(&from, &to) || from >> 32 != to >> 32)
		fail("no libashlar_malloc.so");
	action = strcmp(how, "kill") == 0 ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ERRNO | (unsigned)atoi(how);
	unsetenv("FILTER");
	unsetenv("LD_PRELOAD"); /* a child has its own addresses */
	{
		struct sock_filter list[] = {
			WORD(instruction_pointer, 1),
			IF(JEQ, (unsigned)(from >> 32), 0, 8),
			WORD(instruction_pointer, 0),
			IF(JGE, (unsigned)from, 0, 6),
			IF(JGE, (unsigned)to, 5, 0),
			WORD(nr, 0),
			IF(JEQ, SYS_mmap, 3, 0),
			IF(JEQ, SYS_munmap, 2, 0),
			IF(JEQ, SYS_mremap, 1, 0),
			IF(JEQ, SYS_madvise, 0, 1),
			RETURN(SECCOMP_RET_ALLOW),
			RETURN(action),
		};
		struct sock_fprog program = {sizeof list / sizeof *list, list};

		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
			fail("the kernel refuses a filter");
	}
}
