/* SPDX-License-Identifier: MIT */
/*
 * For peers that have take and give, but no call that allocates and publishes in one step: a
 * kill between the two steps loses the block.
 */
#ifndef BENCH_SHARED_TWO_STEPS_H
#define BENCH_SHARED_TWO_STEPS_H

static void *take_zeroed(size_t n)
{
	void *p = take(n);

	memset(p, 0, n);
	return p;
}

static void take_into(void **slot, size_t n)
{
	__atomic_store_n(slot, take_zeroed(n), __ATOMIC_RELEASE);
}

static void take_instead(void **slot, size_t n)
{
	void *p = take(n);

	if (p == NULL)
		fail("full");
	*(volatile char *)p = 1;
	p = __atomic_exchange_n(slot, p, __ATOMIC_ACQ_REL);
	if (p != NULL)
		give(p);
}

static void give_from(void **slot)
{
	give(__atomic_exchange_n(slot, (void *)NULL, __ATOMIC_ACQ_REL));
}

#endif
