/* SPDX-License-Identifier: MIT */
#include "borrow.h"

#include "atomic.h"
#include "pages.h"
#include "process.h"
#include "proc_stat.h"
#include "syscall.h"

enum { CLONE_VM = 0x100, CLONE_THREAD = 0x10000 };
enum { EINVAL = 22 };

/* True: the parent, were its child one of vfork, would be seen like this.  Or it waits for a disk. */
static bool parent_waits(void)
{
	struct proc_stat s;

	return proc_stat_read((uint64_t)arch_getppid(), &s) && s.state == 'D';
}

/* By who asked first in this memory since it was forked. */
static bool borrowed_by_number(void)
{
	static uint64_t *kept; /* a mark: it holds that process's number */
	uint64_t *mark = load_acquire(&kept), none = 0;

	if (mark != NULL && !process_has_forked(mark))
		return load_relaxed(mark) != process_number();
	if (parent_waits())
		return true;
	if (mark != NULL) {
		process_set_mark(mark);
		return false;
	}
	mark = process_mark();
	/* Pairs with the load above: the page has been marked. */
	if (mark != NULL &&
	    !cas_acq_rel((uint64_t *)(void *)&kept, &none, (uint64_t)(uintptr_t)mark))
		(void)pages_release(mark, PAGE_SIZE);
	return false;
}

bool memory_is_borrowed(void)
{
	/*
	 * Neither changes anything: who has nothing to part with is told so by 0,
	 * the others by EINVAL.  The first asks for other threads of the process,
	 * the second for other processes besides.
	 */
	long alone = arch_unshare(CLONE_THREAD), sole;

	if (alone == -EINVAL)
		return false;
	sole = alone == 0 ? arch_unshare(CLONE_VM) : alone;
	if (sole == 0 || sole == -EINVAL)
		return sole != 0;
	return borrowed_by_number();
}
