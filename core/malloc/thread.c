/* SPDX-License-Identifier: MIT */
/*
 * The end of a thread.  Where the C library has thread-specific data, each
 * thread that gets a record leaves a word behind, whose destructor gives the
 * record up.  Not __cxa_thread_atexit_impl: glibc's takes a lock and
 * allocates; these two do neither, but for the 33rd key of a program.
 *
 * A destructor that runs after ours and allocates seats the thread anew, and
 * so registers it for the next round.  What is left after the last one, and
 * threads of programs that link without these functions, is found by the
 * thread's id (reap_all in core/thread/fork.c).
 */
#include <stdint.h>

#include "facade.h"

IF_PRESENT int pthread_key_create(unsigned *key, void (*destructor)(void *));
IF_PRESENT int pthread_key_delete(unsigned key);
IF_PRESENT int pthread_setspecific(unsigned key, const void *value);

/* The key plus one; 0: none yet. */
static uint64_t ready;

static void ended(void *value)
{
	(void)value;
	ash_thread_detach();
}

/* Threads that come at once each make one; the first stays. */
static uint64_t make_key(void)
{
	uint64_t none = 0, mine;
	unsigned key;

	if (pthread_key_create(&key, ended) != 0)
		return 0;
	mine = (uint64_t)key + 1;
	/* A number, no memory behind it: nothing to pair with. */
	if (__atomic_compare_exchange_n(&ready, &none, mine, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return mine;
	if (pthread_key_delete != NULL)
		(void)pthread_key_delete(key);
	return none;
}

/* Called by each thread once it has its record (ashlar.h). */
void ash_on_thread(void)
{
	uint64_t key = __atomic_load_n(&ready, __ATOMIC_RELAXED);

	if (pthread_key_create == NULL || pthread_setspecific == NULL)
		return;
	if (key == 0)
		key = make_key();
	if (key != 0)
		(void)pthread_setspecific((unsigned)(key - 1), &ready);
}
