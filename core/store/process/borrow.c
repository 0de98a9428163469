/* SPDX-License-Identifier: MIT */
#include "store/process/borrow.h"

#include "atomic.h"
#include "pages.h"
#include "process.h"
#include "store/process/proc_stat.h"
#include "syscall.h"

enum { CLONE_VM = 0x100, CLONE_THREAD = 0x10000 };
enum { EINVAL = 22 };

/* Returns whether the parent is in an uninterruptible wait, as for a child of vfork (or for a disk). */
static bool parent_waits(void)
{
	struct proc_stat s;

	return proc_stat_read((uint64_t)arch_getppid(), &s) && proc_stat_is(&s, 'D');
}

static void number_set(uint64_t *mark)
{
	uint64_t number = process_number();

	store_release(mark, number != 0 ? number : PROCESS_UNKNOWN); /* like process_set_mark */
}

/* Compares process numbers.  The first process that asked after this memory was forked owns it. */
static bool borrowed_by_number(void)
{
	static uint64_t *kept; /* a fork mark (process.h) with the number of that process */
	uint64_t *mark = load_acquire(&kept), none = 0;

	if (mark != NULL && !process_has_forked(mark))
		return process_is_another(load_relaxed(mark));
	if (parent_waits())
		return true;
	if (mark != NULL) {
		number_set(mark);
		return false;
	}
	mark = process_mark();
	if (mark != NULL)
		number_set(mark);
	/* Pairs with the load of `kept`: the page is set up. */
	if (mark != NULL &&
	    !cas_acq_rel((uint64_t *)(void *)&kept, &none, (uint64_t)(uintptr_t)mark))
		(void)pages_release(mark, PAGE_MOST);
	return false;
}

bool memory_is_borrowed(void)
{
	/*
	 * Neither call changes anything: it returns 0 if there is nothing to unshare, otherwise EINVAL.  The first
	 * call asks whether the process has other threads, the second call also whether other processes use this
	 * memory.
	 */
	long alone = arch_unshare(CLONE_THREAD), sole;

	if (alone == -EINVAL)
		return false;
	sole = alone == 0 ? arch_unshare(CLONE_VM) : alone;
	if (sole == 0 || sole == -EINVAL)
		return sole != 0;
	return borrowed_by_number();
}
