/* SPDX-License-Identifier: MIT */
#include "panic.h"

#include "syscall.h"

_Noreturn void panic_line(const char *line, size_t length)
{
	/* What cannot be written is lost: there is nobody left to tell. */
	(void)arch_write(2, line, length);
	__builtin_trap();
}
