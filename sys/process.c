/* SPDX-License-Identifier: MIT */
#include "process.h"

#include "atomic.h"
#include "pages.h"
#include "kernel.h"
#include "syscall.h"

enum { MADV_WIPEONFORK = 18, MADV_NOTHING_AT_ALL = 0x5a5a };
enum { UNSHARE_MEMORY = 0x100, UNSHARE_UNKNOWN = 1, NOT_VALID = 22 };

/*
 * An emulator that accepts advice which does not exist does not wipe pages either.  Such emulators also turn vfork
 * into fork, so process numbers are compared instead.
 */
static unsigned char advice_lies;

uint64_t *process_mark(void)
{
	uint64_t *mark = pages_reserve(PAGE_MOST, PAGE_LEAST, PAGES_PRIVATE);

	if (mark == NULL)
		return NULL;
	if (arch_madvise(mark, PAGE_MOST, MADV_WIPEONFORK) != 0) {
		(void)pages_release(mark, PAGE_MOST);
		return NULL;
	}
	if (arch_madvise(mark, PAGE_MOST, MADV_NOTHING_AT_ALL) == 0)
		store_relaxed(&advice_lies, 1);
	process_set_mark(mark);
	return mark;
}

void process_set_mark(uint64_t *mark)
{
	/* Pairs with process_has_forked: the page is emptied before (inherited_clear). */
	store_release(mark, process_mark_number());
}

bool process_has_forked(const uint64_t *mark)
{
	return process_mark_is_old(load_acquire(mark)); /* pairs with process_set_mark */
}

bool process_mark_is_old(uint64_t number)
{
	return number == 0 || (!process_mark_is_wiped() && process_is_another(number));
}

bool process_mark_is_wiped(void)
{
	return load_relaxed(&advice_lies) == 0;
}

uint64_t process_mark_number(void)
{
	uint64_t number = process_mark_is_wiped() ? 0 : process_number();

	return number != 0 ? number : PROCESS_UNKNOWN;
}

uint64_t process_number(void)
{
	long pid = arch_getpid();

	return pid > 0 ? (uint64_t)pid : 0;
}

/* A filter may refuse getpid from some moment on: an unknown number is not another number. */
bool process_is_another(uint64_t number)
{
	uint64_t now = process_number();

	return now != 0 && number != now && (number & PROCESS_UNKNOWN) == 0;
}

uint64_t process_note(void)
{
	return 0;
}

bool process_thread_has_left(const void *local, uint64_t note)
{
	(void)note;
	if (pages_mapped(local))
		return false;
	fence_acquire(); /* see process_thread_is_gone */
	return true;
}

bool process_is_alone(void)
{
	/* The first call shows that 0 is the kernel's answer, not a filter's.  Neither call changes anything. */
	return arch_unshare(UNSHARE_UNKNOWN) == -NOT_VALID && arch_unshare(UNSHARE_MEMORY) == 0;
}

uint64_t process_ids(void)
{
	long process = arch_getpid(), thread = arch_gettid();

	return process <= 0 || thread <= 0 ? 0 : (uint64_t)process << 32 | (uint64_t)thread;
}

uint64_t process_thread(void)
{
	return (uint64_t)arch_gettid();
}

/* The second call, for an existing thread, shows that ESRCH is the kernel's, not a filter's. */
bool process_thread_is_gone(uint64_t thread)
{
	if (arch_tkill((long)thread, 0) != -ESRCH || arch_tkill(arch_gettid(), 0) != 0)
		return false;
	/*
	 * Pairs with the end of the thread: the kernel completes the thread's last stores before the id is free, so
	 * the caller reads these stores and nothing older.
	 */
	fence_acquire();
	return true;
}
