/* SPDX-License-Identifier: MIT */
/*
 * Detaches a thread when it ends.  If the C library has thread-specific data (pthread_setspecific), each thread that
 * gets an owner record sets a value whose destructor calls ash_thread_detach.  __cxa_thread_atexit_impl is not used,
 * because glibc's takes a lock and allocates.  The functions used here do neither, unless the program has more than
 * 32 keys.
 *
 * If a later destructor allocates, the thread gets a record again and registers again, for the next round of
 * destructors.  Records left after the last round, or by threads of programs without these functions, are found by
 * the thread's id (reap_all in core/thread/seating_takeover.c).
 *
 * A static program with musl has these functions only if it calls them itself.  Otherwise its threads end by the last
 * function here.
 */
#include <stdint.h>

#include "facade.h"

IF_PRESENT int pthread_key_create(unsigned *key, void (*destructor)(void *));
IF_PRESENT int pthread_key_delete(unsigned key);
IF_PRESENT int pthread_setspecific(unsigned key, const void *value);

/* The key plus one, or 0 before it is created. */
static uint64_t ready;

static void ended(void *value)
{
	(void)value;
	ash_thread_detach();
}

/* Threads that run this at one time each create a key; the first key is used. */
static uint64_t make_key(void)
{
	uint64_t none = 0, mine;
	unsigned key;

	if (pthread_key_create(&key, ended) != 0)
		return 0;
	mine = (uint64_t)key + 1;
	/* Relaxed, because only the number itself is used and no memory is published with it. */
	if (__atomic_compare_exchange_n(&ready, &none, mine, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return mine;
	if (pthread_key_delete != NULL)
		(void)pthread_key_delete(key);
	return none;
}

/* Called by each thread when it gets an owner record (ashlar.h). */
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

/*
 * The function with which a thread of musl ends.  musl's own function, which runs the destructors, is linked if the
 * program has the functions above, and is then called.  Otherwise musl has a weak function that does nothing, and
 * this function takes precedence.  A shared object has no use for it.
 */
HIDDEN __attribute__((weak)) void __pthread_tsd_run_dtors(void)
{
	ash_thread_detach();
}
