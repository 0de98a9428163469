/* SPDX-License-Identifier: MIT */
/*
 * Program start, from _start to main.  The kernel passes on the stack, from the stack
 * pointer upwards:
 *
 *	argc
 *	argv[0] ... argv[argc-1], NULL
 *	envp[0] ..., NULL
 *	auxiliary vector: pairs of type and value, up to type AT_NULL
 */
#include "kernel.h"
#include "rt.h"
#include "syscall.h"
#include "tls.h"

char **rt_envp;
static const unsigned long *auxiliary;

_Noreturn void rt_start(unsigned long *stack);

unsigned long rt_auxv(unsigned long type)
{
	for (const unsigned long *pair = auxiliary; pair[0] != AT_NULL; pair += 2)
		if (pair[0] == type)
			return pair[1];
	return 0;
}

const char *rt_getenv(const char *name)
{
	size_t length = rt_strlen(name);

	for (char **entry = rt_envp; *entry != NULL; entry++)
		if (rt_strlen(*entry) > length && (*entry)[length] == '=' &&
		    memcmp(*entry, name, length) == 0)
			return *entry + length + 1;
	return NULL;
}

bool rt_under_qemu(void)
{
	const char *value = rt_getenv("RT_QEMU");

	return value != NULL && rt_strcmp(value, "1") == 0;
}

bool rt_in_full(void)
{
	return rt_getenv("STEPS_FULL") != NULL || rt_getenv("STEPS_SOAK") != NULL;
}

_Noreturn void rt_exit(int status)
{
	for (;;)
		arch_exit_group(status);
}

/*
 * Most programs have few thread-local bytes: they are placed in .bss with other data
 * and cost no mapping and no page.
 */
static void *main_tls_memory(void)
{
	static char small[512];
	size_t size = tls_size();

	return size <= sizeof(small) ? small : rt_map(size);
}

_Noreturn void rt_start(unsigned long *stack)
{
	int argc = (int)stack[0];
	char **argv = (void *)(stack + 1);
	char **end = argv + argc + 1;
	void *memory;

	rt_envp = end;
	while (*end != NULL)
		end++;
	auxiliary = (const void *)(end + 1);

	tls_init();
	memory = main_tls_memory();
	if (memory == NULL || arch_set_thread_pointer(tls_build(memory)) != 0)
		__builtin_trap();
	rt_exit(main(argc, argv, rt_envp));
}
