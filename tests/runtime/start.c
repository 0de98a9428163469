/* SPDX-License-Identifier: MIT */
/* The arguments and environment of the program; the start itself is libashlar_start.a (sys/start). */
#include "ashlar_start.h"
#include "rt.h"

char **rt_envp(void)
{
	return ash_start_arguments()->envp;
}

unsigned long rt_auxv(unsigned long type)
{
	return ash_start_auxv(type);
}

const char *rt_getenv(const char *name)
{
	return ash_start_getenv(name);
}

bool rt_under_qemu(void)
{
	const char *value = rt_getenv("RT_QEMU");

	return value != NULL && rt_strcmp(value, "1") == 0;
}

bool rt_emulated(void)
{
	return rt_under_qemu() || rt_getenv("RT_SLOW") != NULL;
}

bool rt_in_full(void)
{
	return rt_getenv("STEPS_FULL") != NULL || rt_getenv("STEPS_SOAK") != NULL;
}

size_t rt_share(void)
{
	const char *value = rt_getenv("STEPS_SHARE");
	size_t share = value != NULL ? rt_number_in(value) : 1;

	return share > 0 ? share : 1;
}

_Noreturn void rt_exit(int status)
{
	ash_exit(status);
}
