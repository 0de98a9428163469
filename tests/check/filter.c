/* SPDX-License-Identifier: MIT */
/*
 * From here on the kernel judges each system call that the library's code makes, and no other, by the address
 * of the instruction.  Preloaded behind libashlar_malloc.so: from main on.  As a program: in the one that its
 * arguments name, which has the library at the addresses FILTER_AT, "from-to".
 * FILTER=kill: all but ALLOWED, a list of SYS_... (README.md's, by filter.sh), end the process; else it is the
 * errno that they get.  fstat is of fd 2 alone.
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
	const char *at = getenv("FILTER_AT");
	FILE *maps;
	char line[4096], rights[8];
	int found = 0;

	if (at != NULL)
		return sscanf(at, "%lx-%lx", from, to) == 2;
	maps = fopen("/proc/self/maps", "r");
	while (maps != NULL && !found && fgets(line, sizeof line, maps) != NULL)
		found = strstr(line, "/libashlar_malloc.so") != NULL && sscanf(line, "%lx-%lx %7s", from, to, rights) == 3 &&
			rights[2] == 'x';
	if (maps != NULL)
		fclose(maps);
	return found;
}

__attribute__((constructor)) static void begin(void)
{
	static const unsigned allowed[] = {ALLOWED};
	struct sock_filter list[2 * (sizeof allowed / sizeof *allowed) + 12];
	struct sock_fprog program = {0, list};
	const char *how = getenv("FILTER");
	unsigned long from, to;
	unsigned action, i;

	if (how == NULL)
		return;
	if (!code(&from, &to) || from >> 32 != to >> 32)
		fail("no library");
	action = strcmp(how, "kill") == 0 ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ERRNO | (unsigned)atoi(how);
	unsetenv("FILTER");
	unsetenv("FILTER_AT");
	unsetenv("LD_PRELOAD"); /* a child has its own addresses */
#define ADD(...) list[program.len++] = (struct sock_filter)__VA_ARGS__
	ADD(WORD(instruction_pointer, 1));
	ADD(IF(JEQ, (unsigned)(from >> 32), 0, 3));
	ADD(WORD(instruction_pointer, 0));
	ADD(IF(JGE, (unsigned)from, 0, 1));
	ADD(IF(JGE, (unsigned)to, 0, 1));
	ADD(RETURN(SECCOMP_RET_ALLOW));
	ADD(WORD(nr, 0));
	for (i = 0; i < sizeof allowed / sizeof *allowed; i++)
		if (allowed[i] != SYS_fstat) {
			ADD(IF(JEQ, allowed[i], 0, 1));
			ADD(RETURN(SECCOMP_RET_ALLOW));
		} else {
			ADD(IF(JEQ, SYS_fstat, 0, 3));
			ADD(WORD(args, 0));
			ADD(IF(JEQ, 2, 0, 1));
			ADD(RETURN(SECCOMP_RET_ALLOW));
		}
	ADD(RETURN(action));
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		fail("the kernel refuses a filter");
}

int main(int argc, char **argv)
{
	if (argc > 1)
		execv(argv[1], argv + 1);
	fail("no program");
}
