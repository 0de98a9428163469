/* SPDX-License-Identifier: MIT */
/*
 * generation.h and process.h for a program's own system (ashlar_system.h): a single process, which does not fork.
 */
#include "ashlar_system.h"
#include "atomic.h"
#include "generation.h"
#include "process.h"

enum { THE_PROCESS = 1 };

uint64_t process_ids(void)
{
	uint64_t thread = ash_system_thread();

	return thread == 0 ? 0 : (uint64_t)THE_PROCESS << 32 | thread;
}

uint64_t process_note(void)
{
	return process_ids();
}

bool process_thread_has_left(const void *local, uint64_t note)
{
	(void)local;
	/* The caller is alive: it has the id of a thread that has ended, which the system may not report. */
	if (note == 0 || (note != process_ids() && !ash_system_thread_ended((uint32_t)note)))
		return false;
	fence_acquire(); /* as with the kernel, see process_thread_is_gone */
	return true;
}

bool process_is_alone(void)
{
	return false;
}

void generation_watch(void)
{
}

bool generation_is_watched(void)
{
	return true;
}

uint64_t generation_now(void)
{
	return 0;
}

uint64_t *process_mark(void)
{
	return NULL;
}

bool process_has_forked(const uint64_t *mark)
{
	(void)mark;
	return false;
}

bool process_mark_is_wiped(void)
{
	return true;
}

void process_set_mark(uint64_t *mark)
{
	(void)mark;
}

uint64_t process_number(void)
{
	return THE_PROCESS;
}

bool process_is_another(uint64_t number)
{
	return number != THE_PROCESS;
}

uint64_t process_thread(void)
{
	return ash_system_thread();
}

bool process_thread_is_gone(uint64_t thread)
{
	return ash_system_thread_ended((uint32_t)thread);
}
