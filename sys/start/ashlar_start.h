/* SPDX-License-Identifier: MIT */
/*
 * libashlar_start.a: the start of a program without a C library, and threads.  For x86_64, aarch64 and riscv64 Linux,
 * static or static-pie, in C or C++:
 *
 *	#include <ashlar.h>
 *	#include <ashlar_start.h>
 *
 *	int main(int argc, char **argv, char **envp)
 *	{
 *		ash_write(1, "hello\n", 6);
 *		return 0;
 *	}
 *
 *	clang -ffreestanding -nostdlib -static -Wl,--gc-sections program.c -lashlar_start -lashlar
 *	gcc   -ffreestanding -nostdlib -static-pie -fPIE -fno-stack-protector program.c ...
 *
 * For aarch64 add -mno-outline-atomics, because otherwise the compiler calls its own library for the atomic
 * operations of C11 and C++; for riscv64 add -march=rv64gc -mabi=lp64d -mno-relax.
 *
 * The archive has the entry point _start.  It relocates a position independent program, gives the main thread its
 * thread-local storage, runs constructors (.init_array), calls main, and ends the process with main's result.  No
 * linker script is needed; a linker script must load the ELF and program headers, and have .init_array.  There are no
 * ifuncs, and no dynamic linking.
 *
 * In C++, operator new and delete are ash_alloc and ash_release; new without memory stops the program, unless it is
 * nothrow.  main is `extern "C" int main(...)`: otherwise clang's -ffreestanding gives it another name.  When it
 * returns, static objects are destroyed (the first 128; ash_exit destroys none).  All else of the C++ library is
 * absent: -fno-exceptions -fno-rtti -fno-threadsafe-statics.
 *
 * A program with a _start of its own may link the archive, too: the linker takes _start only if it is missing.  Then
 * it calls ashlar_tls_init and ashlar_tls_use first; threads that ash_thread_start makes are given their storage
 * there.  The compiler may call memcpy, memmove, memset and memcmp: they are in the archive, unless the program has
 * its own.
 *
 * None of these functions calls the allocator, except that a thread that ends calls ash_thread_detach, if the program
 * has that function.  Errors are -errno numbers; nothing sets errno.  Unless stated otherwise, they may be called
 * from any thread, in signal handlers and in a child of fork.
 */
#ifndef ASHLAR_START_H
#define ASHLAR_START_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the process ---- */

struct ash_arguments {
	int argc;
	char **argv;                /* argv[argc] is NULL                                     */
	char **envp;                /* "NAME=value", the last is NULL                         */
	const unsigned long *auxv;  /* pairs of type and value (getauxval(3)), up to type 0   */
};

/*
 * Returns the arguments that the kernel passed to the program.  With a _start of the program's own all members are 0
 * or NULL, and the two functions below find nothing.
 */
const struct ash_arguments *ash_start_arguments(void);

/* Returns the value of an environment variable, or NULL if there is no variable of this name. */
const char *ash_start_getenv(const char *name);

/* Returns a value of the auxiliary vector, such as 6 (AT_PAGESZ), or 0 if the vector has no such type. */
unsigned long ash_start_auxv(unsigned long type);

/* Ends the process, with all its threads, with this exit status (0 to 255). */
void ash_exit(int status) __attribute__((noreturn));

/*
 * Writes `length` bytes to a file descriptor, by several system calls if needed.  Returns length, or -errno: then
 * some of the bytes may have been written.
 */
long ash_write(int fd, const void *bytes, size_t length);

/*
 * Makes the system call of this number (<asm/unistd.h>: it differs from CPU to CPU) with six arguments, of which the
 * call reads those that it has: pass 0 for the others, and pointers as (long).  Returns what the kernel returns:
 * -4095 to -1 are -errno.  Not for calls that return twice in one memory or on another stack (vfork, clone with
 * CLONE_VM), nor for rt_sigreturn.
 *
 *	long fd = ash_syscall(__NR_openat, AT_FDCWD, (long)path, O_RDONLY, 0, 0, 0);
 */
long ash_syscall(long number, long a, long b, long c, long d, long e, long f);

/* ---- threads ---- */

struct ash_thread;

/*
 * Starts a thread that calls body(argument).  It has a stack of at least `stack` bytes (0: 256 KiB) above a page that
 * faults, and thread-local storage of its own: one mapping, which becomes resident when it is touched.  Signals
 * blocked here are blocked there.  The thread ends when body returns, or by ash_thread_end.  The program must pass
 * the result to ash_thread_join or ash_thread_forget once.  Returns NULL if there is no memory or the kernel refused.
 */
struct ash_thread *ash_thread_start(void (*body)(void *argument), void *argument, size_t stack)
	__attribute__((warn_unused_result));

/*
 * Waits until the thread has ended, and releases its memory.  All that the thread did is visible to the caller.  Not
 * for signal handlers that interrupt the thread itself, nor for a child of fork, in which the threads of its parent
 * do not exist.
 */
void ash_thread_join(struct ash_thread *thread);

/*
 * For a thread that will not be joined: the thread releases its memory itself at its end.  (POSIX: pthread_detach.)
 * If the thread is just ending, the call waits for its last instructions.
 */
void ash_thread_forget(struct ash_thread *thread);

/*
 * Ends the calling thread, after ash_thread_detach.  In the main thread, or one that was not
 * started by ash_thread_start, only this thread ends; the process goes on while it has others.
 * No function of the thread returns any more, and nothing is unwound.  Not for handlers.
 */
void ash_thread_end(void) __attribute__((noreturn));

/* Returns the kernel's id of the thread, also after its end, until it is joined. */
int ash_thread_id(const struct ash_thread *thread);

/* ---- for programs with a start of their own: thread-local storage ---- */

/*
 * Returns the bytes of memory that ashlar_tls_init needs for a thread, which are equal for all threads.  Finds the
 * program headers by the linker's symbol __ehdr_start.
 */
size_t ashlar_tls_size(void);

/*
 * Lays out the thread-local storage of one thread in `memory`, which has ashlar_tls_size()
 * bytes, all of them zero, at any address: the initial values of the program's thread-local
 * words are copied there.  Returns the thread pointer, for ashlar_tls_use or clone's argument
 * tls (CLONE_SETTLS).  The memory must stay until the thread has ended.  In a position
 * independent program, relocation comes first.  A thread whose storage is above 2^50 (riscv64 with
 * 57 bits of address) has no slabs of its own.
 */
void *ashlar_tls_init(void *memory);

/*
 * Makes this the calling thread's thread pointer (%fs on x86_64, tpidr_el0 on aarch64, tp on
 * riscv64).  Returns 0, or -errno.
 */
long ashlar_tls_use(void *thread_pointer);

/*
 * Returns if the calling thread has a thread pointer.  Otherwise prints
 *
 *	ashlar: no thread-local storage in this thread, see ashlar_start.h
 *
 * on file descriptor 2, and ends the process by a trap (SIGILL).  The functions of libashlar.a do not check this:
 * their first instruction reads a thread-local word, and without storage that is a SIGSEGV, at an address within a
 * page or so of 0 or of the end of the address space.  (libashlar-small.a has no thread-local words.)
 */
void ashlar_tls_check(void);

#ifdef __cplusplus
}
#endif
#endif
