/* SPDX-License-Identifier: MIT */
#include "identity.h"

#include "atomic.h"
#include "borrow.h"
#include "generation.h"
#include "kernel.h"
#include "syscall.h"

#define IDENTITY_SHIFT 32

uint64_t identity_here(void)
{
	long process, thread;

	if (!generation_is_watched())
		return 0;
	process = arch_getpid();
	thread = arch_gettid();
	return process <= 0 || thread <= 0 ? 0 : (uint64_t)process << IDENTITY_SHIFT | (uint64_t)thread;
}

/*
 * False: the caller may be a child of vfork with the same identity as the parent's
 * thread.  Such a child has one thread, so its thread id equals its process id, and
 * it is in another pid namespace than its parent, so getppid gives 0.
 */
static bool may_judge(long process, long thread)
{
	return thread != process || arch_getppid() > 0 || !memory_is_borrowed();
}

bool identity_has_ended(uint64_t identity, uint64_t me)
{
	long process = (long)(me >> IDENTITY_SHIFT), thread = (long)(me & UINT32_MAX);
	long other = (long)(identity & UINT32_MAX);

	if (identity == 0 || me == 0 || identity >> IDENTITY_SHIFT != me >> IDENTITY_SHIFT)
		return false;
	/*
	 * The caller has the id now, or no thread has it.  That tgkill finds the caller shows
	 * that ESRCH is the kernel's answer, not that of a seccomp filter.
	 */
	if ((other != thread && (arch_tgkill(process, other, 0) != -ESRCH ||
				 arch_tgkill(process, thread, 0) != 0)) ||
	    !may_judge(process, thread))
		return false;
	fence_acquire(); /* see process_thread_is_gone */
	return true;
}
