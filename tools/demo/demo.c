/* SPDX-License-Identifier: MIT */
/*
 * build/demo [trace...]: four experiments, then the traces of real programs
 * (those of tests/traces by default).  Exit status 1 when anything that was
 * verified was wrong.  RT_QEMU=1: smaller, for correctness.
 */
#include "demo.h"

#include <ashlar.h>

#include "rt.h"

static char *all_traces[] = {"tests/traces/sql.trace", "tests/traces/python.trace",
			     "tests/traces/cc.trace", "tests/traces/link.trace", NULL};

bool in_child(bool (*body)(const void *), const void *argument)
{
	long pid = rt_fork();
	int status;

	if (pid == 0)
		rt_exit(body(argument) ? 0 : 1);
	if (pid < 0) {
		rt_print("   FAILED: no process to be had\n");
		return false;
	}
	status = rt_wait(pid);
	if (status >= 1000)
		rt_print("   FAILED: ended by signal %d\n", status - 1000);
	return status == 0;
}

static bool shown;

void progress(const char *what, size_t done, size_t total)
{
	static uint64_t next;
	uint64_t now;

	if (!rt_is_terminal(2))
		return;
	now = rt_now();
	if (now < next)
		return;
	next = now + 50000000;
	shown = true;
	rt_fprint(2, "\r   %s: %zu %%\033[K", what, total > 0 ? done * 100 / total : 0);
}

void progress_end(void)
{
	if (shown)
		rt_fprint(2, "\r\033[K");
	shown = false;
}

int main(int argc, char **argv, __attribute__((unused)) char **envp)
{
	bool good;

	rt_print("Ashlar %s%s\n\n", ash_version(),
		 rt_under_qemu() ? ", under QEMU: fewer rounds, smaller blocks; the times are its"
				 : "");
	good = experiments();
	good &= traces(argc > 1 ? argv + 1 : all_traces);
	rt_print(good ? "\nEverything verified.\n" : "\nFAILED: see above.\n");
	return good ? 0 : 1;
}
