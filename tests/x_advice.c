/* SPDX-License-Identifier: MIT */
/* clang-format off */
/* LDFLAGS: -Wl,--wrap=arch_mmap,--wrap=arch_munmap,--wrap=arch_madvise,--wrap=arch_mremap,--wrap=arch_mincore */
/* clang-format on */
/*
 * Advice that lies, that is refused, and memory that is locked: whatever the
 * system does with "give these pages back", a zeroed block is zero and a live
 * one keeps its bytes.
 */
#include "ashlar.h"
#include "faults.h"
#include "heap.h"

#define MIB ((size_t)1 << 20)
enum { LIVE = 60 };

static struct live {
	unsigned char *p;
	size_t size;
	unsigned char value;
} live[LIVE];

/* Small, medium and large by turns. */
static size_t random_size(struct rt_random *r)
{
	static const unsigned shifts[] = {8, 12, 16, 20, 20, 22};

	return 1 + rt_below(r, (size_t)2 << shifts[rt_below(r, 6)]);
}

static void holds(const unsigned char *p, size_t size, unsigned char value)
{
	uint64_t word = value * 0x0101010101010101u;
	size_t i = 0;

	for (; i + 8 <= size; i += 8)
		if (*(const uint64_t *)(const void *)(p + i) != word)
			CHECK_EQ(i, SIZE_MAX);
	for (; i < size; i++)
		CHECK_EQ(p[i], value);
}

/* To the last usable byte: what is left dirty there must not shine through later. */
static void dirty(struct live *l, struct rt_random *r)
{
	l->value = (unsigned char)(1 + rt_below(r, 255));
	memset(l->p, l->value, ash_usable_size(l->p));
}

static void audit(void)
{
	struct ash_stats st;

	CHECK_EQ(ash_check(), 0);
	ash_stats(&st);
	CHECK_EQ(heap_default.reserved * CHUNK_SIZE, st.reserved);
	CHECK_EQ(heap_default.dirty * UNIT_SIZE, st.dirty);
}

static void drop(struct live *l)
{
	holds(l->p, l->size, l->value);
	ash_release(l->p);
	l->p = NULL;
}

static void act(struct live *l, struct rt_random *r)
{
	size_t size = random_size(r), least;

	if (l->p == NULL) {
		l->p = ash_zalloc(1, size);
		l->size = size;
		CHECK(l->p != NULL);
		holds(l->p, size, 0);
		dirty(l, r);
	} else if (rt_below(r, 4) == 0) {
		least = size < l->size ? size : l->size;
		l->p = ash_resize(l->p, size);
		CHECK(l->p != NULL);
		holds(l->p, least, l->value);
		l->size = size;
		dirty(l, r);
	} else {
		drop(l);
	}
}

/* Waves of blocks, all dirtied throughout, with a trim here and there. */
static void churn(void)
{
	size_t rounds = rt_under_qemu() ? 1000 : 5000;
	struct rt_random random;

	rt_seed(&random, rt_test_seed());
	for (size_t n = 0; n < rounds; n++) {
		act(&live[rt_below(&random, LIVE)], &random);
		switch (rt_below(&random, 200)) {
		case 0:
			ash_trim(0);
			break;
		case 1:
			ash_trim(rt_below(&random, 20 * MIB));
			break;
		case 2:
			ash_thread_detach();
			break;
		case 3: /* all at once, so that chunks and regions come free */
			for (unsigned i = 0; i < LIVE; i++)
				if (live[i].p != NULL)
					drop(&live[i]);
			break;
		default:
			break;
		}
		if (n % 50 == 0)
			audit();
	}
	for (unsigned i = 0; i < LIVE; i++)
		if (live[i].p != NULL)
			drop(&live[i]);
	ash_trim(0);
	audit();
}

TEST(advice_honest, 60)
{
	churn();
}

TEST(advice_lies, 60)
{
	faults.advice_lies = true;
	churn();
}

/* It lies, and addresses are never given back either: all memory is reused dirty. */
TEST(advice_lies_no_munmap, 60)
{
	faults.advice_lies = true;
	faults.munmap_error = -FAULT_ENOMEM;
	churn();
}

TEST(advice_refused, 60)
{
	faults.advice_error = -FAULT_EINVAL;
	churn();
}

TEST(advice_refused_no_munmap, 60)
{
	faults.advice_error = -FAULT_EINVAL;
	faults.munmap_error = -FAULT_ENOMEM;
	churn();
}

/* Trusted at first, refused afterwards: as when a program locks its memory later. */
TEST(advice_refused_later, 60)
{
	ash_release(ash_alloc(3 * MIB));
	CHECK(ash_trim(1) > 0 || rt_under_qemu());
	faults.advice_error = -FAULT_EINVAL;
	faults.munmap_error = -FAULT_ENOMEM;
	churn();
}

/* Pages that are not there may be in swap: not there is not zero. */
TEST(advice_swapped, 60)
{
	faults.swapped = true;
	churn();
}

TEST(advice_refused_swapped, 60)
{
	ash_release(ash_alloc(3 * MIB));
	(void)ash_trim(1);
	faults.swapped = true;
	faults.advice_error = -FAULT_EINVAL;
	churn();
}

