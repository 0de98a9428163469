/* SPDX-License-Identifier: MIT */
#include "panic.h"

#include "cpu.h"
#include "syscall.h"

_Noreturn void panic_line(const char *line, size_t length)
{
	/* A failed write is ignored: there is nowhere else to report to. */
	(void)arch_write(2, line, length);
	cpu_stop(); /* panic.h: by SIGILL */
}
