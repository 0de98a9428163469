/* SPDX-License-Identifier: MIT */
/*
 * These calls return memory to the system.  Caches of memory that hardware has registered (MPI, RDMA) replace a C
 * library's munmap, madvise and mremap by functions of their own, to forget a range that gets other pages.  So in
 * products for programs with a C library these calls use that library's functions, if the program has them, otherwise
 * system calls.
 *
 *	back_munmap	unmaps the range
 *	back_madvise	drops the pages of the range (MADV_DONTNEED, MADV_REMOVE)
 *	back_mremap	moves the pages of the range to another range
 *	back_forget	only tells the library: the kernel itself drops the pages of the range next
 *
 * The result is that of the system call, and errno is kept.  The program's replacement functions are called wherever
 * memory goes back, also in signal handlers and in children of vfork, and may call malloc and free.
 *
 * Only glibc's functions are used, because they do nothing but the system call.  musl's munmap and mremap wait while
 * another thread, or the thread that a handler has interrupted, is in pthread_barrier_wait or pthread_mutex_unlock
 * (__vm_wait).
 */
#ifndef SYS_BACK_H
#define SYS_BACK_H

#include <stddef.h>

#include "internal.h"
#include "syscall.h"

#if HAS_PTHREAD
INTERNAL long back_munmap(void *p, size_t bytes);
INTERNAL long back_madvise(void *p, size_t bytes, long advice);
INTERNAL long back_mremap(void *p, size_t old, size_t bytes, long flags, void *target);
INTERNAL void back_forget(void *p, size_t bytes);
#else /* macros, because the amalgamation has the system calls only where it uses them */
#define back_munmap(p, bytes)			  arch_munmap(p, bytes)
#define back_madvise(p, bytes, advice)		  arch_madvise(p, bytes, advice)
#define back_mremap(p, old, bytes, flags, target) arch_mremap(p, old, bytes, flags, target)
#define back_forget(p, bytes)			  ((void)0)
#endif

#endif