TEST(advice_no_mremap, 60)
{
	faults.mremap_error = -FAULT_EINVAL;
	churn();
}

/* What is said to be given back was: nothing, when the advice does nothing. */
TEST(advice_trim_tells_the_truth, 60)
{
	struct ash_stats st;
	unsigned char *p, *other = ash_alloc(MIB + 1);
	size_t bytes;

	CHECK(other != NULL);
	for (int lies = 0; lies < 2; lies++) {
		faults.advice_lies = lies == 0;
		if (lies == 1)
			faults.advice_error = -FAULT_EINVAL;
		p = ash_alloc(3 * MIB);
		memset(p, 1, 3 * MIB);
		ash_release(p);
		bytes = ash_trim(1);
		CHECK_EQ(bytes, 0);
		ash_stats(&st);
		CHECK(st.dirty >= 3 * MIB);
	}
}

/* Locked for real; the kernel refuses to purge it. */
static void lock_and_reuse(size_t size, size_t from, size_t bytes)
{
	unsigned char *p = ash_alloc(size), *other = ash_alloc(size);

	CHECK(p != NULL && other != NULL);
	if (arch_mlock((void *)(((uintptr_t)p + from) & ~(uintptr_t)4095), bytes) != 0)
		rt_skip("mlock is refused here");
	for (int i = 0; i < 3; i++) {
		memset(p, 0xa5, ash_usable_size(p));
		ash_release(p);
		ash_trim(1);
		audit();
		p = ash_zalloc(1, size);
		holds(p, size, 0);
	}
	/* Pages of it that move to elsewhere. */
	memset(p, 0x5a, size);
	p = ash_resize(p, size * 3);
	CHECK(p != NULL);
	holds(p, size, 0x5a);
	ash_release(p);
	p = ash_zalloc(3, size);
	holds(p, 3 * size, 0);
	ash_release(p);
	ash_release(other);
	ash_trim(0);
	audit();
}

TEST(advice_locked_span, 60)
{
	lock_and_reuse(5 * MIB, 0, 5 * MIB);
}

TEST(advice_locked_part_of_span, 60)
{
	lock_and_reuse(5 * MIB, 3 * MIB + 70000, 4096);
}

TEST(advice_locked_slabs, 60)
{
	lock_and_reuse(300000, 0, 300000);
	lock_and_reuse(5000, 0, 1);
}

/* A heap that may not give back must not ask at each release again. */
TEST(advice_refused_is_not_asked_forever, 60)
{
	enum { BLOCKS = 400 };
	static unsigned char *p[BLOCKS];
	size_t calls;

	faults.advice_error = -FAULT_EINVAL;
	for (int i = 0; i < BLOCKS; i++) {
		p[i] = ash_alloc(MIB / 2);
		CHECK(p[i] != NULL);
	}
	faults.armed = true;
	for (int i = 0; i < BLOCKS; i++)
		ash_release(p[i]);
	calls = faults.calls;
	rt_print("     %zu system calls for %d releases\n", calls, (int)BLOCKS);
	CHECK(calls < (size_t)20 * BLOCKS);
}

/*
 * While a chunk's free units are held for purging, another thread finds none
 * and drops the hint that there are some.  They must be found again.
 */
static void allocate_meanwhile(__attribute__((unused)) void *argument)
{
	ash_release(ash_alloc(900000));
}

static unsigned char *stays;

static bool in_chunk_of_stays(const void *p)
{
	return ((uintptr_t)p ^ (uintptr_t)stays) < CHUNK_SIZE;
}

static void another_thread(void *address)
{
	struct rt_thread *thread;

	if (!in_chunk_of_stays(address))
		return;
	faults.in_advice = NULL;
	thread = rt_thread_start(allocate_meanwhile, NULL);
	CHECK(thread != NULL);
	rt_thread_join(thread);
}

TEST(advice_purge_loses_no_units, 60)
{
	unsigned char *p[2], *q;
	struct ash_stats before, after;

	/* One chunk, full; then all of it free and dirty but for one block. */
	stays = ash_alloc(30000);
	p[0] = ash_alloc(900000);
	p[1] = ash_alloc(900000);
	CHECK(stays != NULL && p[0] != NULL && p[1] != NULL);
	while ((q = ash_alloc(30000)) != NULL && in_chunk_of_stays(q))
		;
	ash_release(q);
	memset(p[0], 1, 900000);
	memset(p[1], 1, 900000);
	ash_release(p[0]);
	ash_release(p[1]);
	ash_trim(SIZE_MAX); /* slabs go back, nothing is purged */
	faults.in_advice = another_thread;
	ash_trim(1);
	CHECK(faults.in_advice == NULL);
	audit();
	ash_stats(&before);
	q = ash_alloc(900000);
	CHECK(q != NULL);
	CHECK(in_chunk_of_stays(q));
	ash_stats(&after);
	CHECK_EQ(before.reserved, after.reserved);
}

int main(int argc, char **argv, __attribute__((unused)) char **envp)
{
	return rt_run_tests(argc, argv);
}
