/* SPDX-License-Identifier: MIT */
#include "identity.h"

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
 * A child of vfork has one thread, so thread id and process id are the same; its
 * identity can be that of the thread it borrows from only where it is in
 * another pid namespace than its parent, which then it cannot see.
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
	/* Its id is the caller's by now; or the kernel knows of no such thread, but of the caller. */
	return (other == thread || (arch_tgkill(process, other, 0) == -ESRCH &&
				    arch_tgkill(process, thread, 0) == 0)) &&
	       may_judge(process, thread);
}
