/* SPDX-License-Identifier: MIT */
#include "say.h"

#include "ashlar_system.h"

void text_say(const char *text, size_t length)
{
	ash_system_write(text, length);
}
