/* SPDX-License-Identifier: MIT */
/* Weak defaults for the functions of ashlar_system.h that the program does not define. */
#include "ashlar_system.h"

#define BY_DEFAULT __attribute__((weak))

BY_DEFAULT bool ash_system_unmap(void *p, size_t bytes)
{
	(void)p, (void)bytes;
	return false;
}

BY_DEFAULT bool ash_system_purge(void *p, size_t bytes)
{
	(void)p, (void)bytes;
	return false;
}

BY_DEFAULT uint32_t ash_system_thread(void)
{
	return 0;
}

BY_DEFAULT bool ash_system_thread_ended(uint32_t thread)
{
	(void)thread;
	return false;
}

BY_DEFAULT void ash_system_write(const char *line, size_t length)
{
	(void)line, (void)length;
}
