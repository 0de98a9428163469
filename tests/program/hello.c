/* SPDX-License-Identifier: MIT */
/*
 * The smallest honest program: one line from a block of Ashlar.  With an
 * argument it then waits for the end of its input, so that check/footprint.sh can
 * look at it while it lives.
 */
/* promises: ash_alloc, ash_release */
#include "ashlar.h"
#include "rt.h"
#include "syscall.h"

int main(int argc, UNUSED char **argv, UNUSED char **envp)
{
	static const char line[] = "ok   hello, world\n";
	char *p = ash_alloc(sizeof(line)), byte;

	if (p == NULL)
		return 1;
	memcpy(p, line, sizeof(line));
	arch_write(1, p, sizeof(line) - 1);
	ash_release(p);
	while (argc > 1 && arch_read(0, &byte, 1) > 0)
		;
	return 0;
}
