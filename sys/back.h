/* SPDX-License-Identifier: MIT */
/*
 * Memory goes back to the system by these.  Caches of memory that hardware has registered (MPI, RDMA) put
 * functions of their own in the places of a C library's munmap, madvise and mremap, to forget what has other
 * pages from now on.  So in products for programs with a C library these are that library's functions, where the
 * program has them, else system calls.
 *
 *	back_munmap	the range is unmapped
 *	back_madvise	the range loses its pages (MADV_DONTNEED, MADV_REMOVE)
 *	back_mremap	the pages of the range move to another one
 *	back_forget	tells only: the kernel itself drops the pages of the range next
 *
 * The result is that of the system call, and errno is kept.  A program's functions in these places are called
 * wherever memory goes back, so also in signal handlers and in children of vfork, and may call malloc and free.
 *
 * The C library is glibc, whose functions do nothing but the system call.  musl's munmap and mremap wait while another
 * thread, or the one that a handler has interrupted, is in pthread_barrier_wait or pthread_mutex_unlock (__vm_wait).
 */
#ifndef SYS_BACK_H
#define SYS_BACK_H

#include <stddef.h>

#include "internal.h"
#include "syscall.h"

/* Macros, as the amalgamation has the system calls only where it uses them.  In other products nothing is left of told_... */
#define back_munmap(p, bytes)			  (HAS_PTHREAD ? told_munmap(p, bytes) : arch_munmap(p, bytes))
#define back_madvise(p, bytes, advice)		  (HAS_PTHREAD ? told_madvise(p, bytes, advice) : arch_madvise(p, bytes, advice))
#define back_mremap(p, old, bytes, flags, target) \
	(HAS_PTHREAD ? told_mremap(p, old, bytes, flags, target) : arch_mremap(p, old, bytes, flags, target))
#define back_forget(p, bytes)			  (HAS_PTHREAD ? told_forget(p, bytes) : (void)0)

INTERNAL long told_munmap(void *p, size_t bytes);
INTERNAL long told_madvise(void *p, size_t bytes, long advice);
INTERNAL long told_mremap(void *p, size_t old, size_t bytes, long flags, void *target);
INTERNAL void told_forget(void *p, size_t bytes);

#endif
