/* SPDX-License-Identifier: MIT */
/*
 * From _start to main.  The kernel passes on the stack, from the stack pointer upwards:
 *
 *	argc
 *	argv[0] ... argv[argc-1], NULL
 *	envp[0] ..., NULL
 *	auxiliary vector: pairs of type and value, up to type 0
 */
#include "ashlar_start.h"
#include "kernel.h"
#include "memory.h"
#include "syscall.h"
#include "tls.h"

enum { EINTR = 4, STARTED_BADLY = 127 };

typedef int main_function(int argc, char **argv, char **envp);

/* Called by start.S, which is an object of its own. */
INTERNAL _Noreturn void ash_start_begin(unsigned long *stack, main_function *program);

static struct ash_arguments arguments;

const struct ash_arguments *ash_start_arguments(void)
{
	return &arguments;
}

unsigned long ash_start_auxv(unsigned long type)
{
	const unsigned long *pair = arguments.auxv;

	for (; pair != NULL && pair[0] != 0; pair += 2)
		if (pair[0] == type)
			return pair[1];
	return 0;
}

const char *ash_start_getenv(const char *name)
{
	char **entry = arguments.envp;
	size_t n;

	for (; entry != NULL && *entry != NULL; entry++) {
		for (n = 0; name[n] != '\0' && (*entry)[n] == name[n]; n++)
			;
		if (n > 0 && name[n] == '\0' && (*entry)[n] == '=')
			return *entry + n + 1;
	}
	return NULL;
}

void ash_exit(int status)
{
	for (;;)
		arch_exit_group(status);
}

long ash_write(int fd, const void *bytes, size_t length)
{
	const char *p = bytes;
	size_t done = 0;
	long n;

	while (done < length) {
		n = arch_write(fd, p + done, length - done);
		if (n < 0 && n != -EINTR)
			return n;
		if (n > 0)
			done += (size_t)n;
	}
	return (long)length;
}

/*
 * Most programs have few thread-local bytes: they are placed in .bss with other data
 * and cost no mapping and no page.
 */
static void *main_tls(const struct tls *t)
{
	static _Alignas(16) char small[512];
	long p;

	if (t->bytes <= sizeof small)
		return small;
	p = arch_mmap(NULL, t->bytes, PROT_READ_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return (unsigned long)p > -4096ul ? NULL : (void *)p;
}

/* Ends the process before anything could print. */
static _Noreturn void refuse(void)
{
	static const char line[] = "ashlar_start: not a static program, or no memory\n";

	(void)arch_write(2, line, sizeof line - 1);
	ash_exit(STARTED_BADLY);
}

/* Symbols of the linker: constructors of static objects, of C++ and __attribute__((constructor)). */
typedef void constructor(int argc, char **argv, char **envp);
extern constructor *const __init_array_start[] __attribute__((weak)) HIDDEN;
extern constructor *const __init_array_end[] __attribute__((weak)) HIDDEN;

/* cxx.c has another definition, which the linker takes instead if there are objects to destroy. */
HIDDEN void ash_start_destroy(void);
__attribute__((weak)) void ash_start_destroy(void)
{
}

void ash_start_begin(unsigned long *stack, main_function *program)
{
	char **end = (char **)(stack + 1) + stack[0] + 1;
	constructor *const *construct;
	struct image image;
	struct tls tls;
	void *memory;
	int status;

	image_here(&image);
	if (!image_relocate(&image))
		refuse();
	arguments.argc = (int)stack[0];
	arguments.argv = (char **)(stack + 1);
	arguments.envp = end;
	while (*end != NULL)
		end++;
	arguments.auxv = (const unsigned long *)(end + 1);

	tls_of(&image, &tls);
	memory = main_tls(&tls);
	if (memory == NULL || arch_set_thread_pointer(tls_build(&tls, memory)) != 0)
		refuse();
	for (construct = __init_array_start; construct != __init_array_end; construct++)
		(*construct)(arguments.argc, arguments.argv, arguments.envp);
	status = program(arguments.argc, arguments.argv, arguments.envp);
	ash_start_destroy();
	ash_exit(status);
}
