/* SPDX-License-Identifier: MIT */
/*
 * What bounds the fast paths on this CPU.  Two kinds of lines, both in hundredths of a cycle,
 * where a cycle is the time of one addition that waits for the one before:
 *
 *	part NAME n	what the fast paths are made of, each in a chain that waits for itself
 *	row NAME n	operations of the allocator, varied so that one bound at a time goes away:
 *			pairs of 1, 2, 4 sizes in turn (another bitmap word each), batches of
 *			k blocks, random replacement among so many live blocks
 *
 * Built twice (host.h); tools/bench/limits makes the table.
 */
#include "host.h"
#include "random.h"

enum { TRIES = 15, OPERATIONS = 400000, LIVE_MOST = 100000, FLIPS = 1 << 18 };

static uint64_t state = 88172645463325252u;

/* ---- parts ---- */

#define EIGHT(x) x x x x x x x x

static void adds(unsigned n)
{
	uint64_t x = 1;

	for (; n > 0; n -= 8) {
		EIGHT(x += 3; __asm__ volatile("" : "+r"(x));)
	}
}

static void multiplications(unsigned n)
{
	uint64_t x = 1;

	for (; n > 0; n -= 8) {
		EIGHT(x *= 0x9e3779b97f4a7c15; __asm__ volatile("" : "+r"(x));)
	}
}

static void loads(unsigned n)
{
	static void *cell = &cell;
	void *p = &cell;

	for (; n > 0; n -= 8) {
		EIGHT(p = *(void *volatile *)p;)
	}
}

/* A bitmap word is written by one call and read by the next, which finds it by another way. */
static void forwards(unsigned n)
{
	static uint64_t word;
	volatile uint64_t *one = &word, *other = &word;

	__asm__ volatile("" : "+r"(one), "+r"(other));
	for (; n > 0; n -= 8) {
		EIGHT(*one = *other;)
	}
}

/* The same address by the same register: some CPUs pass the value on without memory. */
static void renamings(unsigned n)
{
	static uint64_t word;
	volatile uint64_t *one = &word;

	__asm__ volatile("" : "+r"(one));
	for (; n > 0; n -= 8) {
		EIGHT(*one = *one;)
	}
}

static void locked(unsigned n)
{
	static _Atomic uint64_t word;

	for (; n > 0; n -= 8) {
		EIGHT(__c11_atomic_fetch_or(&word, 2, __ATOMIC_RELAXED); __asm__ volatile("" : : : "memory");)
	}
}

static uint8_t flips[FLIPS];

static void branches(unsigned n)
{
	static unsigned at;

	for (; n > 0; n--, at++)
		if (flips[at % FLIPS] != 0)
			__asm__ volatile("" : : : "memory");
		else
			__asm__ volatile("" : "+r"(n) : : "memory");
}

static void flip(uint64_t mask)
{
	for (unsigned i = 0; i < FLIPS; i++)
		flips[i] = (uint8_t)(next_random(&state) >> 40 & mask);
}

/* ---- rows ---- */

static unsigned sizes = 1, batch = 1, live = 16;
static void *blocks[LIVE_MOST];

static void pairs(unsigned n)
{
	static const size_t size[4] = {64, 128, 256, 512};

	for (unsigned i = 0; n > 0; n--, i = i + 1 < sizes ? i + 1 : 0) {
		void *p = take(size[i]);

		keep(p);
		give(p);
	}
}

static void batches(unsigned n)
{
	for (; n >= batch; n -= batch) {
		for (unsigned i = 0; i < batch; i++)
			keep(blocks[i] = take(64));
		for (unsigned i = 0; i < batch; i++)
			give(blocks[i]);
	}
}

static void replacements(unsigned n)
{
	for (; n > 0; n--) {
		unsigned i = (unsigned)((next_random(&state) >> 32) * live >> 32);

		give(blocks[i]);
		keep(blocks[i] = take(64));
	}
}

/* ---- figures ---- */

static uint64_t least(void (*what)(unsigned), unsigned n)
{
	uint64_t best = UINT64_MAX;

	what(n);
	for (unsigned i = 0; i < TRIES; i++) {
		uint64_t start = rt_now(), time;

		what(n);
		time = rt_now() - start;
		best = time < best ? time : best;
	}
	return best;
}

/* Each figure has its own measure of a cycle beside it, as the clock's rate may change. */
static uint64_t centicycles(void (*what)(unsigned), unsigned n)
{
	uint64_t cycle = least(adds, OPERATIONS), time = least(what, n);

	return time * 100 * OPERATIONS / n / cycle;
}

static void say(const char *kind, const char *name, uint64_t figure)
{
	rt_print("%s %s %llu\n", kind, name, (unsigned long long)figure);
}

static void parts(void)
{
	uint64_t known, unknown;

	say("part", "load", centicycles(loads, OPERATIONS));
	say("part", "forward", centicycles(forwards, OPERATIONS));
	say("part", "renamed", centicycles(renamings, OPERATIONS));
	say("part", "multiply", centicycles(multiplications, OPERATIONS));
	say("part", "locked", centicycles(locked, OPERATIONS));
	flip(0);
	known = centicycles(branches, FLIPS * 4);
	flip(1);
	unknown = centicycles(branches, FLIPS * 4);
	say("part", "miss", unknown < known ? 0 : (unknown - known) * 2); /* half of them are missed */
}

static void numbered(const char *kind, unsigned k, uint64_t figure)
{
	rt_print("row %s-%u %llu\n", kind, k, (unsigned long long)figure);
}

int main(int argc, char **argv, char **environment)
{
	static const unsigned counts[] = {16, 250, 256, 4000, 4096, 10000, 100000};

	(void)environment;
	if (argc > 1 && argv[1][0] == 'p')
		parts();
	for (sizes = 1; sizes <= 4; sizes *= 2)
		numbered("pair", sizes, centicycles(pairs, OPERATIONS));
	for (batch = 1; batch <= 256; batch *= 4)
		numbered("batch", batch, centicycles(batches, OPERATIONS / batch * batch));
	for (unsigned c = 0, had = 0; c < sizeof counts / sizeof *counts; c++) {
		live = counts[c];
		for (; had < live; had++)
			blocks[had] = take(64);
		replacements(4 * live);
		numbered("random", live, centicycles(replacements, OPERATIONS));
	}
	return 0;
}
