/* SPDX-License-Identifier: MIT */
/*
 * Raw system calls: one assembly stub each, named arch_<call>.  They return the
 * kernel's result: a value, or minus an errno number in the range -4095..-1.
 * Only sys/, tests and tools call them.  Included by each CPU's syscall.h, after its
 * struct arch_stat.  A CPU whose kernel lacks a call has a stub with another call of
 * the same effect.
 */
#ifndef ARCH_CALLS_H
#define ARCH_CALLS_H
#ifndef ARCH_ANY /* the amalgamation has calls_here.h */

#include <stddef.h>

/* For sys/ (syscall.S, in libashlar.a). */
long arch_mmap(void *address, size_t length, long protection, long flags, long fd, long offset);
long arch_munmap(void *address, size_t length);
long arch_madvise(void *address, size_t length, long advice);
long arch_mremap(void *old, size_t old_length, size_t length, long flags, void *target);
long arch_msync(void *address, size_t length, long flags);
long arch_nanosleep(const void *timespec, void *remaining);
long arch_mincore(void *address, size_t length, unsigned char *residency);
long arch_open(const char *path, long flags, long mode);
long arch_close(long fd);
long arch_read(long fd, void *bytes, size_t length);
long arch_pread64(long fd, void *bytes, size_t length, long offset);
long arch_pwrite64(long fd, const void *bytes, size_t length, long offset);
long arch_fstat(long fd, struct arch_stat *out);
long arch_fcntl(long fd, long command, long argument);
long arch_fallocate(long fd, long mode, long offset, long length);
long arch_ftruncate(long fd, long length);
long arch_readlink(const char *path, char *out, size_t length);
long arch_write(long fd, const void *bytes, size_t length);
long arch_getpid(void);
long arch_getppid(void);
long arch_gettid(void);
long arch_tkill(long tid, long signal);
long arch_tgkill(long pid, long tid, long signal);
long arch_unshare(long flags);

/* In addition, for sys/start, and for the runtime of tests and tools (syscall_runtime.S). */
long arch_pipe2(int *fds, long flags);
long arch_lseek(long fd, long offset, long whence);
long arch_dup2(long from, long to); /* from != to */
long arch_personality(long flags);
long arch_mkdirat(long folder, const char *path, long mode);
long arch_reboot(long magic, long magic2, long command, void *argument);
long arch_mount(const char *what, const char *where, const char *type, long flags, const char *options);
long arch_swapon(const char *path, long flags);
long arch_umount2(const char *where, long flags);
long arch_finit_module(long fd, const char *options, long flags);
long arch_fsync(long fd);
long arch_ioctl(long fd, long request, void *argument);
long arch_mprotect(void *address, size_t length, long protection);
long arch_mlock(const void *address, size_t length);
long arch_mlockall(long flags);
long arch_munlockall(void);
long arch_exit(long status);
long arch_exit_group(long status);
long arch_fork(void);
long arch_execve(const char *path, char *const *argv, char *const *envp);
long arch_wait4(long pid, int *status, long options, void *usage);
long arch_waitid(long type, long id, void *told, long options, void *usage);
long arch_kill(long pid, long signal);
long arch_setpgid(long pid, long group);
long arch_ptrace(long request, long pid, void *address, void *data);
long arch_rt_sigaction(long signal, const void *action, void *old, size_t set_size);
long arch_rt_sigprocmask(long how, const void *set, void *old, size_t set_size);
long arch_sigaltstack(const void *stack, void *old);
long arch_setitimer(long which, const void *value, void *old);
long arch_timer_create(long clock, const void *event, int *timer);
long arch_timer_settime(long timer, long flags, const void *value, void *old);
long arch_timer_delete(long timer);
long arch_futex(void *word, long operation, long value, const void *timeout, void *word2, long value3);
long arch_set_tid_address(int *word);
long arch_clock_gettime(long clock, void *timespec);
long arch_sched_yield(void);
long arch_sched_setaffinity(long pid, size_t length, const void *mask);
long arch_getrusage(long who, void *usage);
long arch_setrlimit(long resource, const void *limit);
long arch_getrlimit(long resource, void *limit);
long arch_setuid(long user);
long arch_prctl(long option, long a, long b, long c, long d);
long arch_move_pages(long pid, size_t count, void *const *pages, const int *nodes, int *status, long flags);
long arch_memfd_create(const char *name, long flags);
long arch_unlink(const char *path);
long arch_getdents64(long fd, void *entries, size_t length);
long arch_process_vm_readv(long pid, const void *to, size_t to_count, const void *from,
			   size_t from_count, long flags);

/*
 * clone with a start function: the child runs entry(argument) on the new stack;
 * entry must not return.  arch_clone returns only in the parent (thread.S).
 */
long arch_clone(long flags, void *stack_top, int *parent_tid, int *child_tid, void *tls,
		void (*entry)(void *), void *argument);

/* Makes these the thread-local words of the calling thread (thread.S). */
long arch_set_thread_pointer(void *pointer);
void *arch_thread_pointer(void); /* returns where they are, or NULL if they were not set since the program began */

/* Return path of signal handlers, for sa_restorer, if the kernel needs it (syscall_runtime.S). */
void arch_sigreturn(void);

/*
 * Unmaps the thread's own stack and ends the thread, without a memory access in
 * between.  All signals must be blocked (thread.S).
 */
void arch_unmap_exit(void *stack, size_t length);

#endif
#endif
