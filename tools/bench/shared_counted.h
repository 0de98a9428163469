/* SPDX-License-Identifier: MIT */
/*
 * shared.c: allocations and releases whose instructions callgrind counts (tools/bench/kills): all in the functions of
 * the heap, or in counted_take and counted_give, and nothing else.
 *
 *	pair    a block of 64 B
 *	sizes   10 000 live blocks of 8 to 1023 B, replaced at random
 *	handed  256 blocks of 64 B allocated by a process, then released by another one
 *	large   as sizes, 8 B to 16 KiB
 */
#ifndef SHARED_COUNTED_H
#define SHARED_COUNTED_H

enum { COUNTED = 100000, HANDED = 256 };

static uint64_t counted_done;

static __attribute__((noinline)) void *counted_take(size_t n)
{
	void *p = take(n);

	keep(p); /* a jump to the function would end the count */
	return p;
}

static __attribute__((noinline)) void counted_give(void *p)
{
	give(p);
	keep(p);
}

static void counted_sizes(uint64_t most)
{
	static void *live[LIVE];
	uint64_t state = seed_of(common->worker), n;

	for (n = 0; n < LIVE; n++)
		live[n] = take(8 + (next_random(&state) >> 20) % (most - 7));
	for (n = 0; n < COUNTED / scale; n++) {
		uint64_t random = next_random(&state);
		void **p = &live[(random & 0xffffffff) * LIVE >> 32];

		counted_give(*p);
		*p = counted_take(8 + (random >> 32) % (most - 7));
	}
	counted_done = n;
}

static void wait_for_turn(uint64_t turn)
{
	while (__atomic_load_n(&common->turn, __ATOMIC_ACQUIRE) != turn)
		yield();
}

static void counted_handed(void)
{
	uint64_t rounds = COUNTED / HANDED / scale, n;
	int i;
	bool other = start_process();

	for (n = 0; n < rounds; n++) {
		wait_for_turn(2 * n + other);
		for (i = 0; i < HANDED; i++) {
			if (other)
				counted_give(common->inbox[i]);
			else
				common->inbox[i] = counted_take(64);
		}
		__atomic_store_n(&common->turn, 2 * n + other + 1, __ATOMIC_RELEASE);
	}
	if (other)
		leave(0);
	(void)process_ended_well();
	counted_done = rounds * HANDED;
}

static bool counted(const char *kind)
{
	unsigned n;

	if (same(kind, "sizes")) {
		counted_sizes(1023);
	} else if (same(kind, "large")) {
		counted_sizes(16 << 10);
	} else if (same(kind, "handed")) {
		counted_handed();
	} else {
		give(take(64));
		for (n = 0; n < COUNTED / scale; n++)
			counted_give(counted_take(64));
		counted_done = n;
	}
	print("counted %llu operations\n", (unsigned long long)counted_done);
	return true;
}

#endif
