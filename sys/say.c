/* SPDX-License-Identifier: MIT */
#include "say.h"

#include "syscall.h"

void text_say(const char *text, size_t length)
{
	/* A failed write is ignored: the text is only information. */
	(void)arch_write(2, text, length);
}
